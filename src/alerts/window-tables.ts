import { timeOfBlock } from '../engine/blocks.ts'
import type { Db } from '../sqlite/database.ts'
import type { WindowEntry } from '../windows/entries.ts'
import type { WindowBlock } from '../windows/window.ts'
import type { AlertWindow } from './alert.ts'

/** What is stored of the windows of a rule, but for their rows. */
export interface WindowState {
  revision: number
  since: number
  sinceTime: number
  floor: number
  upto: number
  clock: number
  /** How often its limits left out matches, also in blocks that the chain has left. */
  refused: number
  /** Sequences that made no alerts, since their blocks had too many. */
  untold: number
}

/** Of a rule that has seen nothing; `first`: the block that it begins with. */
export const newWindowState = (revision: number, { number: first, time }: WindowBlock): WindowState => ({
  ...{ revision, since: first, sinceTime: time, floor: 0, upto: first - 1, clock: 0, refused: 0, untold: 0 },
})

/** Reads the state of a rule, unless it was dropped. */
export const prepareWindowState = (db: Db) =>
  db.prepare<[number], WindowState>(
    'SELECT revision, since, since_time AS sinceTime, floor, upto, clock, refused, untold FROM rule_window WHERE rule = ? AND upto >= 0',
  )

/** Lists of rows, each stored once for all rules that have it in one write. */
const createRowLists = (db: Db) => {
  const insert = db.prepare('INSERT INTO row_list (rows) VALUES (?)')
  const known = new Map<readonly object[], number | bigint>()
  return {
    /** Returns its number. */
    add(entries: readonly object[]): number | bigint {
      const number = known.get(entries) ?? insert.run(JSON.stringify(entries)).lastInsertRowid
      known.set(entries, number)
      return number
    },
    /** Of a write before, that may have failed, nothing counts. */
    begin: () => known.clear(),
  }
}

export type WindowTables = ReturnType<typeof createWindowTables>

/**
 * The tables of windows: the state of each rule, its rows by block, and its episodes. `counter`: the
 * name under which its user counts the writes.
 */
