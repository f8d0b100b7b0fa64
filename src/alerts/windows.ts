import { hash } from 'node:crypto'
import { createBlocks } from '../engine/blocks.ts'
import type { Kind } from '../mapping/index.ts'
import type { Confirmations, TargetType } from '../rules/rule.ts'
import type { Db } from '../sqlite/database.ts'
import type { WindowEntry } from '../windows/entries.ts'
import type { RepeatSpec } from '../windows/repeats.ts'
import { namedKey } from '../windows/shown-key.ts'
import { isOfWindows, type NewestSpec, type WindowSpec } from '../windows/spec.ts'
import type { RuleWindow, WindowBlock, WindowLimits } from '../windows/window.ts'
import { type AlertWindow, dueOf, type RuleMatch } from './alert.ts'
import { createReadingBlocks, type ReadingRows } from './reading-blocks.ts'
import { type EarlierRows, takeEarlier } from './rebuild.ts'
import { createRepeatTable } from './repeat-table.ts'
import { createRuleMemory } from './rule-memory.ts'
import {
  isFilled,
  isPrunedAt,
  KEPT_BELOW,
  loadWindow,
  pruneWindow,
  type RunningWindow,
  repeatsOf,
} from './running-window.ts'
import type { StepRows } from './sequences.ts'
import { createWindowTables } from './window-tables.ts'

/** A rule with `when`, as the writer of the store needs it. */
export interface WindowRule {
  rule: number
  /** `matching` of the rule. */
  revision: number
  start: number
  spec: WindowSpec | NewestSpec
  /** Of a rule that reads state: at blocks whose number is divisible by it. */
  every?: number | undefined
  targetType: TargetType
  confirmations: Confirmations
  notifyPending: boolean
  notifyResolved: boolean
  again?: RepeatSpec | undefined
  network?: string | undefined
  limits: WindowLimits
}

export interface WindowSource {
  _id: string
  _type: Kind | 'state'
  source: string
}

/** What rules with `when` found in a block; also of a block without a match, since time goes on. */
export interface WindowRows extends WindowBlock {
  hash: string
  receivedAt: number
  /** The document of the block itself. */
  own: WindowSource
  sources: WindowSource[]
  /** `revision` of the rules that the block was matched with, by rule: to others it is missing. */
  matched: ReadonlyMap<number, number>
  rules: RuleRows[]
  /** Of rules with steps. */
  steps?: StepRows[]
}

type SteppedBlock = Pick<WindowRows, 'number' | 'time' | 'hash' | 'receivedAt'> & Partial<WindowRows>

export interface RuleRows {
  rule: number
  entries: WindowEntry[]
  /** Of each entry, the last match among `sources`. */
  lasts: number[]
}

interface Episodes {
  open(match: RuleMatch, id: string): number
}

/** A key that opens, its first matches, and the value that is first in its window. */
interface OpenedKey {
  key: string
  ids: string[]
  from: number | undefined
  first?: { name: string; value: string } | undefined
}

/**
 * Windows of rules in the store, written with the blocks. Rows in SQLite are the truth; what is in
 * memory is made of them, and again after a failed write or a reorganisation.
 */
