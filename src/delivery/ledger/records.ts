import { refuse } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import type { Action } from '../../rules/rule.ts'
import type { MessageType } from '../channels/channel.ts'
import { atomically, type Db } from './file.ts'

/**
 * `dead`: a dead letter, whose tries are used up or which its receiver refused. `silenced`: stored
 * as cancelled, with its silence.
 */
export type DeliveryState = 'queued' | 'delivered' | 'dead' | 'cancelled' | 'silenced'

/** A delivery as shown. Times are epoch milliseconds. */
export interface DeliveryInfo {
  id: number
  network: string
  alert: string
  type: MessageType
  rule: number
  /** Place of the action in the rule's list of alerts. */
  action: number
  channel: Action['type']
  /** Without its secrets. */
  target: string
  state: DeliveryState
  /** Since it was last queued. */
  tries: number
  /** Next try; null if there is none. */
  nextAt: number | null
  createdAt: number
  deliveredAt: number | null
  lastStatus: number | null
  lastError: string | null
  /** Number of the silence by which it was not sent. */
  silence: number | null
}

export interface AttemptInfo {
  n: number
  at: number
  latencyMs: number
  outcome: 'delivered' | 'retry' | 'gone' | 'refused' | 'aborted'
  status: number | null
  error: string | null
  /** Beginning of the receiver's answer. */
  head: string | null
  nextAt: number | null
  /** Deliveries in this attempt. */
  combined: number
}

export type DeliveryRecord = DeliveryInfo & { attempts: AttemptInfo[] }

export interface ListFilter {
  dead?: boolean | undefined
  rule?: number | undefined
  alert?: string | undefined
  before?: number | undefined
  limit: number
}

/** Selects deliveries to resend by all filters; `from` and `to` are creation times, inclusive. */
export interface RedeliverFilter {
  account?: number | undefined
  rule?: number | undefined
  channel?: string | undefined
  target?: string | undefined
  alert?: string | undefined
  delivery?: number | undefined
  from?: number | undefined
  to?: number | undefined
  dead?: boolean | undefined
}

/** A receiver whose last delivery failed. Times are epoch milliseconds. */
export interface Failed {
  account: number
  /** One of the rules that notify it. */
  rule: number
  channel: Action['type']
  /** Unique in its channel; several receivers may share a `target`. */
  receiver: string
  /** Without its secrets. */
  target: string
  error: string
  /** Status of its last answer, if any. */
  status: number | null
  /** Time of the first failure since the last success. */
  since: number
  /** Text of the last failure. */
  at: number
}

export const SELECT_DELIVERIES = `SELECT d.id, d.network, d.alert, d.type, d.rule, d.action, r.channel, r.shown AS target,
    iif(d.silence IS NULL, d.state, 'silenced') AS state, d.tries,
    CASE d.state WHEN 'queued' THEN d.next_at END AS nextAt, d.created_at AS createdAt, d.delivered_at AS deliveredAt,
    d.last_status AS lastStatus, d.last_error AS lastError, d.silence
  FROM delivery d JOIN receiver r ON r.id = d.receiver`

const ATTEMPTS = `SELECT n, at, latency_ms AS latencyMs, outcome, status, error, head, next_at AS nextAt, combined FROM attempt
  WHERE delivery = ? ORDER BY n`

/** SQL condition of each filter. */
const REDELIVER = {
  account: 'account = @account',
  rule: 'rule = @rule',
  alert: 'alert = @alert',
  delivery: 'id = @delivery',
  from: 'created_at >= @from',
  to: 'created_at <= @to',
  channel: 'receiver IN (SELECT id FROM receiver WHERE channel = @channel)',
  target: 'receiver IN (SELECT id FROM receiver WHERE shown = @target)',
} satisfies Record<Exclude<keyof RedeliverFilter, 'dead'>, string>
const LIST = { rule: 'd.rule = @rule', alert: 'd.alert = @alert', before: 'd.id < @before' }

const sqlConditions = <K extends string>(
  conditions: Record<K, string>,
  filter: { [N in NoInfer<K>]?: unknown },
): string[] => (Object.keys(conditions) as K[]).filter(name => filter[name] !== undefined).map(name => conditions[name])

