import { promises, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemFault } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { PRIVATE_FILE } from '../../lib/private-files.ts'
import { countIn, gapsIn, type Range } from '../../lib/ranges.ts'
import { every } from '../../lib/scheduling/interval.ts'
import { countDropped } from '../../sqlite/log-file.ts'
import { sizeOf } from '../../sqlite/pages.ts'
import { createReadinessLog } from './readiness.ts'
import type { Status } from './status.ts'

const FILE = 'status.json'
const PUBLISH_MS = 1000
/** A file that is older was left behind by a server that is gone. */
const FRESH_MS = 5000

/**
 * Writes a running server's status beside its data again and again, for `chainsieve status`, and logs what has it not be ready; the returned
 * function ends that.
 */
export const publishStatus = (data: string, status: () => Promise<Status>, log: Log) => {
  const path = join(data, FILE)
  const tellReasons = createReadinessLog(log)
  const publish = async () => {
    const now = await status()
    tellReasons(now.reasons ?? [])
    const text = JSON.stringify(now)
    try {
      await promises.writeFile(`${path}.new`, text, { mode: PRIVATE_FILE })
      await promises.rename(`${path}.new`, path)
    } catch (error) {
      if (systemFault(error)?.code !== 'disk_full') throw error
      // In the room of the last one.
      await promises.writeFile(path, text, { flag: 'r+' })
      await promises.truncate(path, Buffer.byteLength(text))
    }
  }
  const end = every(PUBLISH_MS, publish, { log, doing: 'write the status for "chainsieve status"', atOnce: true })
  return async () => {
    end()
    await promises.rm(path, { force: true })
  }
}

/** The last status that a running server published; undefined if none runs on this data folder. */
export const readStatus = (data: string): Status | undefined => {
  try {
    return Date.now() - statSync(join(data, FILE)).mtimeMs > FRESH_MS ? undefined : lastPublished(data)
  } catch {
    return undefined
  }
}

/** What the last server published before it was killed, or what one that runs does; undefined where it ended in good order. */
export const lastPublished = (data: string): Status | undefined => {
  try {
    return JSON.parse(readFileSync(join(data, FILE), 'utf8')) as Status
  } catch {
    return undefined
  }
}

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
