import type { AlertUpdate } from '../../alerts/alert-store.ts'
import type { createUnseenBlocks, EarlierRows, UnseenBlocks } from '../../alerts/rebuild.ts'
import type { DocumentReader } from '../../engine/port.ts'
import type { Hit } from '../../engine/query/hits.ts'
import type { Log } from '../../lib/log.ts'
import type { StoredRule } from '../../rules/rule.ts'
import { isAcross } from '../../rules/windows/across.ts'
import { isSequence, lookedBack } from '../../rules/windows/steps.ts'
import { createStoredGathering, hiddenFields, storedMatchOf } from '../../rules/windows/stored.ts'
import { createStepRebuild, type StepRebuildOptions } from './step-rebuild.ts'
import { createSpans, hitsIn } from './stored-hits.ts'

export interface WindowRebuildOptions extends Omit<StepRebuildOptions, 'spans'> {
  rules: StepRebuildOptions['rules'] & {
    /** Enabled rules with windows or steps that know where they begin. */
    ofWindows(): readonly StoredRule[]
  }
  open(): DocumentReader
  /** Made for each look at all rules. */
  unseen(): ReturnType<typeof createUnseenBlocks>
  tell(update: AlertUpdate): Promise<void>
  log: Log
}

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
  let unseen: ReturnType<typeof createUnseenBlocks>
  const unfit = new WeakSet<StoredRule>()
  const spans = createSpans()
  const steps = createStepRebuild({ ...options, spans })
  const waits = new Map<number, { revision: number; until: number }>()
  let waitsUntil = 0

  const openOf = (rule: StoredRule): UnseenBlocks | undefined => {
    if (unfit.has(rule)) return undefined
    const { id, matching, revision, input } = rule
    const wait = waits.get(id)
    if (wait?.revision === revision && performance.now() < wait.until) return undefined
    const { config } = input
    if (config.targetType === 'State' || isAcross(config) || hiddenFields(config).length > 0) {
      unfit.add(rule)
      return undefined
    }
    return unseen(id, matching, lookedBack(config))
  }

  const fill = async (rule: StoredRule, { from, to, hash }: UnseenBlocks, documents: DocumentReader) => {
    const rows: EarlierRows['rows'] = []
    const began = performance.now()
    let matches = 0
    let first = to + 1
    while (first > from && matches < MOST_MATCHES && performance.now() - began < WRITE_MS) {
      signal.throwIfAborted()
      const part = { from: Math.max(from, first - spans.of(rule.id)), to: first - 1 }
      const lists = rules.listsOf(rule.account)
      const hits = await spans.measured(rule.id, part, () => hitsIn(rule.input.config, lists, part, documents))
      if (!hits) continue
      rows.push(...earlierRowsOf(rule, hits))
      matches += hits.length
      first = part.from
    }
    if (rules.rule(rule.id)?.revision !== rule.revision) return
    const { id, matching: revision } = rule
    const isLast = first <= from
    await options.tell({ hits: [], earlier: [{ rule: id, revision, from: first, to, hash, rows, isLast }] })
  }

  /** Returns false if nothing was taken, as there is no room. */
  const fillSome = async (rule: StoredRule, gap: UnseenBlocks, documents: DocumentReader): Promise<boolean> => {
    if (isSequence(rule.input.config.when)) return steps.fill(rule, gap, documents)
    await fill(rule, gap, documents)
    const left = openOf(rule)
    return !left || left.to < gap.to
  }

  const fillAll = async (open: readonly StoredRule[], documents: DocumentReader) => {
    for (const rule of open) {
      signal.throwIfAborted()
      try {
        // The others may have taken long.
        const gap = rules.rule(rule.id)?.revision === rule.revision ? openOf(rule) : undefined
        if (!gap || (await fillSome(rule, gap, documents))) continue
      } catch (error) {
        if (signal.aborted) throw error
        log.error('Failed to fill the windows of a rule from stored blocks, will retry later', {
          rule: rule.id,
          error,
        })
      }
      waits.set(rule.id, { revision: rule.revision, until: performance.now() + AGAIN_MS })
    }
  }

  return async () => {
    if (performance.now() < waitsUntil) return
    try {
      unseen = options.unseen()
      const open = rules.ofWindows().filter(openOf)
      steps.keep(open)
      for (const known of [spans, waits]) for (const id of known.keys()) if (!rules.rule(id)) known.delete(id)
      if (open.length === 0) return
      const documents = options.open()
      try {
        await fillAll(open, documents)
      } finally {
        await documents.close()
      }
    } catch (error) {
      if (signal.aborted) throw error
      log.error('Failed to look for what windows of rules lack, will retry later', { error })
      waitsUntil = performance.now() + AGAIN_MS
    }
  }
}

const earlierRowsOf = ({ input: { config } }: StoredRule, hits: readonly Hit[]): EarlierRows['rows'] => {
  const gathering = createStoredGathering(config)
  const done = hits.map(hit => gathering.add(storedMatchOf(hit)))
  return [...done, gathering.finish()]
    .filter(block => block !== undefined)
    .map(({ number, entries }) => ({ number, entries }))
}