export const createWindowTables = (db: Db, counter: 'windows' | 'sequences' | 'across' = 'windows') => {
  const states = prepareWindowState(db)
  const saveState = db.prepare(
    `INSERT OR REPLACE INTO rule_window (rule, revision, since, since_time, floor, upto, clock, refused, untold)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const rowsOf = db.prepare<[number, number, number], WindowBlock & { rows: string }>(
    `SELECT block AS number, time, rows FROM rule_rows JOIN row_list ON n = list
     WHERE rule = ? AND block > ? AND time > ? ORDER BY block`,
  )
  const lastRow = db
    .prepare<[number, number], number | null>('SELECT max(block) FROM rule_rows WHERE rule = ? AND block <= ?')
    .pluck()
  const addRows = db.prepare('INSERT OR REPLACE INTO rule_rows (rule, block, time, list) VALUES (?, ?, ?, ?)')
  const dropBelow = db.prepare('DELETE FROM rule_rows WHERE rule = ? AND block < ?')
  const dropBetween = db.prepare('DELETE FROM rule_rows WHERE rule = ? AND block BETWEEN ? AND ?')
  const openOf = db.prepare<[number], { key: string; alert: number }>(
    'SELECT key, alert FROM episode WHERE rule = ? AND ended IS NULL',
  )
  const begin = db.prepare('INSERT OR REPLACE INTO episode (alert, rule, key, opened, time) VALUES (?, ?, ?, ?, ?)')
  const end = db.prepare('UPDATE episode SET ended = ?, due = ? WHERE alert = ?')
  const forgetEnded = db.prepare('DELETE FROM episode WHERE rule = ? AND ended < ? AND due IS NULL')
  const holdingOf = db.prepare<[number], { key: string } & WindowBlock>(
    'SELECT key, began AS number, time FROM held WHERE rule = ? AND ended IS NULL ORDER BY began, n',
  )
  const beginHold = db.prepare('INSERT INTO held (rule, key, began, time) VALUES (?, ?, ?, ?)')
  const endHold = db.prepare('UPDATE held SET ended = ? WHERE rule = ? AND key = ? AND ended IS NULL')
  const breakHolds = db.prepare('UPDATE held SET ended = ? WHERE rule = ? AND ended IS NULL')
  const forgetHeld = db.prepare('DELETE FROM held WHERE rule = ? AND ended < ?')
  const dropRepeats = db.prepare('DELETE FROM repeat WHERE block > ?')
  const dropBegun = db.prepare('DELETE FROM held WHERE began > ?')
  const holdAgain = db.prepare('UPDATE held SET ended = NULL WHERE ended > ?')
  const revisionOf = db.prepare<[number], number>('SELECT revision FROM rule_window WHERE rule = ?').pluck()
  // What the rule matches is still known, so that its episodes go on.
  const dropState = db.prepare('UPDATE rule_window SET upto = -1 WHERE rule = ?')
  // What is told of an earlier rule waits for no other network.
  const release = db.prepare(
    'UPDATE alert SET due = x.due FROM across_alert x WHERE x.alert = alert.n AND x.rule = ? AND alert.state = 0',
  )
  const forget = ['rule_window', 'rule_rows', 'episode', 'held', 'across', 'across_alert'].map(table =>
    db.prepare(`DELETE FROM ${table} WHERE rule = ?`),
  )
  // What the outbox has is still told.
  forget.push(db.prepare('DELETE FROM repeat WHERE rule = ? AND told IS NULL'))
  const readWhen = db.prepare<[number], string | null>('SELECT windows FROM alert WHERE n = ?').pluck()
  const saveWhen = db.prepare('UPDATE alert SET windows = ? WHERE n = ?')
  const dropRowsAbove = db.prepare('DELETE FROM rule_rows WHERE block > ?')
  const dropOpened = db.prepare('DELETE FROM episode WHERE opened > ?')
  const reopen = db
    .prepare<[number], number>('UPDATE episode SET ended = NULL, due = NULL WHERE ended > ? RETURNING alert')
    .pluck()
  const forgetEnd = db.prepare("UPDATE alert SET windows = json_remove(windows, '$.ended') WHERE n = ?")
  const lower = db.prepare<[number, number, number]>(
    'UPDATE rule_window SET upto = min(upto, ?), clock = ? WHERE upto > ?',
  )
  // Of what has lost rows that it would still need, nothing is known.
  const emptied = db.prepare('UPDATE rule_window SET upto = -1 WHERE since > upto OR floor > upto')
  const raise = db.prepare(
    `UPDATE rule_window SET since = floor, since_time = ifnull((SELECT time FROM block WHERE number = floor), clock)
     WHERE floor > since`,
  )
  const firstAfter = db
    .prepare<[number, number], number>(
      'SELECT number FROM block WHERE number >= ? AND time > ? ORDER BY number LIMIT 1',
    )
    .pluck()
  const writes = db.prepare<[], number>(`SELECT value FROM meta WHERE key = '${counter}'`).pluck()
  const lists = createRowLists(db)
  const noteWrite = db.prepare(`INSERT OR REPLACE INTO meta (key, value) VALUES ('${counter}', ?)`)

  return {
    state: (rule: number): WindowState | undefined => states.get(rule),
    /** Forgets all that is stored of a rule if that matched something else; returns whether it did. */
    clearOther(rule: number, revision: number): boolean {
      const known = revisionOf.get(rule)
      if (known === undefined || known === revision) return false
      release.run(rule)
      for (const drop of forget) drop.run(rule)
      return true
    },
    saveState: (rule: number, { revision, since, sinceTime, floor, upto, clock, refused, untold }: WindowState) =>
      saveState.run(rule, revision, since, sinceTime, floor, upto, clock, refused, untold),
    /** The entries of each block above and after another one, in their order. */
    *rows<Row = WindowEntry>(rule: number, { number, time }: WindowBlock) {
      for (const { rows, ...block } of rowsOf.iterate(rule, number, time))
        yield { block: block as WindowBlock, entries: JSON.parse(rows) as Row[] }
    },
    /** The same list of several rules is stored once. */
    addRows: (rule: number, { number, time }: WindowBlock, entries: readonly object[]) =>
      addRows.run(rule, number, time, lists.add(entries)),
    /** The last block with rows, up to one. */
    lastRow: (rule: number, upTo: number): number | undefined => lastRow.get(rule, upTo) ?? undefined,
    /** The first stored block from `from` on of a later time. */
    firstAfter: (time: number, from: number): number | undefined => firstAfter.get(from, time),
    /** Drops rows below a block, and what ended below another one: episodes of which nothing is due, and what held. */
    dropBelow(rule: number, below: number, endedBelow: number) {
      dropBelow.run(rule, below)
      forgetEnded.run(rule, endedBelow)
      forgetHeld.run(rule, endedBelow)
    },
    /** Forgets what was seen without a gap; what is open stays so. */
    dropState: (rule: number) => dropState.run(rule),
    dropBetween: (rule: number, from: number, to: number) => dropBetween.run(rule, from, to),
    clear(rule: number) {
      for (const drop of forget) drop.run(rule)
    },

    /** Alerts by the keys of open episodes. */
    open: (rule: number): Map<string, number> => new Map(openOf.all(rule).map(({ key, alert }) => [key, alert])),
    begin: (rule: number, key: string, alert: number, { number, time }: WindowBlock) =>
      begin.run(alert, rule, key, number, time),
    /** Keys that hold but have not opened, in the order of the blocks where they began. */
    holding: (rule: number): [string, WindowBlock][] => holdingOf.all(rule).map(({ key, ...began }) => [key, began]),
    beginHold: (rule: number, key: string, { number, time }: WindowBlock) => beginHold.run(rule, key, number, time),
    endHold: (rule: number, key: string, block: number) => endHold.run(block, rule, key),
    breakHolds: (rule: number, block: number) => breakHolds.run(block, rule),
    /** `due`: where the end counts as final. The alert shows the end, too. */
    end(alert: number, due: number, ended: NonNullable<AlertWindow['ended']>) {
      end.run(ended.block, due, alert)
      const when = JSON.parse(readWhen.get(alert) ?? 'null') as AlertWindow | null
      if (when) saveWhen.run(JSON.stringify({ ...when, ended }), alert)
    },
    /** The alert shows no end. */
    forgetEnd: (alert: number) => forgetEnd.run(alert),
    /** Forgets what blocks above have done; returns the alerts whose episodes had ended there. */
    back(to: number): number[] {
      dropRowsAbove.run(to)
      dropOpened.run(to)
      dropRepeats.run(to)
      dropBegun.run(to)
      holdAgain.run(to)
      lower.run(to, timeOfBlock(db, to) ?? 0, to)
      emptied.run()
      raise.run()
      const reopened = reopen.all(to)
      for (const alert of reopened) this.forgetEnd(alert)
      return reopened
    },

    /** Counts the writes, so that a failed one shows. */
    writes: (): number => writes.get() ?? 0,
    noteWrite(count: number) {
      lists.begin()
      noteWrite.run(count)
    },
  }
}
