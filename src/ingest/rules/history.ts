import type { RuleMatch } from '../../alerts/alert.ts'
import type { AlertUpdate, Scan } from '../../alerts/alert-store.ts'
import type { DocumentReader } from '../../engine/port.ts'
import type { Hit } from '../../engine/query/hits.ts'
import type { Log } from '../../lib/log.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { FindList } from '../../rules/lower.ts'
import { quietOf } from '../../rules/notify/quiet.ts'
import { isWide, type StoredRule } from '../../rules/rule.ts'
import { documentBlock, searchOf } from '../../rules/search.ts'
import type { RuleWatcher } from './rule-watcher.ts'

interface HistoryOptions {
  network: string
  open(): DocumentReader
  ruleWatcher: RuleWatcher
  refresh(): void
  tell(update: AlertUpdate): Promise<void>
  settled(): Promise<void>
  log: Log
  signal: AbortSignal
}

const WINDOW = 16
const WINDOW_MS = 40
const MAX_WINDOW = 1_000_000
/** Alerts of one go; those of one block stay together, however many they are. */
const MAX_HITS = 1_000
const RETRY_HISTORY_MS = 60_000

/** Searches history for rules, window by window, in turn; a rule that fails holds up no other. */
export const createHistory = (options: HistoryOptions) => {
  const failed = new Map<number, ScanFailure>()
  return () => scanHistory(options, failed)
}

interface ScanFailure {
  revision: number
  until: number
}

const scanHistory = async (
  { network, open: openDocuments, ruleWatcher, refresh, tell, settled, log, signal }: HistoryOptions,
  failed: Map<number, ScanFailure>,
) => {
  const windows = new Map<number, number>()
  const openOf = (id: number): { scan: Scan; rule: StoredRule } | undefined => {
    const [scan, rule] = [ruleWatcher.scans.get(id), ruleWatcher.rule(id)]
    if (!scan || !rule?.enabled || scan.next > scan.last) return undefined
    const failure = failed.get(id)
    if (failure?.revision === rule.revision && performance.now() < failure.until) return undefined
    try {
      // A rule that got windows while its history was searched makes no alerts of single matches.
      return rule.input.config.when ? undefined : { scan, rule }
    } catch (error) {
      fail({ scan, rule }, error)
      return undefined
    }
  }
  const fail = ({ scan, rule }: { scan: Scan; rule: StoredRule }, error: unknown) => {
    failed.set(rule.id, { revision: rule.revision, until: performance.now() + RETRY_HISTORY_MS })
    log.error('Failed to search history for a rule, will retry later', { rule: rule.id, block: scan.next, error })
  }
  let open = [...ruleWatcher.scans.keys()].filter(openOf)
  if (open.length === 0) return
  // Blocks that were matched before a rule came up may be on their way still.
  await settled()
  const documents = openDocuments()
  try {
    for (; open.length > 0; open = open.filter(openOf))
      for (const id of open) {
        signal.throwIfAborted()
        refresh()
        const now = openOf(id)
        if (!now) continue
        const { scan, rule } = now
        const window = windows.get(id) ?? WINDOW
        const started = performance.now()
        let found: WindowMatches
        try {
          const to = Math.min(scan.last, scan.next + window - 1)
          found = await findInWindow({ rule, lists: ruleWatcher.listsOf(rule.account) }, scan.next, to, documents)
        } catch (error) {
          fail(now, error)
          continue
        }
        failed.delete(id)
        const still = openOf(id)
        if (still?.rule.revision !== rule.revision || still.scan !== scan) continue
        const took = performance.now() - started
        scan.next = found.to + 1
        const hits = isWide(rule.network) ? found.hits.map(hit => ({ ...hit, network })) : found.hits
        await tell({ hits, scans: [{ ...scan }] })
        windows.set(
          id,
          Math.max(1, Math.min(MAX_WINDOW, Math.round(window * Math.min(4, WINDOW_MS / Math.max(took, 1))))),
        )
        await new Promise(resolve => setImmediate(resolve))
      }
  } finally {
    await documents.close()
  }
}

interface WindowMatches {
  hits: RuleMatch[]
  to: number
}

interface SearchedRule {
  rule: StoredRule
  lists: FindList
}

const findInWindow = async (
  rule: SearchedRule,
  from: number,
  to: number,
  documents: DocumentReader,
): Promise<WindowMatches> => {
  const hits = await searchWindow(rule, { from, to, size: MAX_HITS + 1 }, documents)
  if (hits.length <= MAX_HITS) return { hits, to }
  // The last block may have more of them than were asked for.
  const last = hits.at(-1)!.block
  if (last > from) return { hits: hits.filter(({ block }) => block < last), to: last - 1 }
  return { hits: await searchWindow(rule, { from, to: from, size: -1 }, documents), to: from }
}

const searchWindow = async (
  { rule, lists }: SearchedRule,
  range: { from: number; to: number; size: number },
  documents: DocumentReader,
): Promise<RuleMatch[]> => {
  const { config, maxConfirmationCount } = rule.input
  const request = searchOf(config, { ...range, order: 'asc' }, lists)
  const receivedAt = Date.now()
  const found = await historyHits({ ...request, trackTotal: false }, range.size < 0, documents)
  return found.map(({ kind, document: { _id, _source } }): RuleMatch => {
    const { number, hash } = documentBlock({ _source })
    const source = JSON.stringify(_source)
    const quiet = quietOf(config, source)
    return {
      rule: rule.id,
      revision: rule.matching,
      targetType: config.targetType,
      confirmations: maxConfirmationCount,
      notifyPending: false,
      block: number,
      blockHash: hash,
      entity: { _id, _type: kind },
      source,
      receivedAt,
      ...(quiet && { quiet }),
    }
  })
}

const historyHits = async (request: SearchRequest, all: boolean, documents: DocumentReader): Promise<Hit[]> => {
  const options = { deadline: Number.POSITIVE_INFINITY }
  if (!all) return (await documents.search(request, options)).hits
  const hits: Hit[] = []
  for await (const page of (await documents.pages(request, options)).pages) hits.push(...page)
  return hits
}
