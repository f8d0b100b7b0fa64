import { hash } from 'node:crypto'
import { createBlocks, timeOfBlock } from '../engine/blocks.ts'
import { checksumAddress } from '../lib/keccak.ts'
import type { Kind } from '../mapping/index.ts'
import type { Confirmations, TargetType } from '../rules/rule.ts'
import type { Db } from '../sqlite/database.ts'
import type { Entry } from '../windows/entries.ts'
import type { WindowSpec } from '../windows/spec.ts'
import { createWindow, type Window, type WindowBlock, type WindowLimits } from '../windows/window.ts'
import { type AlertWindow, dueOf, type RuleMatch } from './alert.ts'

/** A rule with `when`, as the writer of the store needs it. */
export interface WindowRule {
  rule: number
  /** `matching` of the rule. */
  revision: number
  start: number
  spec: WindowSpec
  targetType: TargetType
  confirmations: Confirmations
  notifyPending: boolean
  notifyResolved: boolean
  network?: string | undefined
  limits: WindowLimits
}

export interface WindowSource {
  _id: string
  _type: Kind
  source: string
}

/** What rules with `when` found in a block; also of a block without a match, since time goes on. */
export interface WindowRows extends WindowBlock {
  hash: string
  receivedAt: number
  /** The document of the block itself. */
  own: WindowSource
  sources: WindowSource[]
  rules: RuleRows[]
}

export interface RuleRows {
  rule: number
  revision: number
  entries: Entry[]
  /** Of each entry, the last match among `sources`. */
  lasts: number[]
}

interface Episodes {
  open(match: RuleMatch, id: string): number
}

interface StateRow {
  revision: number
  since: number
  sinceTime: number
  floor: number
  upto: number
  clock: number
}

interface Running extends StateRow {
  window: Window
  /** Alerts by the keys of open episodes. */
  open: Map<string, number>
  refused: number
}

/** A key that opens, its first matches, and the value that is first in its window. */
interface OpenedKey {
  key: string
  ids: string[]
  from: number | undefined
  first?: { name: string; value: string } | undefined
}

/** Blocks below a window whose rows are kept, for reorganisations. */
const KEPT_BELOW = 256

/**
 * Windows of rules in the store, written with the blocks. Rows in SQLite are the truth; what is in
 * memory is made of them, and again after a failed write or a reorganisation.
 */
