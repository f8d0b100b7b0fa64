import type { Turn } from '../../lib/scheduling/breaker.ts'
import { TOKEN } from '../../rules/extracts.ts'
import type { Action } from '../../rules/rule.ts'
import type { Message, MessageType, Outcome } from '../channels/channel.ts'
import { readSource } from '../payload.ts'
import { nextTry } from '../retry-schedule.ts'
import type { Lane } from '../scheduler.ts'
import { disabledError, type MessageHead } from './alert-deliveries.ts'
import { atomically, type Db } from './file.ts'

/** A delivery that may be sent now. */
export interface Due {
  id: number
  rule: number
  receiver: number
  channel: Action['type']
  /** Messages of one alert to one target go one after the other: they have the same `line`. */
  line: string
}

/** The content of one attempt: several deliveries if they were combined. */
export interface Job extends Lane {
  ids: readonly number[]
  action: Action
  messages: readonly Message[]
}

export interface Attempt {
  ids: readonly number[]
  /** Epoch milliseconds at which it began. */
  at: number
  latencyMs: number
  /** `aborted`: the program stopped, and it is not known whether the receiver got it. */
  outcome: Outcome | { type: 'aborted' }
}

/** The state of a delivery after an attempt. */
export interface Settled {
  id: number
  channel: Action['type']
  destination: string
  type: MessageType
  /** `queued`: the attempt was broken off, and counts for nothing. */
  to: 'delivered' | 'retried' | 'dead' | 'cancelled' | 'queued'
  receivedAt: number
  /** Whether this is its first successful delivery. */
  first: boolean
  nextAt: number
}

export type Queue = ReturnType<typeof createQueue>

interface Claimed {
  network: string
  alert: string
  type: MessageType
  account: number
  destination: string
  changed_at: number
  action: string
  said: string
  head: string
  source: string
}

interface State {
  state: string
  tries: number
  rule: number
  revision: number
  account: number
  destination: string
  channel: Action['type']
  action: string
  type: MessageType
  received_at: number
  delivered_at: number | null
}

const DUE = `SELECT d.id, d.rule, d.receiver, r.channel, d.alert || ' ' || r.target AS line
  FROM delivery d JOIN receiver r ON r.id = d.receiver WHERE d.state = 'queued'`

