import { refuse } from '../lib/errors.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import type { Action } from '../rules/rule.ts'
import type { MessageType } from './channel.ts'
import type { Db } from './file.ts'
import { createForget, FORGOTTEN, type Forgotten } from './forget.ts'

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
  /** One of those that tell it. */
  rule: number
  channel: Action['type']
  /** What tells it from others of its channel, which may have the same `target`. */
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

export interface Ledger {
  /** What became of alerts, with every attempt, in order of creation. */
  deliveriesOf(rule: number, alerts: readonly string[]): DeliveryRecord[]
  /** The newest first. */
  list(filter: ListFilter): DeliveryInfo[]
  attemptsOf(delivery: number): AttemptInfo[]
  /**
   * Queues again what is dead, delivered or waiting, and returns how many those are. Not again: what was cancelled, tests, and messages
   * that a later one has taken the place of, since the receiver would be left with what no longer holds. What is asked for of one rule or
   * account is refused where its account would have more queued than it may.
   */
  redeliver(filter: RedeliverFilter): number
  /** How often each rule has fired; rules that have not are left out. */
  counts(rules?: readonly number[]): Map<number, number>
  /** How many deliveries are in each state, by channel. */
  states(): { channel: Action['type']; state: DeliveryState; count: number }[]
  /** Queued deliveries by channel, and when the earliest was due. */
  waiting(): { channel: Action['type']; count: number; dueAt: number }[]
  /** How many were given up. */
  dead(): number
  /** Receivers whose last delivery failed, those that have failed longest first. */
  failing(): Failed[]
  setFailing(receivers: readonly Failed[]): void
  /**
   * Forgets at most `limit` of what was delivered or cancelled before `settledBefore`, or dead since `deadBefore`; returns how many.
   */
  prune(before: { settledBefore: number; deadBefore: number }, limit: number): number
  /** Gives back some room of the file that nothing is in, but for what is soon filled again; whether there is more. */
  shrink(): boolean
  /** The next rule by its number that there are deliveries of. */
  nextRule(after: number): number | undefined
  /** Forgets at most `limit` of what was settled before for a rule that is gone; returns how many. */
  pruneRule(rule: number, before: number, limit: number): number
}

/** Deliveries as they are shown. */
export const SELECT = `SELECT d.id, d.network, d.alert, d.type, d.rule, d.action, r.channel, r.shown AS target, d.state, d.tries,
    CASE d.state WHEN 'queued' THEN d.next_at END AS nextAt, d.created_at AS createdAt, d.delivered_at AS deliveredAt,
    d.last_status AS lastStatus, d.last_error AS lastError
  FROM delivery d JOIN receiver r ON r.id = d.receiver`

/** Pages of 4 kB: what stays free at least, and what is moved together, which takes some 10 ms. */
const LEAST_FREE = 256
const SHRINK_AT_ONCE = 1_024

