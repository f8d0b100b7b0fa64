import { isSeen } from '../windows/compared.ts'
import { createWindowFor } from '../windows/newest.ts'
import { createRepeats, type Repeats } from '../windows/repeats.ts'
import { isOfWindows, reachOf, type WindowSpan } from '../windows/spec.ts'
import type { RuleWindow, WindowBlock } from '../windows/window.ts'
import type { RepeatTable } from './repeat-table.ts'
import { newWindowState, type WindowState, type WindowTables } from './window-tables.ts'
import type { WindowRule } from './windows.ts'

/** The windows of a rule in memory. */
export interface RunningWindow extends WindowState {
  window: RuleWindow
  /** Alerts by the keys of open episodes. */
  open: Map<string, number>
  /** Of a rule whose alerts are repeated: as long as it says the same of that. */
  repeats?: { again: string; due: Repeats } | undefined
  /** What the store has of earlier blocks, and memory has not. */
  filled?: { rows: number; keys: Set<string> }
}

/** Blocks below a window whose rows are kept: no chain is known to reorganise deeper. */
export const KEPT_BELOW = 2_048
/** Blocks from one pruning of a rule to the next. */
export const PRUNE_EVERY = 256

/** Rules take turns: all of them together would delay the block. */
export const isPrunedAt = (rule: number, block: number): boolean => (block + rule) % PRUNE_EVERY === 0

/** `first`: where the windows of a rule without a stored state begin. */
export const loadWindow = (
  tables: WindowTables,
  { rule, revision, spec, limits }: WindowRule,
  stored: WindowState | undefined,
  first: WindowBlock,
): RunningWindow => {
  const state: WindowState = stored ?? newWindowState(revision, first)
  const window = createWindowFor(spec, limits)
  window.setSince({ number: state.since, time: state.sinceTime })
  const { upto, clock } = state
  // The newest readings have all keys.
  const out = isOfWindows(spec)
    ? lastOut(reachOf(spec), state)
    : { number: (tables.lastRow(rule, upto) ?? 0) - 1, time: -1 }
  for (const { block, entries } of tables.rows(rule, out)) window.load(block, entries)
  window.settle({ number: upto, time: clock })
  const open = tables.open(rule)
  window.setOpen(open.keys())
  // Without a state, what had held is as unknown as what has matched.
  if (stored === undefined) tables.breakHolds(rule, first.number)
  window.setHolding(tables.holding(rule))
  return { ...state, window, open }
}

/** The block and the time up to which rows are out of the window. */
export const lastOut = ({ blocks, seconds }: WindowSpan, { upto, clock }: WindowState): WindowBlock => ({
  number: blocks === undefined ? -1 : upto - blocks,
  time: seconds === undefined ? -1 : clock - seconds,
})

/** What is to be repeated of the open episodes; made anew where the rule says otherwise than before. */
export const repeatsOf = (table: RepeatTable, { rule, again }: WindowRule, state: RunningWindow) => {
  const said = JSON.stringify(again)
  if (again && state.repeats?.again !== said) {
    state.repeats = { again: said, due: createRepeats(again) }
    state.repeats.due.set(table.lastTold(rule))
  }
  if (!again) state.repeats = undefined
  return state.repeats?.due
}

/** Whether the store has all that the windows need, which memory is to take over. */
export const isFilled = ({ filled, since, sinceTime, upto, clock }: RunningWindow, spec: WindowRule['spec']): boolean =>
  filled !== undefined &&
  isOfWindows(spec) &&
  isSeen({ number: since, time: sinceTime }, reachOf(spec), { number: upto, time: clock })

/** Drops what neither a window nor a reorganisation needs any more. */
export const pruneWindow = (
  tables: WindowTables,
  { rule, spec }: WindowRule,
  state: RunningWindow,
  now: WindowBlock,
): void => {
  const at = { rule, state, now }
  if (isOfWindows(spec)) {
    const begin = firstOfWindow({ within: reachOf(spec) }, tables, state, now)
    pruneRows(tables, at, begin, state.window.oldest())
    return
  }
  // Of readings, a reorganisation needs the newest one below it.
  const newest = tables.lastRow(rule, now.number - KEPT_BELOW)
  if (newest !== undefined) dropRows(tables, at, newest)
}

/** `begin`: of the window; `oldest`: the first block that has rows in it. */
export const pruneRows = (
  tables: WindowTables,
  at: { rule: number; state: WindowState; now: WindowBlock },
  begin: number | undefined,
  oldest: number | undefined,
): void => {
  if (begin !== undefined) dropRows(tables, at, Math.min(oldest ?? at.now.number, begin) - KEPT_BELOW)
}

const dropRows = (
  tables: WindowTables,
  { rule, state, now }: { rule: number; state: WindowState; now: WindowBlock },
  below: number,
): void => {
  if (below <= state.floor) return
  tables.dropBelow(rule, below, now.number - KEPT_BELOW)
  state.floor = below
}

/** The first block of a window, also of one without rows: it has been seen all the same. */
export const firstOfWindow = (
  { within }: { within: WindowSpan },
  tables: Pick<WindowTables, 'firstAfter'>,
  { floor, since }: WindowState,
  now: WindowBlock,
): number | undefined =>
  within.blocks !== undefined
    ? now.number - within.blocks + 1
    : tables.firstAfter(now.time - within.seconds!, Math.max(floor, Math.min(since, now.number)))
