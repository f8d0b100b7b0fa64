import { createBlocks } from '../engine/blocks.ts'
import type { Db } from '../sqlite/database.ts'
import {
  createRuleSequence,
  type FoundSequence,
  isUndone,
  type RuleSequence,
  type SequenceShape,
  type StepMatch,
  shownSteps,
} from '../windows/sequence.ts'
import { namedKey } from '../windows/shown-key.ts'
import type { WindowBlock } from '../windows/window.ts'
import type { AlertWindow, RuleMatch } from './alert.ts'
import { createRuleMemory } from './rule-memory.ts'
import { firstOfWindow, isPrunedAt, lastOut, pruneRows } from './running-window.ts'
import { type TakenSteps, takeSteps } from './step-rebuild.ts'
import { createWindowTables, newWindowState, type WindowState } from './window-tables.ts'
import { matchInBlock, type WindowRows, type WindowRule, windowAlertId } from './windows.ts'

/** A rule with steps, as the writer of the store needs it. */
export interface SequenceRule extends Omit<WindowRule, 'spec'> {
  shape: SequenceShape
  /** Fields of the first step that name the values of a key. */
  by: string[]
  account: number
  /** Alerts that the rules of the account with steps may make in one block. */
  most: number
}

/** Matches of the steps of a rule in a block. */
export interface StepRows {
  rule: number
  matches: StepMatch[]
  /** Of each match that may complete a sequence, its place among the sources of the block; else -1. */
  lasts: number[]
}

interface RunningSequence extends WindowState {
  sequence: RuleSequence
}

/**
 * Sequences of rules in the store, beside the windows and in the same tables: matches of steps are
 * rows, and what has begun is made of them.
 */
export const createSequenceStore = (db: Db, open: (match: RuleMatch, id: string) => void) => {
  const tables = createWindowTables(db, 'sequences')
  const blocks = createBlocks(db)
  const memory = createRuleMemory<SequenceRule, RunningSequence>(tables)
  const { rules, running, notes, enter } = memory

  const stateFor = (of: SequenceRule, begin: WindowBlock): RunningSequence => {
    const { rule, revision, shape, limits } = of
    const known = running.get(rule)
    if (known?.revision === revision) return known
    memory.clearOther(of)
    const state = tables.state(rule) ?? newWindowState(revision, begin)
    const sequence = createRuleSequence(shape, limits)
    const out = lastOut(shape.within, state)
    const first = isUndone(shape) ? state.since : 0
    for (const { block, entries } of tables.rows<StepMatch>(rule, { ...out, number: Math.max(out.number, first - 1) }))
      sequence.load(block, entries)
    sequence.settle({ number: state.upto, time: state.clock })
    const made = { ...state, sequence }
    running.set(rule, made)
    return made
  }

  /** `counts`: alerts in the block so far, by account. */
  const stepRule = (
    of: SequenceRule,
    block: WindowRows,
    { rows, counts }: { rows: StepRows | undefined; counts: Map<number, number> },
    chain: unknown,
  ) => {
    const state = stateFor(of, block)
    // Filled later: it stays missing.
    if (block.number <= state.upto) return
    const now = { number: block.number, time: Math.max(block.time, state.clock) }
    if (block.number !== state.upto + 1) {
      state.since = now.number
      state.sinceTime = now.time
      state.sequence.skip()
    }
    const { found, taken, refused } = state.sequence.step(now, rows?.matches ?? [])
    if (taken.length > 0) tables.addRows(of.rule, now, taken)
    const before = counts.get(of.account) ?? 0
    const told = found.slice(0, Math.max(0, of.most - before))
    counts.set(of.account, before + told.length)
    for (const one of told) {
      const { key, last, steps } = one
      const source = last === undefined ? block.own : block.sources[rows!.lasts[last]!]!
      const match = { ...matchInBlock(of, block, source), when: shownSequence(of, now, one) }
      open(match, windowAlertId(match, chain, `${key} ${steps[0]!.block} ${steps[0]!.id}`))
    }
    state.refused += refused
    state.untold += found.length - told.length
    state.upto = now.number
    state.clock = now.time
    if (isPrunedAt(of.rule, now.number))
      pruneRows(
        tables,
        { rule: of.rule, state, now },
        firstOfWindow(of.shape, tables, state, now),
        state.sequence.oldest(),
      )
    tables.saveState(of.rule, state)
    memory.note(of.rule, sequenceNote(of, state, now))
  }

  return {
    /** All rules with steps that are matched from now on. */
    set: memory.set,
    gone: memory.gone,
    /** Takes over what lies in blocks that a rule did not look at. */
    fill(taken: TakenSteps) {
      enter()
      const of = rules.get(taken.rule)
      if (of && takeSteps({ db, tables }, of, taken)) running.delete(of.rule)
    },
    step(all: readonly WindowRows[], chain: unknown) {
      if (rules.size === 0) return
      enter()
      for (const block of all) {
        if (blocks.hash(block.number) !== block.hash.toLowerCase()) continue
        const found = new Map(block.steps?.map(one => [one.rule, one]))
        const counts = new Map<number, number>()
        for (const rule of rules.values())
          if (block.number >= rule.start && block.matched.get(rule.rule) === rule.revision)
            stepRule(rule, block, { rows: found.get(rule.rule), counts }, chain)
      }
    },
    /** After a reorganisation, of which the windows have taken back the rows of all rules. */
    back() {
      enter()
      running.clear()
    },
    notes: () => notes,
  }
}

/** What an alert shows of its sequence. */
const shownSequence = ({ shape, by }: SequenceRule, now: WindowBlock, found: FoundSequence): AlertWindow => ({
  key: namedKey({ by }, found.key),
  window: { fromBlock: found.steps[0]!.block, toBlock: now.number, ...shape.within },
  ...{ conditions: [], matches: found.steps.length, entities: found.steps.map(({ id }) => id) },
  ...{ steps: shownSteps(shape, found), late: false },
})

/** What the owner of the rule should know of its sequences; undefined: nothing. */
const sequenceNote = (
  { limits, shape, most }: SequenceRule,
  { sequence, refused, untold, since, sinceTime }: RunningSequence,
  now: WindowBlock,
): string | undefined => {
  if (refused > 0) {
    const { keys, rows } = sequence.size
    return `Its sequences hold ${keys} keys in ${rows} rows, of at most ${limits.keys} and ${limits.rows}: ${refused} first steps were left out.`
  }
  if (untold > 0)
    return `Sequences of the account make at most ${most} alerts in one block: ${untold} of this rule made none.`
  const { blocks, seconds } = shape.within
  const isComplete = blocks !== undefined ? since <= now.number - blocks + 1 : sinceTime <= now.time - seconds!
  if (isComplete || since === 0) return undefined
  const before = isUndone(shape)
    ? 'what had begun before makes no alert'
    : 'steps in blocks that it did not look at are not known'
  return `Its sequences begin at block ${since}: ${before}.`
}