export const createRecords = (db: Db, now: () => number, limits: Limits) => {
  const attempts = db.prepare<[number], AttemptInfo>(ATTEMPTS)
  const count = (sql: string) => db.prepare<unknown[], number>(sql).pluck()
  const ofAlerts = db.prepare<[{ alerts: string; rule: number }], DeliveryInfo>(
    // Uses the index of alerts: a rule may have very many deliveries.
    `${SELECT_DELIVERIES} WHERE +d.rule = @rule AND d.alert IN (SELECT value FROM json_each(@alerts)) ORDER BY d.id`,
  )
  const countOf = count('SELECT triggered FROM rule_count WHERE rule = ?')
  const queuedOf = ({ account, rule }: RedeliverFilter): number =>
    account === undefined
      ? count(
          `SELECT count(*) FROM delivery WHERE state = 'queued' AND account = (SELECT account FROM delivery WHERE rule = ? LIMIT 1)`,
        ).get(rule)!
      : count(`SELECT count(*) FROM delivery WHERE account = ? AND state = 'queued'`).get(account)!

  const attemptsOf = (delivery: number): AttemptInfo[] => attempts.all(delivery)

  return {
    attemptsOf,

    /** Deliveries of alerts with all attempts, in order of creation. */
    deliveriesOf: (rule: number, alerts: readonly string[]): DeliveryRecord[] =>
      ofAlerts.all({ alerts: JSON.stringify(alerts), rule }).map(it => ({ ...it, attempts: attemptsOf(it.id) })),

    /** The newest first. */
    list({ dead = false, ...filter }: ListFilter): DeliveryInfo[] {
      const conditions = [
        ...(dead ? ["d.state = 'dead' AND d.type <> 'alert.test'"] : []),
        ...sqlConditions(LIST, filter),
      ]
      const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
      return db
        .prepare<[object], DeliveryInfo>(`${SELECT_DELIVERIES} ${where} ORDER BY d.id DESC LIMIT @limit`)
        .all(filter)
    },

    /**
     * Queues deliveries again and returns their number, except cancelled ones, tests and replaced
     * messages. A rule or account is refused if its account would exceed its limit.
     */
    redeliver({ dead = false, ...filter }: RedeliverFilter): number {
      const { account, rule } = filter
      if (!dead && sqlConditions(REDELIVER, { ...filter, account: undefined }).length === 0)
        throw refuse(
          'redeliver_all',
          'Name what to deliver again: a rule, an alert, a delivery, a range, or dead deliveries.',
        )
      const conditions = [...sqlConditions(REDELIVER, filter), ...(dead ? ["state = 'dead'"] : [])]
      const where = `${conditions.join(' AND ')} AND (state <> 'cancelled' OR silence IS NOT NULL) AND overtaken = 0 AND type <> 'alert.test'`
      const most = limits.queuedDeliveries
      const values = { ...filter, most, now: now() }
      return atomically(db, () => {
        if (rule !== undefined || account !== undefined) {
          const more = count(
            `SELECT count(*) FROM (SELECT 1 FROM delivery WHERE ${where} AND state <> 'queued' LIMIT @most + 1)`,
          ).get(values)!
          if (more + queuedOf(filter) > most) throw overLimit('queuedDeliveries', limits)
        }
        for (const sql of [
          `DELETE FROM disabled WHERE (rule, destination) IN (SELECT DISTINCT rule, destination FROM delivery WHERE ${where})`,
          // An explicit request is served for paused rules as well.
          `INSERT OR IGNORE INTO pause_done (rule) SELECT DISTINCT rule FROM delivery WHERE ${where}`,
        ])
          db.prepare(sql).run(values)
        return db
          .prepare(
            `UPDATE delivery SET state = 'queued', tries = 0, next_at = @now, queued_at = @now, settled_at = NULL, silence = NULL, group_id = NULL WHERE ${where}`,
          )
          .run(values).changes
      })
    },

    /** Number of alerts by rule; rules without alerts are omitted. */
    counts: (rules?: readonly number[]): Map<number, number> =>
      new Map(
        rules === undefined
          ? db.prepare<[], [number, number]>('SELECT rule, triggered FROM rule_count').raw().all()
          : rules.flatMap(rule => {
              const found = countOf.get(rule)
              return found === undefined ? [] : [[rule, found] as const]
            }),
      ),

    /** Queued deliveries by channel, with the earliest due time. */
    waiting: () =>
      db
        .prepare<[], { channel: Action['type']; count: number; dueAt: number }>(
          `SELECT r.channel, sum(q.count) AS count, min(q.due) AS dueAt FROM (
             SELECT receiver, count(*) AS count, min(next_at) AS due FROM delivery INDEXED BY delivery_waiting WHERE state = 'queued' GROUP BY receiver
           ) q JOIN receiver r ON r.id = q.receiver GROUP BY r.channel ORDER BY r.channel`,
        )
        .all(),

    dead: () =>
      count(
        `SELECT (SELECT count(*) FROM delivery INDEXED BY delivery_dead WHERE state = 'dead')
           - (SELECT count(*) FROM delivery INDEXED BY delivery_test WHERE type = 'alert.test' AND state = 'dead')`,
      ).get()!,

    /** Failing receivers, longest first. */
    failing: () =>
      db
        .prepare<[], Failed>(
          'SELECT account, channel, receiver, rule, target, error, status, since, at FROM failing ORDER BY since',
        )
        .all(),

    setFailing: (receivers: readonly Failed[]) =>
      atomically(db, () => {
        db.prepare('DELETE FROM failing').run()
        const add = db.prepare(
          `INSERT INTO failing (account, channel, receiver, rule, target, error, status, since, at)
           VALUES (@account, @channel, @receiver, @rule, @target, @error, @status, @since, @at)`,
        )
        for (const receiver of receivers) add.run(receiver)
      }),
  }
}
