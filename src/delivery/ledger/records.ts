import { refuse } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import type { Action } from '../../rules/rule.ts'
import type { MessageType } from '../channels/channel.ts'
import { atomically, type Db } from './file.ts'

export type DeliveryState = 'queued' | 'delivered' | 'dead' | 'cancelled'

/** A delivery as it is shown. Times are epoch milliseconds. */
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
  /** Since it was queued last. */
  tries: number
  /** When it is tried next, null where it is not. */
  nextAt: number | null
  createdAt: number
  deliveredAt: number | null
  lastStatus: number | null
  lastError: string | null
}

export interface AttemptInfo {
  n: number
  at: number
  latencyMs: number
  outcome: 'delivered' | 'retry' | 'gone' | 'refused' | 'aborted'
  status: number | null
  error: string | null
  /** The beginning of what the receiver answered. */
  head: string | null
  nextAt: number | null
  /** Deliveries that went into this one attempt. */
  combined: number
}

export type DeliveryRecord = DeliveryInfo & { attempts: AttemptInfo[] }

export interface ListFilter {
  dead?: boolean | undefined
  rule?: number | undefined
  alert?: string | undefined
  /** Deliveries before this one. */
  before?: number | undefined
  limit: number
}

/** Selects deliveries to send again; all given members must hold, at least one. `from` and `to`: when a delivery was created, inclusive. */
export interface RedeliverFilter {
  account?: number | undefined
  rule?: number | undefined
  /** Channel and target, without secrets, of a receiver. */
  channel?: string | undefined
  target?: string | undefined
  alert?: string | undefined
  delivery?: number | undefined
  from?: number | undefined
  to?: number | undefined
  /** Only dead deliveries. */
  dead?: boolean | undefined
}

/** A receiver that took nothing when it was tried last. Times are epoch milliseconds. */
export interface Failed {
  account: number
  /** One of the rules that notify it. */
  rule: number
  channel: Action['type']
  /** Identifies it within its channel; several receivers may have the same `target`. */
  receiver: string
  /** Without its secrets. */
  target: string
  error: string
  /** HTTP status of its last answer, null where there was none. */
  status: number | null
  /** Time of the first failure since the last success. */
  since: number
  /** Text of the last failure. */
  at: number
}

/** Deliveries as they are shown. */
export const SELECT_DELIVERIES = `SELECT d.id, d.network, d.alert, d.type, d.rule, d.action, r.channel, r.shown AS target, d.state, d.tries,
    CASE d.state WHEN 'queued' THEN d.next_at END AS nextAt, d.created_at AS createdAt, d.delivered_at AS deliveredAt,
    d.last_status AS lastStatus, d.last_error AS lastError
  FROM delivery d JOIN receiver r ON r.id = d.receiver`

const ATTEMPTS = `SELECT n, at, latency_ms AS latencyMs, outcome, status, error, head, next_at AS nextAt, combined FROM attempt
  WHERE delivery = ? ORDER BY n`

/** The condition of each member of a filter. */
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

/** The conditions of what a filter has. */
const sqlConditions = <K extends string>(
  conditions: Record<K, string>,
  filter: { [N in NoInfer<K>]?: unknown },
): string[] => (Object.keys(conditions) as K[]).filter(name => filter[name] !== undefined).map(name => conditions[name])

export const createRecords = (db: Db, now: () => number, limits: Limits) => {
  const attempts = db.prepare<[number], AttemptInfo>(ATTEMPTS)
  const count = (sql: string) => db.prepare<unknown[], number>(sql).pluck()
  const ofAlerts = db.prepare<[{ alerts: string; rule: number }], DeliveryInfo>(
    // By alerts: of a rule there may be very many.
    `${SELECT_DELIVERIES} WHERE +d.rule = @rule AND d.alert IN (SELECT value FROM json_each(@alerts)) ORDER BY d.id`,
  )
  const countOf = count('SELECT triggered FROM rule_count WHERE rule = ?')
  /** Counts queued deliveries of an account, or of a rule's account. */
  const queuedOf = ({ account, rule }: RedeliverFilter): number =>
    account === undefined
      ? count(
          `SELECT count(*) FROM delivery WHERE state = 'queued' AND account = (SELECT account FROM delivery WHERE rule = ? LIMIT 1)`,
        ).get(rule)!
      : count(`SELECT count(*) FROM delivery WHERE account = ? AND state = 'queued'`).get(account)!

  const attemptsOf = (delivery: number): AttemptInfo[] => attempts.all(delivery)

  return {
    attemptsOf,

    /** Deliveries of alerts with every attempt, in order of creation. */
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
     * Queues again what is dead, delivered or waiting, and returns how many those are. Not again: what was cancelled, tests, and messages
     * that a later one has taken the place of, since the receiver would be left with what no longer holds. What is asked for of one rule or
     * account is refused where its account would have more queued than it may.
     */
    redeliver({ dead = false, ...filter }: RedeliverFilter): number {
      const { account, rule } = filter
      if (!dead && sqlConditions(REDELIVER, { ...filter, account: undefined }).length === 0)
        throw refuse(
          'redeliver_all',
          'Name what to deliver again: a rule, an alert, a delivery, a range, or dead deliveries.',
        )
      const conditions = [...sqlConditions(REDELIVER, filter), ...(dead ? ["state = 'dead'"] : [])]
      const where = `${conditions.join(' AND ')} AND state <> 'cancelled' AND overtaken = 0 AND type <> 'alert.test'`
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
          // A request for alerts of a paused rule is served.
          `INSERT OR IGNORE INTO pause_done (rule) SELECT DISTINCT rule FROM delivery WHERE ${where}`,
        ])
          db.prepare(sql).run(values)
        return db
          .prepare(
            `UPDATE delivery SET state = 'queued', tries = 0, next_at = @now, queued_at = @now, settled_at = NULL WHERE ${where}`,
          )
          .run(values).changes
      })
    },

    /** How often each rule has fired; rules that have not are left out. */
    counts: (rules?: readonly number[]): Map<number, number> =>
      new Map(
        rules === undefined
          ? db.prepare<[], [number, number]>('SELECT rule, triggered FROM rule_count').raw().all()
          : rules.flatMap(rule => {
              const found = countOf.get(rule)
              return found === undefined ? [] : [[rule, found] as const]
            }),
      ),

    /** Queued deliveries by channel, and when the earliest was due. */
    waiting: () =>
      db
        .prepare<[], { channel: Action['type']; count: number; dueAt: number }>(
          `SELECT r.channel, sum(q.count) AS count, min(q.due) AS dueAt FROM (
             SELECT receiver, count(*) AS count, min(next_at) AS due FROM delivery INDEXED BY delivery_waiting WHERE state = 'queued' GROUP BY receiver
           ) q JOIN receiver r ON r.id = q.receiver GROUP BY r.channel ORDER BY r.channel`,
        )
        .all(),

    /** Counts dead deliveries. */
    dead: () =>
      count(
        `SELECT (SELECT count(*) FROM delivery INDEXED BY delivery_dead WHERE state = 'dead')
           - (SELECT count(*) FROM delivery INDEXED BY delivery_test WHERE type = 'alert.test' AND state = 'dead')`,
      ).get()!,

    /** Receivers whose last delivery failed, those that have failed longest first. */
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
