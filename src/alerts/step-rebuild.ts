import { createBlocks } from '../engine/blocks.ts'
import type { Db } from '../sqlite/database.ts'
import { createRuleSequence, isUndone, type SequenceShape, type StepMatch } from '../windows/sequence.ts'
import type { WindowBlock } from '../windows/window.ts'
import type { SequenceRule } from './sequences.ts'
import { createWindowTables, prepareWindowState, type WindowTables } from './window-tables.ts'

/** The last block that a rule knows. */
interface LastKnownBlock {
  number: number
  hash: string
}

/** What a rule with steps takes of a stored block. */
export interface TakenRow {
  block: WindowBlock
  taken: StepMatch[]
}

/** All that a rule with steps would have taken, had it looked at the blocks from the first one on. */
export interface TakenSteps {
  rule: number
  /** `matching` of the rule. */
  revision: number
  first: WindowBlock
  /** If the rule knows another one by now, it takes nothing of this. */
  last: LastKnownBlock
  rows: TakenRow[]
}

export type StepKnowledge = ReturnType<typeof createStepKnowledge>

/** What rules with steps know, of the state that the connection sees. */
export const createStepKnowledge = (db: Db) => {
  const blocks = createBlocks(db)
  const states = prepareWindowState(db)
  const tables = createWindowTables(db, 'sequences')
  return {
    hash: blocks.hash,
    last(rule: number, revision: number): LastKnownBlock | undefined {
      const state = states.get(rule)
      const hash = state?.revision === revision ? blocks.hash(state.upto) : undefined
      return hash === undefined ? undefined : { number: state!.upto, hash }
    },
    /** What a rule has taken below a block; nothing of what a missing block may have ended. */
    below: (rule: number, shape: SequenceShape, block: number): TakenRow[] =>
      isUndone(shape)
        ? []
        : [...tables.rows<StepMatch>(rule, { number: -1, time: -1 })]
            .filter(it => it.block.number < block)
            .map(({ block, entries }) => ({ block, taken: entries })),
  }
}

/** Follows the stored blocks with a rule that has steps, as if it had looked at them, from the first one on. */
export const createStepRun = (
  known: Pick<StepKnowledge, 'below'>,
  { rule, revision, shape, limits }: Pick<SequenceRule, 'rule' | 'revision' | 'shape' | 'limits'>,
  first: WindowBlock,
) => {
  const sequence = createRuleSequence(shape, limits)
  for (const { block, taken } of known.below(rule, shape, first.number)) sequence.load(block, taken)
  const rows: TakenRow[] = []
  let clock = first.time
  return {
    first: first.number,
    revision,
    /** Blocks with matches come in their order. Returns false if there is no room. */
    step({ number, time }: WindowBlock, matches: readonly StepMatch[]): boolean {
      clock = Math.max(clock, time)
      const block = { number, time: clock }
      const { taken, refused } = sequence.step(block, matches)
      if (taken.length > 0) rows.push({ block, taken })
      return refused === 0
    },
    taken: (last: LastKnownBlock): TakenSteps => ({ rule, revision, first, last, rows }),
  }
}

/**
 * Puts what a rule would have taken in place of what it has, in the transaction of a write; not for
 * another chain or rule, or if the rule knows more blocks by now. Returns whether it did.
 */
export const takeSteps = (
  { db, tables }: { db: Db; tables: WindowTables },
  { rule, revision }: SequenceRule,
  { revision: found, first, last, rows }: TakenSteps,
): boolean => {
  const stored = tables.state(rule)
  if (found !== revision || stored?.revision !== revision || stored.upto !== last.number) return false
  if (createBlocks(db).hash(last.number) !== last.hash || first.number >= stored.since) return false
  tables.dropBetween(rule, first.number, last.number)
  for (const { block, taken } of rows) tables.addRows(rule, block, taken)
  tables.saveState(rule, {
    ...stored,
    ...{ since: first.number, sinceTime: first.time, floor: Math.min(stored.floor, first.number) },
  })
  return true
}
