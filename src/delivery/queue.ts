import type { Turn } from '../lib/scheduling/breaker.ts'
import { TOKEN } from '../rules/extracts.ts'
import type { Action } from '../rules/rule.ts'
import type { Lane } from './agenda.ts'
import type { Message, MessageType, Outcome } from './channel.ts'
import type { Db } from './file.ts'
import { readSource } from './payload.ts'
import { nextTry } from './schedule.ts'
import { disabledError, type MessageHead } from './teller.ts'

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

export interface Queue {
  /** Every lane with something queued: when the first of it is due, and whether some of it was tried before. */
  lanes(): (Lane & { dueAt: number; tried: boolean })[]
  /** What may be sent in a lane, the first due first: of what was never tried, or of what has failed before. */
  due(lane: Lane, turn: Turn, now: number, limit: number): Due[]
  /** When the next of what is not due yet is; undefined where there is none. */
  nextDue(lane: Lane, now: number): number | undefined
  /** Rules that something is queued for. */
  rules(): number[]
  /** Gives up at most `limit` of what is queued for a rule, but for retractions: who was told of an alert hears of its end. */
  cancelRule(rule: number, now: number, why: string, limit: number): Action['type'][]
  /** How many of a rule's deliveries were cancelled for that reason from then on. */
  cancelledSince(rule: number, why: string, since: number): number
  /** Paused rules of which all was cancelled that their pause cancels. */
  pausesDone(): number[]
  endPause(rule: number, isDone: boolean): void
  /** The deliveries that may be combined with one, itself included. */
  combinable(due: Due, now: number, limit: number): Due[]
  /**
   * Notes that they are begun, in one transaction. What is no longer queued, since another process changed it, is left out; undefined
   * where nothing is left.
   */
  claim(picks: readonly (readonly Due[])[], now: number): (Job | undefined)[]
  /** Records attempts with what follows from each, in one transaction. */
  settle(
    attempts: readonly Attempt[],
    options: { now: number; schedule: readonly number[]; random?: () => number },
  ): Settled[]
  /** The clock was set back by so much: what is queued for later is due by as much sooner. */
  setBack(ms: number, now: number): void
  /** When what is queued was queued last; undefined where nothing is. */
  lastQueued(): number | undefined
  /** Gives up what has waited since `before` for a destination that does not answer. */
  expire(lane: Lane, before: number, now: number, why: string): number
  /** Records the attempt of a test. */
  settleTest(id: number, attempt: Attempt): void
  /** Changes when another connection has written. */
  version(): number
}

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

