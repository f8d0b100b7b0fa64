import { createBlocks } from '../engine/blocks.ts'
import { lazy } from '../lib/caches.ts'
import type { Range } from '../lib/ranges.ts'
import type { Db } from '../sqlite/database.ts'
import type { WindowEntry } from '../windows/entries.ts'
import type { WindowSpan } from '../windows/spec.ts'
import type { WindowBlock } from '../windows/window.ts'
import type { RunningWindow } from './running-window.ts'
import { prepareWindowState, type WindowTables } from './window-tables.ts'
import type { WindowRule } from './windows.ts'

/** Stored blocks that lie in the windows of a rule, and right below those that it knows. */
export interface UnseenBlocks extends Range {
  /** Hash of the last one: it stands for all of them. */
  hash: string
}

/** What a rule finds in such blocks. */
export interface EarlierRows extends UnseenBlocks {
  rule: number
  /** `matching` of the rule. */
  revision: number
  rows: { number: number; entries: WindowEntry[] }[]
  /** Whether nothing further is to be filled. */
  isLast: boolean
}

/**
 * Finds blocks that the windows of rules should know, of the state that the connection sees. To be
 * made anew for each look at all rules: it reads the ranges of stored blocks once.
 */
export const createUnseenBlocks = (db: Db) => {
  const blocks = createBlocks(db)
  const ranges = lazy(blocks.ranges)
  const states = prepareWindowState(db)
  const lastUntil = db
    .prepare<[number, number], number>(
      'SELECT number FROM block WHERE number < ? AND time <= ? ORDER BY number DESC LIMIT 1',
    )
    .pluck()
  return (rule: number, revision: number, { blocks: count, seconds }: WindowSpan): UnseenBlocks | undefined => {
    const state = states.get(rule)
    if (state?.revision !== revision) return undefined
    const { since, sinceTime, upto, clock } = state
    // The window of the next block.
    const first = count === undefined ? undefined : Math.max(0, upto + 2 - count)
    if (first === undefined ? sinceTime <= clock - seconds! : since <= first) return undefined
    const to = since - 1
    const range = ranges().find(({ from, to: last }) => from <= to && to <= last)
    const hash = blocks.hash(to)
    if (!range || hash === undefined) return undefined
    const begin = first ?? lastUntil.get(since, clock - seconds!) ?? 0
    return { from: Math.max(range.from, begin), to, hash }
  }
}

/**
 * Takes rows of blocks right below those that a rule knows, in the transaction of a write; not for
 * another chain or rule, or where there is no room. Returns whether the windows in memory are to be
 * made anew: only with the last part, as that takes long.
 */
export const takeEarlier = (
  { db, tables }: { db: Db; tables: WindowTables },
  of: WindowRule,
  { from, to, hash, revision, rows, isLast }: EarlierRows,
  stateFor: (of: WindowRule, first: WindowBlock) => RunningWindow,
): boolean => {
  const { rule, limits } = of
  const stored = tables.state(rule)
  if (revision !== of.revision || stored?.revision !== revision || stored.since !== to + 1) return false
  if (createBlocks(db).hash(to) !== hash) return false
  const state = stateFor(of, { number: stored.upto + 1, time: stored.clock })
  const filled = state.filled ?? { rows: 0, keys: new Set<string>() }
  const added = rows.flatMap(({ entries }) => entries)
  const keys = new Set(added.map(({ key }) => key)).difference(filled.keys)
  const { size } = state.window
  if (size.keys + filled.keys.size + keys.size > limits.keys * FILLED_SHARE) return false
  if (size.rows + filled.rows + added.length > limits.rows * FILLED_SHARE) return false
  filled.rows += added.length
  for (const key of keys) filled.keys.add(key)
  const times = db.prepare<[number], number>('SELECT time FROM block WHERE number = ?').pluck()
  const timeOf = (number: number) => times.get(number) ?? stored.sinceTime
  tables.dropBetween(rule, from, to)
  for (const { number, entries } of rows) tables.addRows(rule, { number, time: timeOf(number) }, entries)
  Object.assign(state, { since: from, sinceTime: timeOf(from), floor: Math.min(state.floor, from), filled })
  tables.saveState(rule, state)
  return isLast
}

/** Share of its limits that a rule may fill: the next blocks need room, too. */
const FILLED_SHARE = 0.9
