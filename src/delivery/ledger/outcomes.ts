import { URL_TOKEN } from '../../rules/check-alerts.ts'
import type { Action } from '../../rules/rule.ts'
import type { MessageType, SendOutcome } from '../channels/channel.ts'
import { nextTry } from '../retry-schedule.ts'
import { atomically, type Db } from './file.ts'
import { disabledError } from './new-deliveries.ts'

export interface DeliveryAttempt {
  ids: readonly number[]
  /** Epoch milliseconds at which it began. */
  at: number
  latencyMs: number
  /** `aborted`: the program stopped; the receiver may have got it. */
  outcome: SendOutcome | { type: 'aborted' }
}

export interface Settled {
  id: number
  channel: Action['type']
  destination: string
  type: MessageType
  /** `queued`: the attempt was aborted and does not count. */
  to: 'delivered' | 'retried' | 'dead' | 'cancelled' | 'queued'
  receivedAt: number
  /** Whether it is the first success. */
  first: boolean
  nextAt: number
}

interface DeliveryRow {
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

export const createOutcomes = (db: Db) => {
  const stateOf = db.prepare<[number], DeliveryRow>(
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

  const note = (id: number, { at, latencyMs, outcome, ids }: DeliveryAttempt, nextAt: number | null) =>
    addAttempt.run({
      id,
      at,
      latencyMs: Math.round(latencyMs),
      outcome: outcome.type,
      status: outcomeStatus(outcome),
      error: outcomeError(outcome),
      head: ('head' in outcome ? outcome.head : null) ?? null,
      nextAt,
      combined: ids.length,
    })

  /** Applies an outcome to one delivery; a 410 also ends the others of its rule and receiver. */
  const settleOne = (
    id: number,
    attempt: DeliveryAttempt,
    how: Parameters<typeof nextTry>[2] & { now: number },
  ): Settled[] => {
    const was = stateOf.get(id)
    // Cancelled and pruned during the attempt.
    if (!was) return []
    const { outcome } = attempt
    const { channel, destination, type } = was
    const { now } = how
    const [status, error] = [outcomeStatus(outcome), outcomeError(outcome)]
    let nextAt: number | undefined
    let to: Settled['to'] = 'cancelled'
    if (outcome.type === 'delivered') {
      // Even if it was cancelled meanwhile.
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
    /** Records attempts and their effects in one transaction. */
    settle: (
      attempts: readonly DeliveryAttempt[],
      {
        now,
        schedule,
        random = Math.random,
      }: { now: number; schedule: readonly number[]; random?: (() => number) | undefined },
    ): Settled[] =>
      atomically(db, () =>
        attempts.flatMap(attempt => {
          // Combined deliveries get the same jitter, to stay together.
          const luck = random()
          return attempt.ids.flatMap(id => settleOne(id, attempt, { now, schedule, random: () => luck }))
        }),
      ),

    settleTest(id: number, attempt: DeliveryAttempt) {
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
          outcomeStatus(outcome),
          outcomeError(outcome),
          id,
        )
      })
    },
  }
}

export const outcomeStatus = (outcome: DeliveryAttempt['outcome']): number | null =>
  ('status' in outcome ? outcome.status : null) ?? null

export const outcomeError = (outcome: DeliveryAttempt['outcome']): string | null =>
  'why' in outcome
    ? outcome.why
    : outcome.type === 'aborted'
      ? 'interrupted, because the program was stopped'
      : (('error' in outcome ? outcome.error : undefined) ?? null)

/** A URL with tokens differs per alert: its 410 says nothing about others. */
const hasTokens = (action: string): boolean => {
  const { parameters } = JSON.parse(action) as Action
  return 'url' in parameters && (parameters.url?.search(URL_TOKEN) ?? -1) >= 0
}