export const createQueue = (db: Db) => {
  const lanes = db.prepare<[], Lane & { dueAt: number; tried: number }>(
    // From one lane to the next, whatever stands in each.
    `WITH RECURSIVE lane (account, destination) AS (
       SELECT * FROM (SELECT account, destination FROM delivery WHERE state = 'queued' ORDER BY account, destination LIMIT 1)
       UNION ALL
       SELECT next.account, next.destination FROM lane JOIN delivery next ON next.id = (
         SELECT id FROM delivery WHERE state = 'queued' AND (account, destination) > (lane.account, lane.destination)
         ORDER BY account, destination LIMIT 1
       )
     )
     SELECT account, destination, min(coalesce(first, again), coalesce(again, first)) AS dueAt, again IS NOT NULL AS tried FROM (
       SELECT account, destination,
         (SELECT min(next_at) FROM delivery d WHERE state = 'queued' AND d.account = lane.account AND d.destination = lane.destination
            AND (tries > 0) = 0) AS first,
         (SELECT min(next_at) FROM delivery d WHERE state = 'queued' AND d.account = lane.account AND d.destination = lane.destination
            AND (tries > 0) = 1) AS again
       FROM lane
     )`,
  )
  const due = db.prepare<[number, string, number, number, number], Due>(
    `${DUE} AND d.account = ? AND d.destination = ? AND (d.tries > 0) = ? AND d.next_at <= ? ORDER BY d.next_at, d.id LIMIT ?`,
  )
  const nextDue = db
    .prepare<[number, string, number, number], number | null>(
      `SELECT min(next_at) FROM delivery
       WHERE state = 'queued' AND account = ? AND destination = ? AND (tries > 0) = ? AND next_at > ?`,
    )
    .pluck()
  const rules = db
    .prepare<[], number>(
      `WITH RECURSIVE r (rule) AS (
         SELECT min(rule) FROM delivery WHERE state = 'queued'
         UNION ALL
         SELECT (SELECT min(rule) FROM delivery WHERE state = 'queued' AND rule > r.rule) FROM r WHERE r.rule IS NOT NULL
       )
       SELECT rule FROM r WHERE rule IS NOT NULL`,
    )
    .pluck()
  const cancelRule = db
    .prepare<[number, string, number, number], Action['type']>(
      `UPDATE delivery SET state = 'cancelled', settled_at = ?, last_error = ? WHERE id IN (
         SELECT id FROM delivery INDEXED BY delivery_waiting WHERE state = 'queued' AND rule = ? AND type <> 'alert.retracted' LIMIT ?
       ) RETURNING (SELECT channel FROM receiver WHERE id = receiver)`,
    )
    .pluck()
  const combinable = db.prepare<[number, number, number, number], Due>(
    `${DUE} AND d.rule = ? AND d.receiver = ? AND d.next_at <= ? ORDER BY d.next_at, d.id LIMIT ?`,
  )
  const begin = db.prepare(`UPDATE delivery SET begun_at = ? WHERE id = ? AND state = 'queued' AND next_at <= ?`)
  const load = db.prepare<[number], Claimed>(
    `SELECT d.network, d.alert, d.type, d.account, d.destination, d.changed_at, r.action, s.text AS said, m.head, m.source
     FROM delivery d JOIN receiver r ON r.id = d.receiver JOIN message m ON m.id = d.message
       JOIN said s ON s.rule = d.rule AND s.revision = d.revision
     WHERE d.id = ?`,
  )
  const stateOf = db.prepare<[number], State>(
    `SELECT d.state, d.tries, d.rule, d.revision, d.account, d.destination, r.channel, r.action, d.type, d.received_at, d.delivered_at
     FROM delivery d JOIN receiver r ON r.id = d.receiver WHERE d.id = ?`,
  )
  const addAttempt = db.prepare(
    `INSERT INTO attempt (delivery, n, at, latency_ms, outcome, status, error, head, next_at, combined)
     VALUES (@id, (SELECT coalesce(max(n), 0) + 1 FROM attempt WHERE delivery = @id), @at, @latencyMs, @outcome, @status, @error, @head,
       @nextAt, @combined)`,
  )
  const deliver = db.prepare(
    `UPDATE delivery SET state = 'delivered', tries = tries + 1, settled_at = ?, delivered_at = ?, last_status = ?, last_error = NULL
     WHERE id = ?`,
  )
  const postpone = db.prepare(
    'UPDATE delivery SET tries = tries + 1, next_at = ?, last_status = ?, last_error = ? WHERE id = ?',
  )
  const bury = db.prepare(
    `UPDATE delivery SET state = 'dead', tries = tries + 1, settled_at = ?, last_status = ?, last_error = ? WHERE id = ?`,
  )
  const disable = db.prepare(
    `INSERT INTO disabled (rule, destination, revision, at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET revision = excluded.revision, at = excluded.at WHERE excluded.revision >= revision`,
  )
  const buryOthers = db.prepare<
    [number, string, number, string, number],
    { id: number; channel: Action['type']; type: MessageType }
  >(
    `UPDATE delivery SET state = 'dead', settled_at = ?, last_error = ? WHERE state = 'queued' AND account = ? AND destination = ? AND +rule = ?
     RETURNING id, (SELECT channel FROM receiver WHERE id = receiver) AS channel, type`,
  )
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()

  const note = (id: number, { at, latencyMs, outcome, ids }: Attempt, nextAt: number | null) =>
    addAttempt.run({
      id,
      at,
      latencyMs: Math.round(latencyMs),
      outcome: outcome.type,
      status: statusOf(outcome),
      error: errorOf(outcome),
      head: 'head' in outcome ? outcome.head : null,
      nextAt,
      combined: ids.length,
    })

  const claimOne = (picked: readonly Due[], now: number): Job | undefined => {
    const ids = picked.map(({ id }) => id).filter(id => begin.run(now, id, now).changes === 1)
    if (ids.length === 0) return undefined
    const rows = ids.map(id => load.get(id)!)
    const { destination, account, action } = rows[0]!
    return { ids, destination, account, action: JSON.parse(action) as Action, messages: rows.map(toMessage) }
  }

  /** What an attempt comes to for one of its deliveries, and for others that it ends. */
  const settleOne = (id: number, attempt: Attempt, how: Parameters<typeof nextTry>[2] & { now: number }): Settled[] => {
    const was = stateOf.get(id)
    // Cancelled while it was under way, and forgotten since, where little is kept.
    if (!was) return []
    const { outcome } = attempt
    const { channel, destination, type } = was
    const { now } = how
    const [status, error] = [statusOf(outcome), errorOf(outcome)]
    let nextAt: number | undefined
    let to: Settled['to'] = 'cancelled'
    if (outcome.type === 'delivered') {
      // Also where it was cancelled meanwhile: it has arrived.
      deliver.run(now, now, status, id)
      to = 'delivered'
    } else if (was.state === 'queued' && outcome.type === 'aborted') {
      nextAt = now
      to = 'queued'
    } else if (was.state === 'queued') {
      if (outcome.type === 'retry') nextAt = nextTry(was.tries + 1, now, { ...how, retryAfterMs: outcome.retryAfterMs })
      to = nextAt === undefined ? 'dead' : 'retried'
      if (nextAt === undefined) bury.run(now, status, error, id)
      else postpone.run(nextAt, status, error, id)
    }
    note(id, attempt, nextAt ?? null)
    const first = was.delivered_at === null
    const settled: Settled = {
      id,
      channel,
      destination,
      type,
      to,
      receivedAt: was.received_at,
      first,
      nextAt: nextAt ?? now,
    }
    if (outcome.type !== 'gone' || hasTokens(was.action)) return [settled]
    disable.run(was.rule, destination, was.revision, now)
    const others = buryOthers.all(now, disabledError(now), was.account, destination, was.rule)
    return [settled, ...others.map(other => ({ ...settled, ...other, to: 'dead' as const }))]
  }

  return {
    /** Every lane with something queued: when the first of it is due, and whether some of it was tried before. */
    lanes: () => lanes.all().map(it => ({ ...it, tried: it.tried === 1 })),

    /** What may be sent in a lane, the first due first: of what was never tried, or of what has failed before. */
    due: ({ account, destination }: Lane, turn: Turn, now: number, limit: number): Due[] =>
      due.all(account, destination, TRIED[turn], now, limit),

    /** When the next of what is not due yet is; undefined where there is none. */
    nextDue({ account, destination }: Lane, now: number): number | undefined {
      const times = [TRIED.first, TRIED.again].flatMap(tried => nextDue.get(account, destination, tried, now) ?? [])
      return times.length === 0 ? undefined : Math.min(...times)
    },

    /** Rules that something is queued for. */
    rules: () => rules.all(),

    /** Gives up at most `limit` of what is queued for a rule, but for retractions: who was told of an alert hears of its end. */
    cancelRule: (rule: number, now: number, why: string, limit: number) => cancelRule.all(now, why, rule, limit),

    /** How many of a rule's deliveries were cancelled for that reason from then on. */
    cancelledSince: (rule: number, why: string, since: number): number =>
      db
        .prepare<[number, number, string], number>(
          `SELECT count(*) FROM delivery INDEXED BY delivery_settled
           WHERE state = 'cancelled' AND settled_at IS NOT NULL AND settled_at >= ? AND rule = ? AND last_error = ?`,
        )
        .pluck()
        .get(since, rule, why)!,

    /** Paused rules of which all was cancelled that their pause cancels. */
    pausesDone: () => db.prepare<[], number>('SELECT rule FROM pause_done').pluck().all(),

    endPause: (rule: number, isDone: boolean) =>
      void db
        .prepare(
          isDone ? 'INSERT OR IGNORE INTO pause_done (rule) VALUES (?)' : 'DELETE FROM pause_done WHERE rule = ?',
        )
        .run(rule),

    /** The deliveries that may be combined with one, itself included. */
    combinable: ({ rule, receiver }: Due, now: number, limit: number): Due[] =>
      combinable.all(rule, receiver, now, limit),

    /**
     * Notes that they are begun, in one transaction. What is no longer queued, since another process changed it, is left out; undefined
     * where nothing is left.
     */
    claim: (picks: readonly (readonly Due[])[], now: number): (Job | undefined)[] =>
      atomically(db, () => picks.map(picked => claimOne(picked, now))),

    /** Records attempts with what follows from each, in one transaction. */
    settle: (
      attempts: readonly Attempt[],
      {
        now,
        schedule,
        random = Math.random,
      }: { now: number; schedule: readonly number[]; random?: (() => number) | undefined },
    ): Settled[] =>
      atomically(db, () =>
        attempts.flatMap(attempt => {
          // Combined deliveries stay together.
          const luck = random()
          return attempt.ids.flatMap(id => settleOne(id, attempt, { now, schedule, random: () => luck }))
        }),
      ),

    /** The clock was set back by so much: what is queued for later is due by as much sooner. */
    setBack: (ms: number, now: number) =>
      void db
        .prepare(
          `UPDATE delivery SET next_at = max(@now, next_at - @ms), queued_at = min(@now, queued_at)
           WHERE state = 'queued' AND max(next_at, queued_at) > @now`,
        )
        .run({ ms: Math.round(ms), now }),

    /** When what is queued was queued last; undefined where nothing is. */
    lastQueued: (): number | undefined =>
      db.prepare<[], number | null>(`SELECT max(queued_at) FROM delivery WHERE state = 'queued'`).pluck().get() ??
      undefined,

    /** Gives up what has waited since `before` for a destination that does not answer. */
    expire: ({ account, destination }: Lane, before: number, now: number, why: string): number =>
      db
        .prepare(
          `UPDATE delivery SET state = 'dead', settled_at = ?, last_error = ?
           WHERE state = 'queued' AND account = ? AND destination = ? AND queued_at < ?`,
        )
        .run(now, why, account, destination, before).changes,

    /** Records the attempt of a test. */
    settleTest(id: number, attempt: Attempt) {
      const { outcome, at, latencyMs } = attempt
      const end = Math.round(at + latencyMs)
      const delivered = outcome.type === 'delivered'
      atomically(db, () => {
        note(id, attempt, null)
        db.prepare(
          'UPDATE delivery SET state = ?, tries = 1, begun_at = ?, settled_at = ?, delivered_at = ?, last_status = ?, last_error = ? WHERE id = ?',
        ).run(
          delivered ? 'delivered' : 'dead',
          at,
          end,
          delivered ? end : null,
          statusOf(outcome),
          errorOf(outcome),
          id,
        )
      })
    },

    /** Changes when another connection has written. */
    version: () => version.get()!,
  }
}

/** In the index of what is queued. */
const TRIED: Record<Turn, number> = { first: 0, again: 1 }

const toMessage = ({ said, head, source, ...row }: Claimed): Message => ({
  id: row.alert,
  type: row.type,
  network: row.network,
  timestamp: row.changed_at,
  rule: JSON.parse(said) as Message['rule'],
  ...(JSON.parse(head) as MessageHead),
  source: readSource(source),
})

/** The HTTP or SMTP status of the receiver's answer. */
export const statusOf = (outcome: Attempt['outcome']): number | null => ('status' in outcome ? outcome.status : null)

/** The error of an outcome that is not a success. */
export const errorOf = (outcome: Attempt['outcome']): string | null =>
  'why' in outcome
    ? outcome.why
    : outcome.type === 'aborted'
      ? 'interrupted, because the program was stopped'
      : (('error' in outcome ? outcome.error : undefined) ?? null)

/** Of a URL that is another one for each alert, 410 says that this one is gone. */
const hasTokens = (action: string): boolean => {
  const { parameters } = JSON.parse(action) as Action
  return 'url' in parameters && parameters.url.search(TOKEN) >= 0
}
