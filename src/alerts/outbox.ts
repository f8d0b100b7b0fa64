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

type EntryRow = AlertRow & { entry: number; type: number; repeat: number | null }

export type Outbox = ReturnType<typeof openOutbox>

export const openOutbox = (store: string, native?: string) => {
  const db = openForReading(store, native)
  // Of a repeat that was undone, nothing is told.
  const after = db.prepare<[number, number], EntryRow>(
    `SELECT o.n AS entry, o.type, r.block AS repeat, a.*, ifnull(r.windows, a.windows) AS windows, ifnull(r.document, a.document) AS document,
       ifnull(r.source, a.source) AS source, ifnull(r.told, a.changed_at) AS changed_at
     FROM outbox o JOIN alert a ON a.n = o.alert LEFT JOIN repeat r ON r.n = o.repeat
     WHERE o.n > ? AND (o.repeat IS NULL OR r.n IS NOT NULL) ORDER BY o.n LIMIT ?`,
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
      after.all(n, limit).map(({ entry, type, repeat, ...row }) => ({
        ...{ n: entry, type: TYPES[type]!, alert: toAlert(row) },
        ...(repeat !== null && { repeat }),
      })),
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
