import type { AlertUpdate } from '../../alerts/alert-store.ts'
import type { UnseenBlocks } from '../../alerts/rebuild.ts'
import { createStepRun, type StepKnowledge } from '../../alerts/step-rebuild.ts'
import type { DocumentReader } from '../../engine/port.ts'
import type { Range } from '../../lib/ranges.ts'
import type { Limits } from '../../limits/index.ts'
import type { FindList } from '../../rules/lower.ts'
import type { StoredRule } from '../../rules/rule.ts'
import { documentBlock } from '../../rules/search.ts'
import { type SequenceSpec, sequenceShape } from '../../rules/windows/steps.ts'
import { secondsOf, storedMatchOf } from '../../rules/windows/stored.ts'
import { searchOfTransactions, transactionPlaces, transactionsLacking } from '../../rules/windows/stored-order.ts'
import { type BlockOfSteps, type PartMatch, stepsInBlock, storedParts } from '../../rules/windows/stored-steps.ts'
import { type createSpans, hitsIn } from './stored-hits.ts'

export interface StepRebuildOptions {
  rules: {
    rule(id: number): StoredRule | undefined
    listsOf(account: number): FindList
    limits: Limits
  }
  spans: ReturnType<typeof createSpans>
  known: StepKnowledge
  timeOf(number: number): number | undefined
  tell(update: AlertUpdate): Promise<void>
  signal: AbortSignal
}

/** How far the stored blocks are followed for a rule. */
interface RunOfRule {
  run: ReturnType<typeof createStepRun>
  next: number
  /** Of the block before `next`. */
  hash: string | undefined
}

const FILL_STEPS_MS = 1_000

/**
 * Makes the sequences of rules as if they had looked at all stored blocks of one window. What a step
 * is depends on those before it, also in blocks that the rule has looked at: so they are followed
 * from the first block to the last one that the rule knows, and only then taken over.
 */
export const createStepRebuild = (options: StepRebuildOptions) => {
  const { rules, spans, known, timeOf, tell, signal } = options
  const runs = new Map<number, RunOfRule>()

  const begin = ({ id, matching, input }: StoredRule, { from }: UnseenBlocks): RunOfRule => {
    const { ruleKeys: keys, ruleRows: rows } = rules.limits
    const shape = sequenceShape(input.config.when as SequenceSpec)
    const first = { number: from, time: timeOf(from) ?? 0 }
    const run = createStepRun(known, { rule: id, revision: matching, shape, limits: { keys, rows } }, first)
    return { run, next: from, hash: undefined }
  }

  const runOf = (rule: StoredRule, gap: UnseenBlocks, last: number): RunOfRule => {
    const begun = runs.get(rule.id)
    if (begun) {
      const { run, next, hash } = begun
      const isOfChain = (hash === undefined || known.hash(next - 1) === hash) && next <= last + 1
      if (isOfChain && run.revision === rule.matching && run.first <= gap.from) return begun
    }
    const made = begin(rule, gap)
    runs.set(rule.id, made)
    return made
  }

  return {
    /** Goes on for a while. Returns false if there is no room. */
    async fill(rule: StoredRule, gap: UnseenBlocks, documents: DocumentReader): Promise<boolean> {
      const last = known.last(rule.id, rule.matching)
      if (last === undefined) return true
      const state = runOf(rule, gap, last.number)
      const began = performance.now()
      while (state.next <= last.number) {
        if (performance.now() - began > FILL_STEPS_MS) return true
        signal.throwIfAborted()
        const range = { from: state.next, to: Math.min(last.number, state.next + spans.of(rule.id) - 1) }
        const hash = known.hash(range.to)
        const lists = rules.listsOf(rule.account)
        const found = await spans.measured(rule.id, range, () => stepsFound(rule, lists, range, documents))
        if (!found) continue
        if (!found.every(({ matches, ...block }) => state.run.step(block, matches))) {
          runs.delete(rule.id)
          return false
        }
        Object.assign(state, { next: range.to + 1, hash })
      }
      if (state.hash !== last.hash || rules.rule(rule.id)?.revision !== rule.revision) return true
      await tell({ hits: [], taken: [state.run.taken(last)] })
      return true
    },
    /** Forgets rules for which nothing is to be done. */
    keep(open: readonly StoredRule[]) {
      for (const id of runs.keys()) if (!open.some(rule => rule.id === id)) runs.delete(id)
    },
  }
}

interface FoundSteps extends Pick<BlockOfSteps, 'number' | 'matches'> {
  time: number
}

/** Matches of all steps by block; undefined if there are too many in several blocks. */
const stepsFound = async (
  { input: { config } }: StoredRule,
  lists: FindList,
  range: Range,
  documents: DocumentReader,
): Promise<FoundSteps[] | undefined> => {
  const found: (PartMatch & { number: number })[] = []
  for (const part of storedParts(config)) {
    const hits = await hitsIn(part.config, lists, range, documents)
    if (!hits) return undefined
    for (const match of hits.map(storedMatchOf)) found.push({ part, match, number: documentBlock(match).number })
  }
  const blocks = [...Map.groupBy(found, ({ number }) => number)].sort(([a], [b]) => a - b)
  const stepped: FoundSteps[] = []
  for (const [number, inBlock] of blocks) {
    const lacking = transactionsLacking(inBlock)
    const { hits } =
      lacking.length > 0
        ? await documents.search(searchOfTransactions(lacking, number), { deadline: Number.POSITIVE_INFINITY })
        : { hits: [] }
    const { matches } = stepsInBlock(number, inBlock, transactionPlaces(hits.map(storedMatchOf)))
    stepped.push({ number, time: secondsOf(inBlock[0]!.match), matches })
  }
  return stepped
}