export const createQueue = (db: Db): Queue => {
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
    `SELECT d.id, d.rule, d.receiver, r.channel, d.alert || ' ' || r.target AS line FROM delivery d JOIN receiver r ON r.id = d.receiver
     WHERE d.state = 'queued' AND d.account = ? AND d.destination = ? AND (d.tries > 0) = ? AND d.next_at <= ?
     ORDER BY d.next_at, d.id LIMIT ?`,
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
    `SELECT d.id, d.rule, d.receiver, r.channel, d.alert || ' ' || r.target AS line FROM delivery d JOIN receiver r ON r.id = d.receiver
     WHERE d.state = 'queued' AND d.rule = ? AND d.receiver = ? AND d.next_at <= ? ORDER BY d.next_at, d.id LIMIT ?`,
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
  const cancelledSince = db
    .prepare<[number, number, string], number>(
      `SELECT count(*) FROM delivery INDEXED BY delivery_settled
       WHERE state = 'cancelled' AND settled_at IS NOT NULL AND settled_at >= ? AND rule = ? AND last_error = ?`,
    )
    .pluck()
  const pausesDone = db.prepare<[], number>('SELECT rule FROM pause_done').pluck()
  const notePause = db.prepare('INSERT OR IGNORE INTO pause_done (rule) VALUES (?)')
  const forgetPause = db.prepare('DELETE FROM pause_done WHERE rule = ?')
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
  const expire = db.prepare(
    `UPDATE delivery SET state = 'dead', settled_at = ?, last_error = ? WHERE state = 'queued' AND account = ? AND destination = ? AND queued_at < ?`,
  )
  const setBack = db.prepare(
    `UPDATE delivery SET next_at = max(@now, next_at - @ms), queued_at = min(@now, queued_at)
     WHERE state = 'queued' AND max(next_at, queued_at) > @now`,
  )
  const lastQueued = db.prepare<[], number | null>(`SELECT max(queued_at) FROM delivery WHERE state = 'queued'`).pluck()
  const endTest = db.prepare(
    'UPDATE delivery SET state = ?, tries = 1, begun_at = ?, settled_at = ?, delivered_at = ?, last_status = ?, last_error = ? WHERE id = ?',
  )
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()

  const note = (id: number, { at, latencyMs, outcome, ids }: Attempt, nextAt: number | null) =>
    addAttempt.run({
      id,
      at,
      latencyMs: Math.round(latencyMs),
      outcome: outcome.type,
      status: 'status' in outcome ? outcome.status : null,
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

  return {
    lanes: () => lanes.all().map(it => ({ ...it, tried: it.tried === 1 })),
    due: ({ account, destination }, turn, now, limit) => due.all(account, destination, TRIED[turn], now, limit),
    nextDue({ account, destination }, now) {
      const times = [TRIED.first, TRIED.again].map(tried => nextDue.get(account, destination, tried, now) ?? undefined)
      const known = times.filter(it => it !== undefined)
      return known.length === 0 ? undefined : Math.min(...known)
    },
    rules: () => rules.all(),
    cancelRule: (rule, now, why, limit) => cancelRule.all(now, why, rule, limit),
    cancelledSince: (rule, why, since) => cancelledSince.get(since, rule, why)!,
    pausesDone: () => pausesDone.all(),
    endPause: (rule, isDone) => void (isDone ? notePause : forgetPause).run(rule),
    combinable: ({ rule, receiver }, now, limit) => combinable.all(rule, receiver, now, limit),
    claim: (picks, now) => db.transaction(() => picks.map(picked => claimOne(picked, now))).immediate(),

    settle: (attempts, { now, schedule, random = Math.random }) =>
      db
        .transaction(() => {
          const all: Settled[] = []
          for (const attempt of attempts) {
            const { outcome } = attempt
            // Combined deliveries stay together.
            const luck = random()
            for (const id of attempt.ids) {
              const was = stateOf.get(id)
              // Cancelled while it was under way, and forgotten since, where little is kept.
              if (!was) continue
              const { channel, destination, type } = was
              const settled: Settled = {
                id,
                channel,
                destination,
                type,
                to: 'cancelled',
                receivedAt: was.received_at,
                first: was.delivered_at === null,
                nextAt: now,
              }
              const status = 'status' in outcome ? outcome.status : null
              let nextAt: number | undefined
              if (outcome.type === 'delivered') {
                // Also where it was cancelled meanwhile: it has arrived.
                deliver.run(now, now, outcome.status, id)
                settled.to = 'delivered'
              } else if (was.state === 'queued') {
                const { retryAfterMs = undefined } = outcome.type === 'retry' ? outcome : {}
                if (outcome.type === 'aborted') nextAt = now
                else if (outcome.type === 'retry')
                  nextAt = nextTry(was.tries + 1, now, { schedule, retryAfterMs, random: () => luck })
                if (outcome.type === 'aborted') settled.to = 'queued'
                else if (nextAt === undefined) {
                  bury.run(now, status, errorOf(outcome), id)
                  settled.to = 'dead'
                } else {
                  postpone.run(nextAt, status, errorOf(outcome), id)
                  Object.assign(settled, { to: 'retried', nextAt })
                }
              }
              note(id, attempt, nextAt ?? null)
              all.push(settled)
              if (outcome.type === 'gone' && !hasTokens(was.action)) {
                disable.run(was.rule, destination, was.revision, now)
                for (const other of buryOthers.all(now, disabledError(now), was.account, destination, was.rule))
                  all.push({ ...settled, ...other, to: 'dead' })
              }
            }
          }
          return all
        })
        .immediate(),

    setBack: (ms, now) => void setBack.run({ ms: Math.round(ms), now }),

    lastQueued: () => lastQueued.get() ?? undefined,

    expire: ({ account, destination }, before, now, why) => expire.run(now, why, account, destination, before).changes,

    settleTest: (id, attempt) => {
      const { outcome, at, latencyMs } = attempt
      const end = Math.round(at + latencyMs)
      const delivered = outcome.type === 'delivered'
      const status = 'status' in outcome ? outcome.status : null
      db.transaction(() => {
        note(id, attempt, null)
        endTest.run(delivered ? 'delivered' : 'dead', at, end, delivered ? end : null, status, errorOf(outcome), id)
      }).immediate()
    },

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
