import { hash } from 'node:crypto'
import { createBlocks, knownHash, newestBlock } from '../engine/blocks.ts'
import type { TargetType } from '../rules/rule.ts'
import type { Db } from '../sqlite/database.ts'
import { type AcrossChange, type AcrossRule, createAcrossStore } from './across-store.ts'
import { type AlertState, dueOf, type OutboxEntry, type RuleMatch, STATES, TYPES } from './alert.ts'
import { type AlertToChange, createAlertTable } from './alert-table.ts'
import { createMarks, type FinalityMarks } from './marks.ts'
import { createQuietTimes } from './quiet.ts'
import type { ReadingRows } from './reading-blocks.ts'
import type { EarlierRows } from './rebuild.ts'
import { createRepeatTable } from './repeat-table.ts'
import { createSequenceStore, type SequenceRule } from './sequences.ts'
import type { TakenSteps } from './step-rebuild.ts'
import { createWindowStore, type WindowRows, type WindowRule } from './windows.ts'

export type AlertCounts = Partial<Record<TargetType, Record<AlertState, number>>>

export interface AlertUpdate {
  hits: readonly RuleMatch[]
  /** Rules whose alerts do not fire for now, all of them; absent where nothing changed. */
  paused?: readonly number[]
  /** Rules that no longer exist: their pending alerts are withdrawn. */
  gone?: readonly number[]
  /** Rules that are matched from here on, and the history that is still to be searched for them. */
  scans?: readonly Scan[]
  /** All rules with `when` that are matched; absent where nothing changed. */
  windows?: readonly WindowRule[]
  /** All rules with steps that are matched; absent where nothing changed. */
  sequences?: readonly SequenceRule[]
  /** All rules over several networks that are matched; absent where nothing changed. */
  across?: readonly AcrossRule[]
  /** What was decided of them. */
  acrossChanges?: readonly AcrossChange[]
  /** Rows of stored blocks for rules with windows that did not look at them. */
  earlier?: readonly EarlierRows[]
  /** What rules with steps take of stored blocks at which they did not look. */
  taken?: readonly TakenSteps[]
  /** The stored blocks in their order, where there are rules with `when`. */
  blocks?: readonly WindowRows[]
  /** What rules with `when` read of state. */
  readings?: readonly ReadingRows[]
  /** Finality of nodes, where it changed. Without it no alert that waits for a mark fires. */
  marks?: FinalityMarks
}

export interface Scan {
  rule: number
  /** `startBlock` of the rule: a scan that was requested again has another one. */
  start: number
  /** First block that is still to be looked at; above `last`: none is. */
  next: number
  /** `OF_STATE`: the rule reads state from `next` on, and no history is searched for it. */
  last: number
  /** The block that was read last: if the chain has left it, `next` is not stored. */
  read?: { block: number; hash: string }
}

/** `last` in the scan of a rule that reads state. */
export const OF_STATE = -2

/** To be called within the transaction that writes or removes the blocks: then no alert is lost. */
export type AlertStore = ReturnType<typeof createAlertStore>