export const createWindowStore = (db: Db, { open: openAlert }: Episodes) => {
  const states = db.prepare<[number], StateRow>(
    'SELECT revision, since, since_time AS sinceTime, floor, upto, clock FROM rule_window WHERE rule = ?',
  )
  const saveState = db.prepare(
    `INSERT OR REPLACE INTO rule_window (rule, revision, since, since_time, floor, upto, clock) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const rowsOf = db.prepare<[number], WindowBlock & { rows: string }>(
    'SELECT block AS number, time, rows FROM rule_rows WHERE rule = ? ORDER BY block',
  )
  const addRows = db.prepare('INSERT OR REPLACE INTO rule_rows (rule, block, time, rows) VALUES (?, ?, ?, ?)')
  const dropBelow = db.prepare('DELETE FROM rule_rows WHERE rule = ? AND block < ?')
  const openOf = db.prepare<[number], { key: string; alert: number }>(
    'SELECT key, alert FROM episode WHERE rule = ? AND ended IS NULL',
  )
  const begin = db.prepare('INSERT OR REPLACE INTO episode (alert, rule, key, opened) VALUES (?, ?, ?, ?)')
  const end = db.prepare('UPDATE episode SET ended = ?, due = ? WHERE alert = ?')
  const forgetEnded = db.prepare('DELETE FROM episode WHERE rule = ? AND ended < ? AND due IS NULL')
  const forget = ['rule_window', 'rule_rows', 'episode'].map(table => db.prepare(`DELETE FROM ${table} WHERE rule = ?`))
  const readWhen = db.prepare<[number], string | null>('SELECT windows FROM alert WHERE n = ?').pluck()
  const saveWhen = db.prepare('UPDATE alert SET windows = ? WHERE n = ?')
  const dropRowsAbove = db.prepare('DELETE FROM rule_rows WHERE block > ?')
  const dropOpened = db.prepare('DELETE FROM episode WHERE opened > ?')
  const reopen = db
    .prepare<[number], number>('UPDATE episode SET ended = NULL, due = NULL WHERE ended > ? RETURNING alert')
    .pluck()
  const lower = db.prepare<[number, number, number]>(
    'UPDATE rule_window SET upto = min(upto, ?), clock = ? WHERE upto > ?',
  )
  const emptied = db.prepare('DELETE FROM rule_window WHERE since > upto')
  const raise = db.prepare(
    `UPDATE rule_window SET since = floor, since_time = ifnull((SELECT time FROM block WHERE number = floor), clock)
     WHERE floor > since AND upto >= floor`,
  )
  const writes = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'windows'").pluck()
  const noteWrite = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('windows', ?)")
  const blocks = createBlocks(db)
  const rules = new Map<number, WindowRule>()
  const running = new Map<number, Running>()
  const notes = new Map<number, string>()
  let written = -1

  /** What a failed transaction had changed in memory goes. */
  const enter = () => {
    const stored = writes.get() ?? 0
    if (stored !== written) running.clear()
    written = stored + 1
    noteWrite.run(written)
  }

  const clear = (rule: number) => {
    for (const drop of forget) drop.run(rule)
    running.delete(rule)
    notes.delete(rule)
  }

  const stateFor = ({ rule, revision, spec, limits }: WindowRule, first: WindowBlock): Running => {
    const known = running.get(rule)
    if (known?.revision === revision) return known
    let stored = states.get(rule)
    if (stored && stored.revision !== revision) {
      clear(rule)
      stored = undefined
    }
    const { number, time } = first
    const state: StateRow = stored ?? { revision, since: number, sinceTime: time, floor: 0, upto: number - 1, clock: 0 }
    const window = createWindow(spec, limits)
    window.setSince({ number: state.since, time: state.sinceTime })
    for (const { rows, ...block } of rowsOf.all(rule)) window.load(block, JSON.parse(rows) as Entry[])
    window.settle({ number: state.upto, time: state.clock })
    const open = new Map(openOf.all(rule).map(({ key, alert }) => [key, alert]))
    window.setOpen(open.keys())
    const made: Running = { ...state, window, open, refused: 0 }
    running.set(rule, made)
    return made
  }

  const matchOf = (of: WindowRule, { hash, number, receivedAt }: WindowRows, { _id, _type, source }: WindowSource) => ({
    ...{ rule: of.rule, revision: of.revision, targetType: of.targetType, confirmations: of.confirmations },
    ...{ notifyPending: of.notifyPending, block: number, blockHash: hash, entity: { _id, _type }, source, receivedAt },
    network: of.network,
  })

  const whenOf = (
    { spec }: WindowRule,
    window: Window,
    now: WindowBlock,
    { key, ids, from, first }: OpenedKey,
  ): AlertWindow => {
    const { conditions, matches } = window.show(key)
    const { by = [], within } = spec
    const values = JSON.parse(key) as (string | null)[]
    const shown = (text: string | null) => (text !== null && ADDRESS.test(text) ? checksumAddress(text) : text)
    return {
      key: {
        ...Object.fromEntries(by.map((name, i) => [name, shown(values[i] ?? null)])),
        ...(first && { [first.name]: shown(first.value) }),
      },
      window: { fromBlock: from ?? now.number, toBlock: now.number, ...within },
      ...{ conditions, matches, entities: ids, late: false },
    }
  }

  const stepRule = (of: WindowRule, block: WindowRows, matches: RuleRows | undefined, chain: unknown) => {
    const { rule, revision } = of
    const state = stateFor(of, block)
    // Filled later: windows that reach there stay undecided.
    if (block.number <= state.upto) return
    const now = { number: block.number, time: Math.max(block.time, state.clock) }
    if (block.number !== state.upto + 1) {
      state.since = now.number
      state.sinceTime = now.time
      state.window.setSince(now)
    }
    const found = matches?.revision === revision ? matches : undefined
    const entries = found?.entries ?? []
    const { window } = state
    const { opened, ended, first, refused, taken } = window.step(now, entries)
    if (taken.length > 0) addRows.run(rule, now.number, now.time, JSON.stringify(taken))
    const places = opened.length + first.length > 0 ? new Map(entries.map(({ key }, i) => [key, i])) : undefined
    const lastOf = (key: string): WindowSource => {
      const place = places?.get(key)
      return place === undefined ? block.own : block.sources[found!.lasts[place]!]!
    }
    const named = window.named([...opened, ...first.map(({ key }) => key)])
    const openOne = (key: string, first?: OpenedKey['first']) => {
      const when = whenOf(of, window, now, { key, ...named.get(key)!, first })
      const match = { ...matchOf(of, block, lastOf(key)), when }
      return openAlert(match, windowAlertId(match, chain, first ? `${key}${JSON.stringify(first.value)}` : key))
    }
    for (const key of opened) {
      const alert = openOne(key)
      begin.run(alert, rule, key, now.number)
      state.open.set(key, alert)
    }
    const name = of.spec.conditions.find(({ aggregate }) => aggregate === 'First')?.name
    for (const { key, value } of first) openOne(key, { name: name!, value })
    for (const key of ended) {
      const alert = state.open.get(key)!
      state.open.delete(key)
      end.run(now.number, dueOf(now.number, of.confirmations), alert)
      const when = JSON.parse(readWhen.get(alert) ?? 'null') as AlertWindow | null
      const { conditions } = window.show(key)
      if (when) saveWhen.run(JSON.stringify({ ...when, ended: { block: now.number, conditions } }), alert)
    }
    state.refused += refused
    state.upto = now.number
    state.clock = now.time
    if (now.number % KEPT_BELOW === 0) prune(of, state, now)
    saveState.run(rule, revision, state.since, state.sinceTime, state.floor, state.upto, state.clock)
    note(of, state, now)
  }

  const stepAll = (block: WindowRows, chain: unknown) => {
    const found = new Map(block.rules.map(one => [one.rule, one]))
    for (const rule of rules.values())
      if (block.number >= rule.start) stepRule(rule, block, found.get(rule.rule), chain)
  }

  const prune = ({ rule }: WindowRule, state: Running, now: WindowBlock) => {
    const below = (state.window.oldest() ?? now.number) - KEPT_BELOW
    if (below <= state.floor) return
    dropBelow.run(rule, below)
    state.floor = below
    forgetEnded.run(rule, now.number - KEPT_BELOW)
  }

  const note = ({ rule, limits }: WindowRule, { window, refused, since }: Running, now: WindowBlock) => {
    const { keys, rows } = window.size
    if (refused > 0)
      notes.set(
        rule,
        `Its windows hold ${keys} keys in ${rows} rows, of at most ${limits.keys} and ${limits.rows}: ${refused} times, matches of a further key in a block were left out.`,
      )
    else if (window.isComplete(now)) notes.delete(rule)
    else
      notes.set(
        rule,
        `Its windows begin at block ${since}: until one has passed, only what more matches could not undo is decided.`,
      )
  }

  return {
    /** All rules with `when` that are matched from now on. */
    set(all: readonly WindowRule[]) {
      enter()
      rules.clear()
      for (const one of all) {
        rules.set(one.rule, one)
        const known = states.get(one.rule)
        if (known && known.revision !== one.revision) clear(one.rule)
      }
      for (const known of [running, notes]) for (const rule of known.keys()) if (!rules.has(rule)) known.delete(rule)
    },
    gone(rule: number) {
      rules.delete(rule)
      clear(rule)
    },
    step(all: readonly WindowRows[], chain: unknown) {
      if (rules.size === 0) return
      enter()
      for (const block of all) if (blocks.hash(block.number) === block.hash.toLowerCase()) stepAll(block, chain)
    },
    /** Forgets what blocks above have done; returns alerts that were over, and are not. */
    back(to: number): number[] {
      enter()
      running.clear()
      dropRowsAbove.run(to)
      dropOpened.run(to)
      lower.run(to, timeOfBlock(db, to) ?? 0, to)
      emptied.run()
      raise.run()
      return reopen.all(to)
    },
    tells: (rule: number): boolean => rules.get(rule)?.notifyResolved === true,
    notes: (): ReadonlyMap<number, string> => notes,
  }
}

const ADDRESS = /^0x[\da-f]{40}$/

/** One for each episode of a key, by the block that opens it. */
export const windowAlertId = (
  { rule, revision, blockHash, network }: Pick<RuleMatch, 'rule' | 'revision' | 'blockHash' | 'network'>,
  chain: unknown,
  key: string,
): string =>
  `alert_${hash('sha256', JSON.stringify([rule, revision, chain, blockHash.toLowerCase(), 'window', key, ...(network === undefined ? [] : [network])])).slice(0, 32)}`
