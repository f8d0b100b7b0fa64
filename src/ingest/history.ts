import type { Hit } from '../alerts/alert.ts'
import type { News } from '../alerts/book.ts'
import type { StoredRule } from '../rules/rule.ts'
import { searchOf } from '../rules/search.ts'
import { createSearcher } from '../search/execute.ts'
import { openReader } from '../store/reader.ts'
import type { Ruling } from './ruling.ts'

export interface HistoryOptions {
  store: string
  native: string | undefined
  ruling: Ruling
  /** Resolves when what was found, and how far it was looked for, is committed. */
  tell(news: News): Promise<void>
  /** Resolves when every block that was matched before now is committed. */
  settled(): Promise<void>
  signal: AbortSignal
}

/** Blocks that are looked at in one go, to begin with; then as many as keep the thread for about so long. */
const WINDOW = 500
const WINDOW_MS = 40
const MOST_WINDOW = 1_000_000

/** Goes through the stored blocks for the rules that asked for it, a window of blocks at a time. */
export const scanHistory = async ({ store, native, ruling, tell, settled, signal }: HistoryOptions) => {
  const open = [...ruling.scans.values()].filter(({ next, last }) => next <= last)
  if (open.length === 0) return
  // Blocks that were matched before a rule came up may be on their way still.
  await settled()
  const reader = openReader(store, native)
  try {
    const searcher = createSearcher(reader)
    for (const { rule: id } of open) {
      let window = WINDOW
      for (;;) {
        signal.throwIfAborted()
        // The rule may have been changed or removed between two windows.
        const [scan, rule] = [ruling.scans.get(id), ruling.rule(id)]
        if (!scan || !rule || scan.next > scan.last || !rule.enabled) break
        const to = Math.min(scan.last, scan.next + window - 1)
        const started = performance.now()
        const hits = find(rule, scan.next, to, searcher)
        const took = performance.now() - started
        scan.next = to + 1
        await tell({ hits, scans: [{ ...scan }] })
        window = Math.max(1, Math.min(MOST_WINDOW, Math.round(window * Math.min(4, WINDOW_MS / Math.max(took, 1)))))
        await new Promise(resolve => setImmediate(resolve))
      }
    }
  } finally {
    reader.close()
  }
}

const find = (rule: StoredRule, from: number, to: number, searcher: ReturnType<typeof createSearcher>): Hit[] => {
  const { config, maxConfirmationCount } = rule.input
  const request = searchOf(config, { from, to, order: 'asc', size: -1 })
  if (!request) return []
  const receivedAt = Date.now()
  const { pages } = searcher.pages(request, { deadline: Number.POSITIVE_INFINITY })
  return [...pages].flat().map(({ kind, document: { _id, _routing = _id, _source } }) => ({
    rule: rule.id,
    revision: rule.matching,
    targetType: config.targetType,
    confirmations: maxConfirmationCount,
    notifyPending: false,
    block: blockNumberOf(_source),
    blockHash: _routing,
    entity: { _id, _type: kind },
    source: JSON.stringify(_source),
    receivedAt,
  }))
}

const blockNumberOf = (source: Record<string, unknown>): number =>
  ((source.blockNumber ?? source.number) as { num: number }).num