export const createWindowStore = (db: Db, { open: openAlert }: Episodes) => {
  const tables = createWindowTables(db)
  const repeatTable = createRepeatTable(db)
  const blocks = createBlocks(db)
  const decided = createReadingBlocks(db)
  const memory = createRuleMemory<WindowRule, RunningWindow>(tables)
  const { rules, running, notes, enter } = memory

  const stateFor = (of: WindowRule, first: WindowBlock): RunningWindow => {
    const known = running.get(of.rule)
    if (known?.revision === of.revision && !isFilled(known, of.spec)) return known
    memory.clearOther(of)
    const made = loadWindow(tables, of, tables.state(of.rule), first)
    running.set(of.rule, made)
    return made
  }

  const stepRule = (
    of: WindowRule,
    block: SteppedBlock,
    found: (Pick<RuleRows, 'entries'> & Partial<RuleRows>) | undefined,
    chain: unknown,
  ) => {
    const { rule } = of
    const state = stateFor(of, block)
    // Filled later: windows that reach there stay undecided.
    if (block.number <= state.upto) return
    const now = { number: block.number, time: Math.max(block.time, state.clock) }
    if (block.number !== state.upto + 1) {
      Object.assign(state, { since: now.number, sinceTime: now.time })
      state.window.setSince(now)
      tables.breakHolds(rule, now.number)
    }
    const entries = found?.entries ?? []
    const { window } = state
    const repeats = repeatsOf(repeatTable, of, state)
    const step = window.step(now, entries)
    const { opened, ended, began, broke, first, refused, taken, since } = step
    const repeated = repeats?.step(now, step, window) ?? []
    if (taken.length > 0) tables.addRows(rule, now, taken)
    for (const key of began) tables.beginHold(rule, key, now)
    for (const key of of.spec.hold ? [...broke, ...opened] : broke) tables.endHold(rule, key, now.number)
    const places = opened.length + first.length > 0 ? new Map(entries.map(({ key }, i) => [key, i])) : undefined
    const lastOf = (key: string): WindowSource => {
      const latest = window.latest(key)
      if (latest) return { _id: latest.ids[0]!, _type: 'state', source: latest.reading!.source! }
      const place = places?.get(key)
      return place === undefined ? block.own! : block.sources![found!.lasts![place]!]!
    }
    const named = window.named([...opened, ...repeated, ...first.map(({ key }) => key)])
    const openOne = (key: string, first?: OpenedKey['first']) => {
      const when = shownWindow(of, window, now, { key, ...named.get(key)!, first })
      const match = { ...matchInBlock(of, block, lastOf(key)), when }
      return openAlert(match, windowAlertId(match, chain, first ? `${key}${JSON.stringify(first.value)}` : key))
    }
    for (const key of opened) {
      const alert = openOne(key)
      tables.begin(rule, key, alert, now)
      state.open.set(key, alert)
    }
    for (const key of repeated) {
      const { ids: [id] = [], reading } = window.latest(key) ?? {}
      const latest = id !== undefined && reading?.source !== undefined ? { id, source: reading.source } : undefined
      const when = shownWindow(of, window, now, { key, ...named.get(key)! })
      const due = dueOf(now.number, of.confirmations)
      repeatTable.add({ alert: state.open.get(key)!, rule, block: now, due, when, latest })
    }
    for (const { key, value } of first) openOne(key, { name: nameOfFirst(of.spec), value })
    for (const key of ended) {
      const alert = state.open.get(key)!
      state.open.delete(key)
      const ended = { block: now.number, conditions: window.show(key).conditions }
      tables.end(alert, dueOf(now.number, of.confirmations), ended)
    }
    if (since) Object.assign(state, { since: since.number, sinceTime: since.time })
    state.refused += refused
    Object.assign(state, { upto: now.number, clock: now.time })
    if (isPrunedAt(rule, now.number)) {
      pruneWindow(tables, of, state, now)
      repeatTable.forget(rule, now.number - KEPT_BELOW)
    }
    tables.saveState(rule, state)
    memory.note(rule, noteOn(of, state, now))
  }

  const stepAll = (block: WindowRows, chain: unknown) => {
    const found = new Map(block.rules.map(one => [one.rule, one]))
    for (const rule of rules.values())
      if (block.number >= rule.start && block.matched.get(rule.rule) === rule.revision)
        stepRule(rule, block, found.get(rule.rule), chain)
  }

  return {
    /** All rules with `when` that are matched from now on. */
    set: memory.set,
    gone(rule: number) {
      tables.clear(rule)
      memory.gone(rule)
    },
    /** Takes what lies right below the blocks that a rule knows. */
    fill(earlier: EarlierRows) {
      enter()
      const of = rules.get(earlier.rule)
      if (of && takeEarlier({ db, tables }, of, earlier, stateFor)) running.delete(of.rule)
    },
    step(all: readonly WindowRows[], chain: unknown) {
      if (rules.size === 0) return
      enter()
      for (const block of all) if (blocks.hash(block.number) === block.hash.toLowerCase()) stepAll(block, chain)
    },
    /** Goes on with rules that read state. `skipped`: those that left out blocks. */
    read(readings: readonly ReadingRows[], skipped: readonly number[], chain: unknown, receivedAt: number) {
      const ofState = [...rules.values()].filter(({ every }) => every !== undefined)
      if (ofState.length === 0) return
      enter()
      for (const rule of skipped) {
        tables.dropState(rule)
        running.delete(rule)
      }
      for (const of of ofState) {
        const reading = readings.find(it => isReadBy(of, it) && blocks.hash(it.number) === it.hash.toLowerCase())
        const upto = running.get(of.rule)?.upto ?? tables.state(of.rule)?.upto
        for (const { entries, ...block } of decided(of.every!, upto, reading))
          stepRule(of, { receivedAt, ...block }, entries && { entries }, chain)
      }
    },
    /** Forgets what blocks above have done; returns alerts that were over, and are not. */
    back(to: number): number[] {
      enter()
      running.clear()
      return tables.back(to)
    },
    tells: (rule: number): boolean => rules.get(rule)?.notifyResolved === true,
    notes: () => notes,
  }
}