export const createLedger = (db: Db, now: () => number, limits: Limits): Ledger => {
  const attempts = db.prepare<[number], AttemptInfo>(
    `SELECT n, at, latency_ms AS latencyMs, outcome, status, error, head, next_at AS nextAt, combined FROM attempt
     WHERE delivery = ? ORDER BY n`,
  )
  const ofAlerts = db.prepare<[{ alerts: string; rule: number }], DeliveryInfo>(
    // By alerts: of a rule there may be very many.
    `${SELECT} WHERE +d.rule = @rule AND d.alert IN (SELECT value FROM json_each(@alerts)) ORDER BY d.id`,
  )
  const queuedBeside = db
    .prepare<[number], number>(
      `SELECT count(*) FROM delivery WHERE state = 'queued' AND account = (SELECT account FROM delivery WHERE rule = ? LIMIT 1)`,
    )
    .pluck()
  const queuedOf = db
    .prepare<[number], number>(`SELECT count(*) FROM delivery WHERE account = ? AND state = 'queued'`)
    .pluck()
  const counts = db.prepare<[], [number, number]>('SELECT rule, triggered FROM rule_count').raw()
  const countOf = db.prepare<[number], number>('SELECT triggered FROM rule_count WHERE rule = ?').pluck()
  const states = db.prepare<[], { channel: Action['type']; state: DeliveryState; count: number }>(
    `SELECT r.channel, d.state, count(*) AS count FROM delivery d JOIN receiver r ON r.id = d.receiver
     WHERE d.type <> 'alert.test' GROUP BY 1, 2 ORDER BY 1, 2`,
  )
  const waiting = db.prepare<[], { channel: Action['type']; count: number; dueAt: number }>(
    `SELECT r.channel, sum(q.count) AS count, min(q.due) AS dueAt FROM (
       SELECT receiver, count(*) AS count, min(next_at) AS due FROM delivery INDEXED BY delivery_waiting WHERE state = 'queued' GROUP BY receiver
     ) q JOIN receiver r ON r.id = q.receiver GROUP BY r.channel ORDER BY r.channel`,
  )
  const dead = db
    .prepare<[], number>(
      `SELECT (SELECT count(*) FROM delivery INDEXED BY delivery_dead WHERE state = 'dead')
         - (SELECT count(*) FROM delivery INDEXED BY delivery_test WHERE type = 'alert.test' AND state = 'dead')`,
    )
    .pluck()
  const failing = db.prepare<[], Failed>(
    'SELECT account, channel, receiver, rule, target, error, status, since, at FROM failing ORDER BY since',
  )
  const forgetFailing = db.prepare('DELETE FROM failing')
  const noteFailing = db.prepare(
    `INSERT INTO failing (account, channel, receiver, rule, target, error, status, since, at)
     VALUES (@account, @channel, @receiver, @rule, @target, @error, @status, @since, @at)`,
  )
  const old = db.prepare<[number, number, number], Forgotten>(
    `SELECT ${FORGOTTEN} FROM delivery WHERE state IN ('delivered', 'cancelled') AND settled_at < ?
     UNION ALL
     SELECT ${FORGOTTEN} FROM delivery WHERE state = 'dead' AND settled_at < ? LIMIT ?`,
  )
  const nextRule = db.prepare<[number], number | null>('SELECT min(rule) FROM delivery WHERE rule > ?').pluck()
  const settledOf = db.prepare<[number, number, number], Forgotten>(
    `SELECT ${FORGOTTEN} FROM delivery INDEXED BY delivery_rule WHERE rule = ? AND state <> 'queued' AND settled_at < ? LIMIT ?`,
  )
  const forgetCount = db.prepare('DELETE FROM rule_count WHERE rule = ?')
  const forgetDisabled = db.prepare('DELETE FROM disabled WHERE rule = ?')
  const forget = createForget(db)
  const pageCount = db.prepare<[], number>('PRAGMA page_count').pluck()
  const freePages = db.prepare<[], number>('PRAGMA freelist_count').pluck()

  return {
    deliveriesOf: (rule, alerts) =>
      ofAlerts.all({ alerts: JSON.stringify(alerts), rule }).map(it => ({ ...it, attempts: attempts.all(it.id) })),

    list({ dead = false, rule, alert, before, limit }) {
      const conditions = [
        ...(dead ? ["d.state = 'dead' AND d.type <> 'alert.test'"] : []),
        ...(rule === undefined ? [] : ['d.rule = @rule']),
        ...(alert === undefined ? [] : ['d.alert = @alert']),
        ...(before === undefined ? [] : ['d.id < @before']),
      ]
      const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
      return db
        .prepare<[object], DeliveryInfo>(`${SELECT} ${where} ORDER BY d.id DESC LIMIT @limit`)
        .all({ rule, alert, before, limit })
    },

    attemptsOf: delivery => attempts.all(delivery),

    redeliver({ account, rule, alert, delivery, channel, target, from, to, dead = false }) {
      const conditions = [
        ...(rule === undefined ? [] : ['rule = @rule']),
        ...(alert === undefined ? [] : ['alert = @alert']),
        ...(delivery === undefined ? [] : ['id = @delivery']),
        ...(from === undefined ? [] : ['created_at >= @from']),
        ...(to === undefined ? [] : ['created_at <= @to']),
        ...(channel === undefined ? [] : ['receiver IN (SELECT id FROM receiver WHERE channel = @channel)']),
        ...(target === undefined ? [] : ['receiver IN (SELECT id FROM receiver WHERE shown = @target)']),
        ...(dead ? ["state = 'dead'"] : []),
      ]
      if (conditions.length === 0)
        throw refuse(
          'redeliver_all',
          'Name what to deliver again: a rule, an alert, a delivery, a range, or dead deliveries.',
        )
      if (account !== undefined) conditions.push('account = @account')
      const where = `${conditions.join(' AND ')} AND state <> 'cancelled' AND overtaken = 0 AND type <> 'alert.test'`
      const wanted = { account, rule, alert, delivery, channel, target, from, to }
      const values = { ...wanted, now: now() }
      return db
        .transaction(() => {
          if (rule !== undefined || account !== undefined) {
            const most = limits.queuedDeliveries
            const more = db
              .prepare<[object], number>(
                `SELECT count(*) FROM (SELECT 1 FROM delivery WHERE ${where} AND state <> 'queued' LIMIT @most + 1)`,
              )
              .pluck()
              .get({ ...wanted, most })!
            const queued = (account === undefined ? queuedBeside.get(rule!) : queuedOf.get(account)) ?? 0
            if (more + queued > most) throw overLimit('queuedDeliveries', limits)
          }
          db.prepare(
            `DELETE FROM disabled WHERE (rule, destination) IN (SELECT DISTINCT rule, destination FROM delivery WHERE ${where})`,
          ).run(values)
          // A request for alerts of a paused rule is served.
          db.prepare(`INSERT OR IGNORE INTO pause_done (rule) SELECT DISTINCT rule FROM delivery WHERE ${where}`).run(
            values,
          )
          return db
            .prepare(
              `UPDATE delivery SET state = 'queued', tries = 0, next_at = @now, queued_at = @now, settled_at = NULL WHERE ${where}`,
            )
            .run(values).changes
        })
        .immediate()
    },

    counts: rules =>
      new Map(
        rules === undefined
          ? counts.all()
          : rules.flatMap(rule => {
              const count = countOf.get(rule)
              return count === undefined ? [] : [[rule, count] as const]
            }),
      ),

    states: () => states.all(),

    waiting: () => waiting.all(),

    dead: () => dead.get()!,

    failing: () => failing.all(),
    setFailing: db.transaction((receivers: readonly Failed[]) => {
      forgetFailing.run()
      for (const receiver of receivers) noteFailing.run(receiver)
    }).immediate,

    prune: ({ settledBefore, deadBefore }, limit) =>
      db
        .transaction(() => {
          const rows = old.all(settledBefore, deadBefore, limit)
          forget(rows)
          return rows.length
        })
        .immediate(),

    shrink() {
      const [pages, free] = [pageCount.get()!, freePages.get()!]
      const keep = Math.max(LEAST_FREE, Math.ceil((pages - free) / 4))
      if (free <= keep) return false
      db.pragma(`incremental_vacuum(${Math.min(free - keep, SHRINK_AT_ONCE)})`)
      // A file of an older version cannot give room back.
      return freePages.get()! < free && free - keep > SHRINK_AT_ONCE
    },

    nextRule: after => nextRule.get(after) ?? undefined,

    pruneRule: (rule, before, limit) =>
      db
        .transaction(() => {
          const rows = settledOf.all(rule, before, limit)
          forget(rows)
          if (rows.length < limit) {
            forgetCount.run(rule)
            forgetDisabled.run(rule)
          }
          return rows.length
        })
        .immediate(),
  }
}
