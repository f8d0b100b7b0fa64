import { gapsIn, type Range } from '../../lib/ranges.ts'
import { countDropped } from '../../sqlite/log-file.ts'
import { sizeOf } from '../../sqlite/pages.ts'
import { lastPublished } from './published.ts'

/** Blocks that were stored when the program was killed, and that the store's log does not hold any more: they are indexed again. */
export interface LogLoss {
  /** Transactions behind the damage; 0 where the log is gone. */
  transactions: number
  /** Null where nothing tells how many blocks these were. */
  blocks: number | null
}

/** Looks at a store before it is opened, since opening it cuts the log; the returned function compares that with what it holds then. */
export const watchLog = (
  data: string,
  network: string,
  store: string,
): ((held: readonly Range[]) => LogLoss | undefined) => {
  const transactions = countDropped(store)
  // A store that is new, or was closed in good order, has no log.
  if (transactions === 0 && (sizeOf(store) === 0 || sizeOf(`${store}-wal`) > 0)) return () => undefined
  const before = lastPublished(data)?.networks.find(one => one.network === network)?.ranges
  return held => {
    const gaps = before?.flatMap(({ from, to }) => gapsIn(held, from, to))
    if (transactions > 0) return { transactions, blocks: gaps ? countIn(gaps) : null }
    // Older blocks may have been removed on purpose since.
    const blocks = countIn((gaps ?? []).filter(({ from }) => from > (held.at(-1)?.to ?? -1)))
    return blocks > 0 ? { transactions, blocks } : undefined
  }
}

const countIn = (ranges: readonly Range[]): number => ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)
