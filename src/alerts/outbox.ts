import { hashKeys } from '../engine/blocks.ts'
import { openForReading } from '../engine/open.ts'
import { type AlertRow, type AlertState, type OutboxEntry, STATES, type StoredAlert, TYPES, toAlert } from './alert.ts'

/** Times are epoch milliseconds. */
export interface AlertTime {
  n: number
  id: string
  state: AlertState
  block: number
  receivedAt: number
  changedAt: number
}

export interface AlertsPage {
  size: number
  before?: number | undefined
  state?: AlertState | undefined
}

export type Outbox = ReturnType<typeof openOutbox>

export const openOutbox = (store: string, native?: string) => {
  const db = openForReading(store, native)
  const after = db.prepare<[number, number], AlertRow & { entry: number; type: number }>(
    'SELECT o.n AS entry, o.type, a.* FROM outbox o JOIN alert a ON a.n = o.alert WHERE o.n > ? ORDER BY o.n LIMIT ?',
  )
  const alerts = db.prepare<[number, number, number], AlertRow>(
    'SELECT * FROM alert WHERE rule = ? AND n < ? ORDER BY n DESC LIMIT ?',
  )
  const inState = db.prepare<[number, number, number, number], AlertRow>(
    'SELECT * FROM alert WHERE rule = ? AND n < ? AND state = ? ORDER BY n DESC LIMIT ?',
  )
  const times = db.prepare<[number, number, number], Omit<AlertTime, 'state'> & { state: number }>(
    `SELECT n, id, state, block, received_at AS receivedAt, changed_at AS changedAt FROM alert
     WHERE rule = ? AND n < ? ORDER BY n DESC LIMIT ?`,
  )
  const version = db.prepare('PRAGMA data_version').pluck()
  const last = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").pluck()
  return {
    /** Identifies this file: a new file under the same name counts from the beginning. */
    identity: hashKeys(db).join('-'),
    after: (n: number, limit: number): OutboxEntry[] =>
      after.all(n, limit).map(row => ({ n: row.entry, type: TYPES[row.type]!, alert: toAlert(row) })),
    last: (): number => (last.get() as number | undefined) ?? 0,
    /** Changes with each commit to the store. */
    version: (): number => version.get() as number,
    /** Alerts of a rule, newest first; `before` is the number of the last alert seen. */
    alerts(
      rule: number,
      { size, before = Number.MAX_SAFE_INTEGER, state }: AlertsPage,
    ): { n: number; alert: StoredAlert }[] {
      const rows =
        state === undefined ? alerts.all(rule, before, size) : inState.all(rule, before, STATES.indexOf(state), size)
      return rows.map(row => ({ n: row.n, alert: toAlert(row) }))
    },
    times: (rule: number, before: number, limit: number): AlertTime[] =>
      times.all(rule, before, limit).map(row => ({ ...row, state: STATES[row.state]! })),
    close: () => void db.close(),
  }
}
