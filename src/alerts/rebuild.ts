import { createBlocks, timeOfBlock } from '../engine/blocks.ts'
import type { Range } from '../lib/ranges.ts'
import type { Db } from '../sqlite/database.ts'
import type { WindowEntry } from '../windows/entries.ts'
import { reachOf, type WindowSpec } from '../windows/spec.ts'
import type { RunningWindow } from './running-window.ts'
import type { WindowState, WindowTables } from './window-tables.ts'
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
}

/** Finds blocks that the windows of rules should know, of the state that the connection sees. */
export const createUnseenBlocks = (db: Db) => {
  const blocks = createBlocks(db)
  const states = db.prepare<[number], WindowState>(
    'SELECT revision, since, since_time AS sinceTime, floor, upto, clock FROM rule_window WHERE rule = ? AND upto >= 0',
  )
  const lastUntil = db
    .prepare<[number, number], number>(
      'SELECT number FROM block WHERE number < ? AND time <= ? ORDER BY number DESC LIMIT 1',
    )
    .pluck()
  return (rule: number, revision: number, spec: WindowSpec): UnseenBlocks | undefined => {
    const state = states.get(rule)
    if (state?.revision !== revision) return undefined
    const { since, sinceTime, upto, clock } = state
    const { blocks: count, seconds } = reachOf(spec)
    // The window of the next block.
    const first = count === undefined ? undefined : Math.max(0, upto + 2 - count)
    if (first === undefined ? sinceTime <= clock - seconds! : since <= first) return undefined
    const to = since - 1
    const range = blocks.ranges().find(({ from, to: last }) => from <= to && to <= last)
    const hash = blocks.hash(to)
    if (!range || hash === undefined) return undefined
    const begin = first ?? lastUntil.get(since, clock - seconds!) ?? 0
    return { from: Math.max(range.from, begin), to, hash }
  }
}

/**
 * Takes rows of blocks right below those that a rule knows, in the transaction of a write. Returns
 * whether it did: not for another chain or rule, or where there is no room.
 */
export const takeEarlier = (
  { db, tables }: { db: Db; tables: WindowTables },
  { rule, revision, limits }: WindowRule,
  running: RunningWindow | undefined,
  earlier: EarlierRows,
): boolean => {
  const state = tables.state(rule)
  if (earlier.revision !== revision || state?.revision !== revision || state.since !== earlier.to + 1) return false
  if (createBlocks(db).hash(earlier.to) !== earlier.hash) return false
  const added = earlier.rows.reduce((sum, { entries }) => sum + entries.length, 0)
  const { keys, rows } = running?.window.size ?? { keys: 0, rows: 0 }
  if (keys >= limits.keys || rows + added > limits.rows) return false
  const timeOf = (number: number) => timeOfBlock(db, number) ?? state.sinceTime
  tables.dropBetween(rule, earlier.from, earlier.to)
  for (const { number, entries } of earlier.rows) tables.addRows(rule, { number, time: timeOf(number) }, entries)
  tables.saveState(rule, { ...state, since: earlier.from, sinceTime: timeOf(earlier.from) })
  return true
}
