import { createBlocks } from '../engine/blocks.ts'
import type { Db } from '../sqlite/database.ts'
import type { MergedEntry, UnseenUntil } from '../windows/merged.ts'
import type { StepMatch } from '../windows/sequence.ts'
import type { WindowLimits } from '../windows/window.ts'
import { createAcrossGaps } from './across-gaps.ts'
import type { NetworkHeads } from './across-reader.ts'
import { createStrandedAlerts } from './across-stranded.ts'
import { type AlertWindow, dueOf, NOT_DUE, type RuleMatch } from './alert.ts'
import { createFinalHeights } from './marks.ts'
import { createRuleMemory } from './rule-memory.ts'
import type { StepRows } from './sequences.ts'
import { createWindowTables, newWindowState, type WindowState } from './window-tables.ts'
import type { RuleRows, WindowRows } from './windows.ts'

/** A rule over several networks, as the writer of one of them needs it. */
export interface AcrossRule {
  rule: number
  /** `matching` of the rule. */
  revision: number
  start: number
  notifyResolved: boolean
  limits: WindowLimits
}

/** What was decided of a rule over all its networks, as far as it concerns this one. */
export interface AcrossChange {
  rule: number
  revision: number
  opened: { id: string; match: RuleMatch; key: string | null; at: number }[]
  /** Alerts that are stored and show something else. */
  shown: { id: string; when: AlertWindow }[]
  ended: { id: string; at: number; shown: NonNullable<AlertWindow['ended']> }[]
  /** Ids of alerts whose episodes have not ended after all. */
  reopened: string[]
  /** Ids of alerts that are none after all. */
  withdrawn: string[]
  /** Up to where all of this is decided. */
  decided: number
  /** Before this moment, all networks are as deep as the rule wants. */
  settled: number
  heads: NetworkHeads
  /** Rows from this moment on are still needed. */
  kept: number
}

interface AlertsOfAcross {
  /** Returns the number of the alert. */
  open(match: RuleMatch, id: string): number
  takeBack(alert: number): void
  reopen(alert: number): void
  resolve(alert: number): void
}

interface GatheredState extends WindowState {
  /** Entries that are stored. */
  rows: number
}

/**
 * What this network has for rules over several ones: the rows of its blocks, which decide nothing by
 * themselves, and the alerts that were found to open in its blocks.
 */