/** `now` in epoch milliseconds. */
export const createAlertStore = (db: Db, now: () => number = Date.now) => {
  const alerts = createAlertTable(db)
  const repeats = createRepeatTable(db)
  const put = prepareOutbox(db)
  const saveScan = db.prepare('INSERT OR REPLACE INTO rule (id, start, next, last) VALUES (?, ?, ?, ?)')
  const forgetScan = db.prepare('DELETE FROM rule WHERE id = ?')
  const readAgain = db.prepare<[number, number, number]>('UPDATE rule SET next = ? WHERE last = ? AND next > ?')
  const blocks = createBlocks(db)
  const newest = newestBlock(db)
  const quiet = createQuietTimes(db)
  const marks = createMarks({ blocks: { hash: knownHash(db, blocks), floor: blocks.floor }, newest })
  let paused: ReadonlySet<number> = new Set()

  const { counts, count } = createAlertCounts()
  const become = ({ n, target }: Pick<AlertToChange, 'n' | 'target'>, state: AlertState, at: number) => {
    alerts.setState(n, state, at)
    count(target, state)
  }

  const add = (hit: RuleMatch, chain: unknown, at: number) => {
    // A match in history may have been reorganised away since.
    if (blocks.hash(hit.block) !== hit.blockHash.toLowerCase()) return
    const id = alertId(hit, chain)
    const known = hit.quiet && alerts.find(id)
    if (hit.quiet && !(known && isAlive(known)) && quiet.covers(hit)) return
    addWithId(hit, id, at)
  }

  /** Returns the number of the alert. */
  const addWithId = (hit: RuleMatch, id: string, at: number): number => {
    const isNew = alerts.insert(id, hit, at)
    const alert = alerts.find(id)!
    if (isNew) count(hit.targetType, 'pending')
    else {
      const lost = !isAlive(alert)
      const isToken = hit.entity._type === 'token'
      if (lost ? isToken || hit.when : isToken && hit.block < alert.block) alerts.move(alert.n, hit)
      // The chain has come back to a block that it had left.
      if (!lost) return alert.n
      become(alert, 'pending', at)
    }
    quiet.note(hit)
    if (hit.notifyPending && hit.confirmations !== 0) put(alert.n, 'pending')
    return alert.n
  }
  const windows = createWindowStore(db, { open: (match, id) => addWithId(match, id, now()) })
  const sequences = createSequenceStore(db, (match, id) => addWithId(match, id, now()))

  const confirm = (from: number, to: number, at: number) => {
    for (const alert of alerts.due(from, to)) {
      if (paused.has(alert.rule)) continue
      become(alert, 'confirmed', at)
      put(alert.n, 'confirmed')
    }
    for (const { n, alert, rule } of repeats.due(from, to)) {
      if (paused.has(rule)) continue
      repeats.setTold(n, at)
      put(alert, 'repeated', n)
    }
    for (const alert of alerts.over(from, to)) {
      if (resolve(alert, at)) alerts.settle(alert.n)
    }
  }

  const resolve = (alert: AlertToChange, at: number): boolean => {
    if (paused.has(alert.rule)) return false
    become(alert, 'resolved', at)
    if (windows.tells(alert.rule) || across.tells(alert.rule)) put(alert.n, 'resolved')
    return true
  }
  const reopen = (alert: AlertToChange, at: number) => {
    if (STATES[alert.state] !== 'resolved') return
    become(alert, 'confirmed', at)
    if (windows.tells(alert.rule) || across.tells(alert.rule)) put(alert.n, 'reopened')
  }
  const takeBack = (alert: AlertToChange, at: number) => {
    const state = STATES[alert.state]
    if (state === 'pending') withdraw(alert, at)
    else if (state === 'confirmed' || state === 'resolved') {
      become(alert, 'retracted', at)
      put(alert.n, 'retracted')
    }
  }

  const withdraw = (alert: Pick<AlertToChange, 'n' | 'target' | 'notify'>, at: number) => {
    become(alert, 'withdrawn', at)
    if (alert.notify) put(alert.n, 'retracted')
  }

  const changeAt = (change: (alert: AlertToChange, at: number) => void) => (n: number) => {
    const alert = alerts.at(n)
    if (alert) change(alert, now())
  }
  const across = createAcrossStore(db, {
    open: (match, id) => addWithId(match, id, now()),
    ...{ takeBack: changeAt(takeBack), resolve: changeAt(resolve), reopen: changeAt(reopen) },
  })

  return {
    /** After blocks were stored or history was searched: adds hits, and confirms what is due. */
    stored({ hits, paused: nowPaused, gone = [], scans = [], blocks: all, marks: told, ...rules }: AlertUpdate) {
      const at = now()
      if (told) marks.tell(told)
      if (nowPaused) paused = new Set(nowPaused)
      for (const rule of gone) {
        for (const alert of alerts.pendingOf(rule)) withdraw({ ...alert, notify: 0 }, at)
        forgetScan.run(rule)
        windows.gone(rule)
        sequences.gone(rule)
        across.gone(rule)
      }
      if (rules.windows) windows.set(rules.windows)
      if (rules.sequences) sequences.set(rules.sequences)
      if (rules.across) across.set(rules.across, paused)
      for (const { rule, start, next, last, read } of scans)
        if (!read || blocks.hash(read.block) === read.hash) saveScan.run(rule, start, next, last)
      if (hits.length > 0) {
        const chain = blocks.chainId() ?? null
        for (const hit of hits) add(hit, chain, at)
      }
      for (const one of rules.earlier ?? []) windows.fill(one)
      for (const one of rules.taken ?? []) sequences.fill(one)
      if (all) for (const one of [windows, sequences, across]) one.step(all, blocks.chainId() ?? null)
      across.take(rules.acrossChanges ?? [])
      const skipped = scans.filter(({ last, read }) => last === OF_STATE && !read).map(({ rule }) => rule)
      windows.read(rules.readings ?? [], skipped, blocks.chainId() ?? null, at)
      confirm(0, newest(), at)
      const reached = marks.reached()
      for (const [tag, height] of reached) confirm(dueOf(0, tag), dueOf(height, tag), at)
      across.finality(reached)
    },

    /** Reorganisation: withdraws or retracts the alerts of all blocks above this one. */
    retractAbove(to: number) {
      const at = now()
      marks.lost(to)
      quiet.drop(to)
      readAgain.run(to + 1, OF_STATE, to + 1)
      for (const alert of alerts.above(to)) takeBack(alert, at)
      across.back(to)
      const reopened = windows.back(to)
      sequences.back()
      for (const n of reopened) changeAt(reopen)(n)
    },

    counts: (): AlertCounts => counts,
    /** What the owners of rules with windows should know, by rule. */
    notes: (): ReadonlyMap<number, string> => new Map([...windows.notes(), ...sequences.notes(), ...across.notes()]),
  }
}

/** `repeat`: number of the repeat that is told. */
const prepareOutbox = (db: Db) => {
  const add = db.prepare('INSERT INTO outbox (alert, type, repeat) VALUES (?, ?, ?)')
  return (alert: number, type: OutboxEntry['type'], repeat: number | null = null) =>
    void add.run(alert, TYPES.indexOf(type), repeat)
}

const createAlertCounts = () => {
  const counts: AlertCounts = {}
  const count = (target: TargetType, state: AlertState) => {
    counts[target] ??= { pending: 0, confirmed: 0, withdrawn: 0, retracted: 0, resolved: 0 }
    counts[target][state]++
  }
  return { counts, count }
}

export const readScans = (db: Db): Map<number, Scan> => {
  const rows = db.prepare<[], Scan>('SELECT id AS rule, start, next, last FROM rule').all()
  return new Map(rows.map(scan => [scan.rule, scan]))
}

const isAlive = ({ state }: Pick<AlertToChange, 'state'>): boolean =>
  STATES[state] === 'pending' || STATES[state] === 'confirmed'

/** The same alert has the same id however often it is found; a token is new once. */
export const alertId = (
  {
    rule,
    revision,
    blockHash,
    entity: { _type, _id },
    network,
  }: Pick<RuleMatch, 'rule' | 'revision' | 'blockHash' | 'entity' | 'network'>,
  chain: unknown,
): string => {
  const block = _type === 'token' ? null : blockHash.toLowerCase()
  return `alert_${hash('sha256', JSON.stringify([rule, revision, chain, block, _type, _id, ...(network === undefined ? [] : [network])])).slice(0, 32)}`
}