const isReadBy = (of: WindowRule, { rule, revision }: Pick<ReadingRows, 'rule' | 'revision'>): boolean =>
  rule === of.rule && revision === of.revision

/** The match of an alert of windows: the block's, with the document of the last match. */
export const matchInBlock = (
  of: Omit<WindowRule, 'spec'>,
  { hash, number, receivedAt }: SteppedBlock,
  { _id, _type, source }: WindowSource,
) => ({
  ...{ rule: of.rule, revision: of.revision, targetType: of.targetType, confirmations: of.confirmations },
  ...{ notifyPending: of.notifyPending, block: number, blockHash: hash, entity: { _id, _type }, source, receivedAt },
  network: of.network,
})

const nameOfFirst = (spec: WindowRule['spec']): string =>
  (isOfWindows(spec) && spec.conditions.find(({ aggregate }) => aggregate === 'First')?.name) || ''

/** What an alert shows of the windows of its key. */
const shownWindow = (
  { spec }: WindowRule,
  window: RuleWindow,
  now: WindowBlock,
  { key, ids, from, first }: OpenedKey,
): AlertWindow => {
  const { conditions, matches } = window.show(key)
  return {
    key: namedKey(spec, key, first),
    window: { fromBlock: from ?? now.number, toBlock: now.number, ...(isOfWindows(spec) && spec.within) },
    ...{ conditions, matches, entities: ids, late: false },
  }
}

/** What the owner of the rule should know of its windows; undefined: nothing. */
const noteOn = (
  { limits }: WindowRule,
  { window, refused, since }: Pick<RunningWindow, 'window' | 'refused' | 'since'>,
  now: WindowBlock,
): string | undefined => {
  const { keys, rows } = window.size
  if (refused > 0)
    return `Its windows hold ${keys} keys in ${rows} rows, of at most ${limits.keys} and ${limits.rows}: ${refused} times, matches of a key in a block were left out.`
  if (window.isComplete(now)) return undefined
  return `Its windows begin at block ${since}: until one has passed, only what more matches could not undo is decided.`
}

/** One for each episode of a key, by the block that opens it. */
export const windowAlertId = (
  { rule, revision, blockHash, network }: Pick<RuleMatch, 'rule' | 'revision' | 'blockHash' | 'network'>,
  chain: unknown,
  key: string,
): string =>
  `alert_${hash('sha256', JSON.stringify([rule, revision, chain, blockHash.toLowerCase(), 'window', key, ...(network === undefined ? [] : [network])])).slice(0, 32)}`
