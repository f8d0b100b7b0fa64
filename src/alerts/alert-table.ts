import type { TargetType } from '../rules/rule.ts'
import type { Db } from '../sqlite/database.ts'
import { type AlertState, dueOf, NOT_DUE, type RuleMatch, STATES, toStored } from './alert.ts'

/** What changes of state need of an alert. */
export interface AlertToChange {
  n: number
  state: number
  rule: number
  notify: number
  target: TargetType
}

/** The table of alerts, and what of their episodes is due. */
export const createAlertTable = (db: Db) => {
  const insert = db.prepare(
    `INSERT INTO alert (id, rule, revision, target, confirmations, notify, block, block_hash, due, kind, document, source, state, received_at, changed_at, windows)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  )
  const find = db.prepare<[string], AlertToChange & { block: number }>(
    'SELECT n, state, rule, notify, target, block FROM alert WHERE id = ?',
  )
  const move = db.prepare(
    'UPDATE alert SET block = ?, block_hash = ?, due = ?, source = ?, received_at = ?, windows = ? WHERE n = ?',
  )
  const setState = db.prepare('UPDATE alert SET state = ?, changed_at = ? WHERE n = ?')
  const due = db.prepare<[number, number], AlertToChange>(
    'SELECT n, state, rule, notify, target FROM alert WHERE state = 0 AND due BETWEEN ? AND ? ORDER BY due, n',
  )
  const above = db.prepare<[number], AlertToChange>(
    'SELECT n, state, rule, notify, target FROM alert WHERE block > ? AND state IN (0, 1, 4) ORDER BY n',
  )
  const pendingOf = db.prepare<[number], AlertToChange>(
    'SELECT n, state, rule, notify, target FROM alert WHERE rule = ? AND state = 0',
  )
  const over = db.prepare<[number, number], AlertToChange>(
    `SELECT a.n, a.state, a.rule, a.notify, a.target FROM episode e JOIN alert a ON a.n = e.alert
     WHERE e.due BETWEEN ? AND ? AND a.state = 1 ORDER BY e.due, a.n`,
  )
  const settled = db.prepare('UPDATE episode SET due = NULL WHERE alert = ?')
  const byNumber = db.prepare<[number], AlertToChange>('SELECT n, state, rule, notify, target FROM alert WHERE n = ?')

  return {
    /** Adds an alert as pending; returns whether its id is new. */
    insert(id: string, hit: RuleMatch, at: number): boolean {
      const { rule, revision, targetType, confirmations, block, entity, source, receivedAt } = hit
      const added = insert.run(
        ...[id, rule, revision, targetType, toStored(confirmations), hit.notifyPending ? 1 : 0],
        ...[block, blockHashBytes(hit), dueOfMatch(hit)],
        ...[entity._type, entity._id, source, receivedAt, at, storedWindows(hit)],
      )
      return added.changes > 0
    },
    find: (id: string): (AlertToChange & { block: number }) | undefined => find.get(id),
    at: (n: number): AlertToChange | undefined => byNumber.get(n),
    /** The match was found in another block. */
    move: (n: number, hit: RuleMatch) =>
      move.run(
        ...[hit.block, blockHashBytes(hit), dueOfMatch(hit), hit.source, hit.receivedAt],
        ...[storedWindows(hit), n],
      ),
    setState: (n: number, state: AlertState, at: number) => setState.run(STATES.indexOf(state), at, n),

    due: (from: number, to: number): AlertToChange[] => due.all(from, to),
    /** Confirmed alerts whose episodes have ended for good. */
    over: (from: number, to: number): AlertToChange[] => over.all(from, to),
    settle: (n: number) => settled.run(n),
    pendingOf: (rule: number): AlertToChange[] => pendingOf.all(rule),
    /** Alerts of blocks above this one that a reorganisation takes back. */
    above: (block: number): AlertToChange[] => above.all(block),
  }
}

const dueOfMatch = ({ block, confirmations, waits }: RuleMatch): number =>
  waits ? NOT_DUE : dueOf(block, confirmations)
const storedWindows = ({ when }: RuleMatch): string | null => (when ? JSON.stringify(when) : null)
const blockHashBytes = ({ blockHash }: RuleMatch): Buffer => Buffer.from(blockHash.slice(2), 'hex')