export const createAcrossStore = (db: Db, alerts: AlertsOfAcross) => {
  const tables = createWindowTables(db, 'across')
  const blocks = createBlocks(db)
  const memory = createRuleMemory<AcrossRule, GatheredState>(tables)
  const { rules, running, notes, enter } = memory
  const stranded = createStrandedAlerts(db, tables)
  const gaps = createAcrossGaps(db, tables)
  const countRows = prepareRowCount(db)
  const numberOf = db.prepare<[string], number>('SELECT n FROM alert WHERE id = ?').pluck()
  const put = db.prepare(
    'INSERT OR REPLACE INTO across_alert (alert, rule, key, opened, ended, due) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const drop = db.prepare('DELETE FROM across_alert WHERE alert = ?')
  const end = db.prepare('UPDATE across_alert SET ended = ? WHERE alert = ?')
  const show = db.prepare(
    `UPDATE alert SET windows = iif(windows -> '$.ended' IS NULL, @when, json_set(@when, '$.ended', windows -> '$.ended')) WHERE id = @id`,
  )
  const showEnd = db.prepare("UPDATE alert SET windows = json_set(windows, '$.ended', json(?)) WHERE n = ?")
  const release = db.prepare(
    `UPDATE alert SET due = x.due FROM across_alert x
     WHERE x.alert = alert.n AND x.rule = ? AND x.opened < ? AND alert.state = 0 AND alert.due = ${NOT_DUE}`,
  )
  const over = db
    .prepare<[number, number], number>(
      `SELECT a.n FROM across_alert x JOIN alert a ON a.n = x.alert
       WHERE x.rule = ? AND x.key IS NOT NULL AND x.ended < ? AND a.state = 1 ORDER BY x.ended, a.n`,
    )
    .pluck()
  const save = db.prepare('INSERT OR REPLACE INTO across (rule, revision, heads, decided, kept) VALUES (?, ?, ?, ?, ?)')
  const keptOf = db.prepare<[number], number>('SELECT kept FROM across WHERE rule = ?').pluck()
  const forget = prepareForget(db)
  const saveHeights = createFinalHeights(db)
  const dropAbove = db.prepare('DELETE FROM across_alert WHERE alert IN (SELECT n FROM alert WHERE block > ?)')

  const stateFor = (of: AcrossRule, block: WindowRows): GatheredState => {
    const { rule, revision } = of
    const known = running.get(rule)
    if (known?.revision === revision) return known
    memory.clearOther(of)
    const made = { ...(tables.state(rule) ?? newWindowState(revision, block)), rows: countRows.get(rule) ?? 0 }
    running.set(rule, made)
    return made
  }

  const gather = (of: AcrossRule, block: WindowRows, entries: readonly (MergedEntry | StepMatch)[]) => {
    const state = stateFor(of, block)
    // Filled later: it stays missing.
    if (block.number <= state.upto) return
    const now = { number: block.number, time: Math.max(block.time, state.clock) }
    const unseen: UnseenUntil = { gap: now.number, until: now.time }
    if (block.number !== state.upto + 1) gaps.note(of.rule, { number: state.upto, time: state.clock }, unseen)
    const taken = entries.slice(0, Math.max(0, of.limits.rows - state.rows))
    // As after a missing block.
    const row = taken.length < entries.length ? [...taken, unseen] : taken
    if (row.length > 0) tables.addRows(of.rule, now, row)
    state.rows += taken.length
    state.refused += entries.length - taken.length
    Object.assign(state, { upto: now.number, clock: now.time })
    tables.saveState(of.rule, state)
    memory.note(of.rule, noteOfLimit(of, state))
  }

  const change = (of: AcrossRule, { opened, shown, ended, reopened, withdrawn, ...found }: AcrossChange) => {
    const { rule } = of
    for (const id of withdrawn) {
      const n = numberOf.get(id)
      if (n === undefined) continue
      drop.run(n)
      alerts.takeBack(n)
    }
    for (const { id, match, key, at } of opened) {
      if (blocks.hash(match.block) !== match.blockHash.toLowerCase()) continue
      const n = alerts.open(match, id)
      put.run(n, rule, key, at, key === null ? at : null, dueOf(match.block, match.confirmations))
    }
    for (const { id, when } of shown) show.run({ id, when: JSON.stringify(when) })
    for (const id of reopened) {
      const n = numberOf.get(id)
      if (n === undefined || end.run(null, n).changes === 0) continue
      tables.forgetEnd(n)
      alerts.reopen(n)
    }
    for (const { id, at, shown } of ended) {
      const n = numberOf.get(id)
      if (n === undefined || end.run(at, n).changes === 0) continue
      showEnd.run(JSON.stringify(shown), n)
    }
    const final = Math.min(found.settled, found.decided)
    release.run(rule, final)
    for (const n of over.all(rule, final)) alerts.resolve(n)
    prune(rule, found.kept)
    save.run(rule, of.revision, JSON.stringify(found.heads), found.decided, found.kept)
  }

  const prune = (rule: number, kept: number) => {
    if (kept === (keptOf.get(rule) ?? 0)) return
    forget(rule, kept)
    running.delete(rule)
  }

  return {
    /** All rules over several networks that are matched from now on. */
    set(all: readonly AcrossRule[], paused: ReadonlySet<number>) {
      memory.set(all)
      stranded.free(rule => rules.has(rule) || paused.has(rule))
    },
    gone: memory.gone,
    step(all: readonly WindowRows[]) {
      if (rules.size === 0) return
      enter()
      for (const block of all) {
        if (blocks.hash(block.number) !== block.hash.toLowerCase()) continue
        const found = new Map<number, RuleRows | StepRows>()
        for (const one of [...block.rules, ...(block.steps ?? [])]) found.set(one.rule, one)
        for (const rule of rules.values())
          if (block.number >= rule.start && block.matched.get(rule.rule) === rule.revision)
            gather(rule, block, storedEntries(found.get(rule.rule), block))
      }
    },
    take(changes: readonly AcrossChange[]) {
      if (changes.length === 0) return
      enter()
      for (const one of changes) {
        const of = rules.get(one.rule)
        if (of?.revision === one.revision) change(of, one)
      }
    },
    /** Before a reorganisation; the windows take back the rows of all rules. */
    back(to: number) {
      enter()
      running.clear()
      gaps.back(to, rules.keys())
      dropAbove.run(to)
    },
    /** The networks that wait for this one read how far it is final. */
    finality(reached: Parameters<typeof saveHeights>[0]) {
      if (rules.size > 0) saveHeights(reached)
    },
    tells: (rule: number): boolean => rules.get(rule)?.notifyResolved === true,
    notes: () => notes,
  }
}

/** Forgets rows, and alerts that are over, of before a moment. */
const prepareForget = (db: Db) => {
  // The last one may say that a gap follows.
  const dropRows = db.prepare(
    `DELETE FROM rule_rows WHERE rule = @rule AND block < (SELECT max(block) FROM rule_rows WHERE rule = @rule AND time < @kept)`,
  )
  const dropSettled = db.prepare(
    `DELETE FROM across_alert WHERE rule = ? AND ended < ? AND alert IN
       (SELECT n FROM alert WHERE state = 4 OR (state = 1 AND across_alert.key IS NULL))`,
  )
  return (rule: number, kept: number) => {
    dropRows.run({ rule, kept })
    dropSettled.run(rule, kept)
  }
}

const prepareRowCount = (db: Db) =>
  db
    .prepare<[number], number | null>(
      'SELECT sum(json_array_length(rows)) FROM rule_rows JOIN row_list ON n = list WHERE rule = ?',
    )
    .pluck()

const storedEntries = (
  found: RuleRows | StepRows | undefined,
  { sources }: WindowRows,
): readonly (MergedEntry | StepMatch)[] => {
  if (found === undefined) return []
  if ('matches' in found) return found.matches
  return found.entries.map((entry, i): MergedEntry => ({ ...entry, last: sources[found.lasts[i]!]!._id }))
}

const noteOfLimit = ({ limits }: AcrossRule, { rows, refused }: GatheredState): string | undefined =>
  refused === 0
    ? undefined
    : `It keeps ${rows} rows of this network, of at most ${limits.rows}: ${refused} times, matches in a block were left out.`
