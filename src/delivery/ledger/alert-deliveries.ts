import type { StoredAlert } from '../../alerts/alert.ts'
import type { MessageType } from '../channels/channel.ts'
import type { Db } from './file.ts'
import {
  createNewDeliveries,
  type DeliveryTarget,
  type ExpandOptions,
  increase,
  type RuleOf,
} from './new-deliveries.ts'

interface AlertDeliveryRow extends DeliveryTarget {
  id: number
  round: number
  type: MessageType
  state: string
  target: string
  begun_at: number | null
  retracted: number
  group_key: string | null
  group_size: number | null
  repeat: number | null
}

/** Creates deliveries of alerts. Every function runs within a transaction. */
export const createAlertDeliveries = (db: Db) => {
  const adding = createNewDeliveries(db)
  const rowsOf = db.prepare<[string, string], AlertDeliveryRow>(
    `SELECT d.id, d.round, d.type, d.state, d.action, d.rule, d.revision, d.account, d.receiver, d.destination, d.message,
       r.target, r.channel, d.begun_at, d.retracted, d.group_key, d.group_size, d.repeat
     FROM delivery d JOIN receiver r ON r.id = d.receiver
     WHERE d.network = ? AND d.alert = ? AND d.type <> 'alert.test' ORDER BY d.id`,
  )
  const cancel = db.prepare(`UPDATE delivery SET state = 'cancelled', settled_at = ?, last_error = ? WHERE id = ?`)
  const overtake = db.prepare('UPDATE delivery SET overtaken = 1 WHERE id = ?')
  const endRound = db.prepare(
    `UPDATE delivery SET overtaken = 1, retracted = 1 WHERE network = ? AND alert = ? AND round = ? AND type <> 'alert.test'`,
  )
  const neverLeft = db
    .prepare<[number], number>(`SELECT count(*) > 0 AND sum(outcome <> 'refused') = 0 FROM attempt WHERE delivery = ?`)
    .pluck()
  const mayHaveArrived = ({ id, begun_at }: AlertDeliveryRow) => begun_at !== null && neverLeft.get(id) !== 1
  const count = db.prepare(
    'INSERT INTO rule_count (rule, triggered) VALUES (?, 1) ON CONFLICT DO UPDATE SET triggered = triggered + 1',
  )

  const start = (network: string, ruleOf: RuleOf, options: ExpandOptions) => {
    const { channels, now } = options
    const { expansion, add, send } = adding.start(network, ruleOf, options)

    const withdraw = (row: AlertDeliveryRow, why: string) => {
      cancel.run(now, why, row.id)
      increase(expansion.cancelled, row.channel)
    }

    const tell = (alert: StoredAlert, type: ToldType, isAgain = false) => {
      const known = rowsOf.all(network, alert.id)
      const last = known.at(-1)
      const round = last === undefined ? 1 : Math.max(...known.map(it => it.round))
      const current = known.filter(it => it.round === round)
      const isOver = isAgain || current.some(it => it.retracted === 1)
      // Already notified: happens after the store was replaced.
      if (!isOver && current.some(it => TOLD.indexOf(it.type) >= TOLD.indexOf(type))) return
      for (const row of known) {
        overtake.run(row.id)
        if (row.state === 'queued') withdraw(row, `overtaken by ${type}`)
      }
      const rule = ruleOf(alert.rule)
      if (!rule) return
      const next = isOver ? round + 1 : round
      const told = new Map(
        current.flatMap(row => (row.state === 'queued' || mayHaveArrived(row) ? [[row.receiver, row.id]] : [])),
      )
      send(alert, rule, receiver => {
        // Only who was or would have been told of it learns that it is over, whatever the rule is now.
        const original = type === 'alert.resolved' ? told.get(receiver) : 0
        return original === undefined ? undefined : { type, round: next, original }
      })
      if (type === 'alert.confirmed' && !isAgain) count.run(rule.id)
    }

    /** Tells an open alert once more, in place of older repeats. What waits to tell of its opening says the same. */
    const tellAgain = (alert: StoredAlert, repeat: number) => {
      const known = rowsOf.all(network, alert.id)
      const round = Math.max(1, ...known.map(it => it.round))
      const current = known.filter(it => it.round === round)
      const isOld = ({ type, retracted, repeat: told }: AlertDeliveryRow) =>
        type === 'alert.resolved' || retracted === 1 || (told ?? -1) >= repeat
      // Already notified: happens after the store was replaced.
      if (current.some(isOld)) return
      const rule = ruleOf(alert.rule)
      if (!rule) return
      const isOpening = ({ state, type }: AlertDeliveryRow) => state === 'queued' && type !== 'alert.repeated'
      const waiting = new Set(current.filter(isOpening).map(it => it.receiver))
      for (const row of known) {
        if (waiting.has(row.receiver)) continue
        overtake.run(row.id)
        if (row.state === 'queued') withdraw(row, 'overtaken by alert.repeated')
      }
      const original = known.at(-1)?.id ?? 0
      send(alert, rule, receiver =>
        waiting.has(receiver) ? undefined : { type: 'alert.repeated', round, original, repeat },
      )
    }

    /** Notifies only receivers that may have got the alert. */
    const retract = (alert: StoredAlert) => {
      const known = rowsOf.all(network, alert.id)
      const round = Math.max(0, ...known.map(it => it.round))
      const current = known.filter(it => it.round === round)
      if (current.some(it => it.retracted === 1)) return
      const reached = new Map<string, AlertDeliveryRow>()
      for (const row of current) {
        if (mayHaveArrived(row)) reached.set(row.target, row)
        if (row.state === 'queued' || (row.state === 'dead' && row.begun_at === null))
          withdraw(row, 'the alert was retracted')
      }
      endRound.run(network, alert.id, round)
      for (const reachedRow of reached.values()) {
        const { id, rule, revision, account, receiver, destination, message, action, channel } = reachedRow
        const { group_key: key, group_size: size } = reachedRow
        const waitMs = (ruleOf(rule)?.input.config.notify?.group?.wait.seconds ?? 0) * 1_000
        const grouping = key !== null && size !== null ? { key, size, waitMs } : undefined
        const to = { rule, revision, account, receiver, destination, message, action, channel }
        const waits = channels.of({ type: channel }).combines === true
        add(alert, to, { type: 'alert.retracted', round, original: id, waits, ...(grouping && { grouping }) })
      }
    }

    return { expansion, tell, tellAgain, retract }
  }

  return { ...adding, start }
}

type ToldType = 'alert.pending' | 'alert.confirmed' | 'alert.resolved'
/** In their order. */
const TOLD: readonly MessageType[] = ['alert.pending', 'alert.confirmed', 'alert.repeated', 'alert.resolved']
