import type { AlertUpdate } from '../../alerts/alert-store.ts'
import type { createUnseenBlocks, EarlierRows, UnseenBlocks } from '../../alerts/rebuild.ts'
import type { DocumentReader } from '../../engine/port.ts'
import type { Hit } from '../../engine/query/hits.ts'
import type { Log } from '../../lib/log.ts'
import type { FindList } from '../../rules/lower.ts'
import type { StoredRule } from '../../rules/rule.ts'
import { searchOf } from '../../rules/search.ts'
import { isAcross } from '../../rules/windows/across.ts'
import { isSequence, windowSpecOf } from '../../rules/windows/steps.ts'
import { createStoredGathering, hiddenFields, storedMatchOf } from '../../rules/windows/stored.ts'

export interface WindowRebuildOptions {
  rules: {
    /** Enabled rules with windows that know where they begin. */
    ofWindows(): readonly StoredRule[]
    rule(id: number): StoredRule | undefined
    listsOf(account: number): FindList
  }
  open(): DocumentReader
  /** Made for each look at all rules. */
  unseen(): ReturnType<typeof createUnseenBlocks>
  tell(update: AlertUpdate): Promise<void>
  log: Log
  signal: AbortSignal
}

const BEGINNING_SPAN = 64
const SPAN_MS = 40
const MOST_HITS = 1_000
/** What one write takes. */
const MOST_MATCHES = 20_000
const WRITE_MS = 1_000
const AGAIN_MS = 60_000

/**
 * Fills the windows of rules from stored blocks, from the newest one downwards: each part lies right
 * below what the rule knows, so none counts twice, and after a kill it goes on where it was.
 */
export const createWindowRebuild = (options: WindowRebuildOptions) => {
  const { rules, signal, log } = options
  let unseen = options.unseen()
  const unfit = new WeakSet<StoredRule>()
  const spans = new Map<number, number>()
  const waits = new Map<number, { revision: number; until: number }>()

  const openOf = (rule: StoredRule): UnseenBlocks | undefined => {
    if (unfit.has(rule)) return undefined
    const { id, matching, revision, input } = rule
    const wait = waits.get(id)
    if (wait?.revision === revision && performance.now() < wait.until) return undefined
    const { targetType, when } = input.config
    if (targetType === 'State' || isSequence(when) || isAcross(input.config) || hiddenFields(input.config).length > 0) {
      unfit.add(rule)
      return undefined
    }
    return unseen(id, matching, windowSpecOf(input.config))
  }

  const fill = async (rule: StoredRule, { from, to, hash }: UnseenBlocks, documents: DocumentReader) => {
    const rows: EarlierRows['rows'] = []
    const began = performance.now()
    let matches = 0
    let first = to + 1
    while (first > from && matches < MOST_MATCHES && performance.now() - began < WRITE_MS) {
      signal.throwIfAborted()
      const span = spans.get(rule.id) ?? BEGINNING_SPAN
      const started = performance.now()
      const part = { from: Math.max(from, first - span), to: first - 1 }
      const hits = await hitsIn(rule, rules.listsOf(rule.account), part, documents)
      const took = Math.max(1, performance.now() - started)
      const next = hits ? span * Math.min(4, SPAN_MS / took) : Math.min(span, part.to - part.from + 1) / 2
      spans.set(rule.id, Math.max(1, Math.min(1_000_000, Math.round(next))))
      if (hits) {
        rows.push(...earlierRowsOf(rule, hits))
        matches += hits.length
        first = part.from
      }
      await new Promise(resolve => setImmediate(resolve))
    }
    if (rules.rule(rule.id)?.revision !== rule.revision) return
    const { id, matching: revision } = rule
    const isLast = first <= from
    await options.tell({ hits: [], earlier: [{ rule: id, revision, from: first, to, hash, rows, isLast }] })
  }

  return async () => {
    unseen = options.unseen()
    const open = rules.ofWindows().filter(openOf)
    for (const known of [spans, waits]) for (const id of known.keys()) if (!rules.rule(id)) known.delete(id)
    if (open.length === 0) return
    const documents = options.open()
    try {
      for (const rule of open) {
        signal.throwIfAborted()
        try {
          // The others may have taken long.
          const gap = rules.rule(rule.id)?.revision === rule.revision ? openOf(rule) : undefined
          if (!gap) continue
          await fill(rule, gap, documents)
          const left = openOf(rule)
          if (!left || left.to < gap.to) continue
        } catch (error) {
          if (signal.aborted) throw error
          log.error('Failed to fill the windows of a rule from stored blocks, will retry later', {
            rule: rule.id,
            error,
          })
        }
        // Not taken, as there is no room.
        waits.set(rule.id, { revision: rule.revision, until: performance.now() + AGAIN_MS })
      }
    } finally {
      await documents.close()
    }
  }
}

/** Undefined if there are too many in several blocks. */
const hitsIn = async (
  { input: { config } }: StoredRule,
  lists: FindList,
  { from, to }: { from: number; to: number },
  documents: DocumentReader,
): Promise<Hit[] | undefined> => {
  const size = from === to ? -1 : MOST_HITS + 1
  const request = { ...searchOf(config, { from, to, order: 'asc', size }, lists), trackTotal: false }
  const options = { deadline: Number.POSITIVE_INFINITY }
  const hits: Hit[] = []
  if (size < 0) for await (const page of (await documents.pages(request, options)).pages) hits.push(...page)
  else hits.push(...(await documents.search(request, options)).hits)
  return size > 0 && hits.length === size ? undefined : hits
}

const earlierRowsOf = ({ input: { config } }: StoredRule, hits: readonly Hit[]): EarlierRows['rows'] => {
  const gathering = createStoredGathering(config)
  const done = hits.map(hit => gathering.add(storedMatchOf(hit)))
  return [...done, gathering.finish()]
    .filter(block => block !== undefined)
    .map(({ number, entries }) => ({ number, entries }))
}
