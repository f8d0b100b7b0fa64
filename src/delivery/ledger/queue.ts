import { randomUUID } from 'node:crypto'
import type { Turn } from '../../lib/scheduling/circuit-breaker.ts'
import type { Action } from '../../rules/rule.ts'
import type { AlertMessage } from '../channels/channel.ts'
import type { Lane } from '../scheduler.ts'
import { atomically, type Db } from './file.ts'
import { createLoad } from './messages.ts'

export interface DueDelivery {
  id: number
  rule: number
  receiver: number
  channel: Action['type']
  /** Shared by messages of one alert to one target, which are sent in order. */
  sequence: string
  /** What it must share to be sent with others as one message. */
  groupKey: string | null
  groupSize: number | null
  /** The message that it is part of since its first try. */
  groupId: string | null
  /** When it was last tried; null if never. */
  begunAt: number | null
}

/** One attempt: several deliveries if combined. */
export interface Job extends Lane {
  ids: readonly number[]
  action: Action
  messages: readonly AlertMessage[]
  /** Id of several messages as one. */
  group?: string
}

export type Queue = ReturnType<typeof createQueue>

const SELECT_DUE = `SELECT d.id, d.rule, d.receiver, r.channel, d.alert || ' ' || r.target AS sequence,
    d.group_key AS groupKey, d.group_size AS groupSize, d.group_id AS groupId, d.begun_at AS begunAt
  FROM delivery d JOIN receiver r ON r.id = d.receiver WHERE d.state = 'queued'`

/** One index lookup per lane. */
const SELECT_LANES = `WITH RECURSIVE lane (account, destination) AS (
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
 )`

/** One index lookup per rule. */
const SELECT_RULES = `WITH RECURSIVE r (rule) AS (
   SELECT min(rule) FROM delivery WHERE state = 'queued'
    UNION ALL
    SELECT (SELECT min(rule) FROM delivery WHERE state = 'queued' AND rule > r.rule) FROM r WHERE r.rule IS NOT NULL
  )
  SELECT rule FROM r WHERE rule IS NOT NULL`

export const createQueue = (db: Db) => {
  const load = createLoad(db)
  const lanes = db.prepare<[], Lane & { dueAt: number; tried: number }>(SELECT_LANES)
  const due = db.prepare<[number, string, number, number, number], DueDelivery>(
    `${SELECT_DUE} AND d.account = ? AND d.destination = ? AND (d.tries > 0) = ? AND d.next_at <= ? ORDER BY d.next_at, d.id LIMIT ?`,
  )
  const nextDue = db
    .prepare<[number, string, number, number], number | null>(
      `SELECT min(next_at) FROM delivery
       WHERE state = 'queued' AND account = ? AND destination = ? AND (tries > 0) = ? AND next_at > ?`,
    )
    .pluck()
  const rules = db.prepare<[], number>(SELECT_RULES).pluck()
  const cancelRule = db
    .prepare<[number, string, number, number], Action['type']>(
      `UPDATE delivery SET state = 'cancelled', settled_at = ?, last_error = ? WHERE id IN (
         SELECT id FROM delivery INDEXED BY delivery_waiting WHERE state = 'queued' AND rule = ? AND type NOT IN ('alert.retracted', 'alert.resolved') LIMIT ?
       ) RETURNING (SELECT channel FROM receiver WHERE id = receiver)`,
    )
    .pluck()
  const combinable = db.prepare<[number, number, number, number], DueDelivery>(
    `${SELECT_DUE} AND d.rule = ? AND d.receiver = ? AND d.next_at <= ? ORDER BY d.next_at, d.id LIMIT ?`,
  )
  const groupable = db.prepare<[number, number, string | null, string | null, number, number], DueDelivery>(
    `${SELECT_DUE} AND d.rule = ? AND d.receiver = ? AND d.group_key = ? AND d.group_id IS ? AND d.next_at <= ?
       AND (d.group_id IS NOT NULL OR d.begun_at IS NULL)
     ORDER BY d.next_at, d.id LIMIT ?`,
  )
  const setGroup = db.prepare('UPDATE delivery SET group_id = ? WHERE id = ?')
  const begin = db.prepare(`UPDATE delivery SET begun_at = ? WHERE id = ? AND state = 'queued' AND next_at <= ?`)
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()

  const claimOne = (picked: readonly DueDelivery[], now: number): Job | undefined => {
    const ids = picked.map(({ id }) => id).filter(id => begin.run(now, id, now).changes === 1)
    if (ids.length === 0) return undefined
    const { groupKey, groupId } = picked[0]!
    const group = groupId ?? (groupKey !== null && ids.length > 1 ? `group_${randomUUID()}` : undefined)
    if (group !== undefined && group !== groupId) for (const id of ids) setGroup.run(group, id)
    return { ids, ...load(ids), ...(group !== undefined && { group }) }
  }

  return {
    /** Lanes with queued deliveries: when the first is due, and whether any was tried. */
    lanes: () => lanes.all().map(it => ({ ...it, tried: it.tried === 1 })),

    /** Due first tries or retries of a lane, the earliest first. */
    due: ({ account, destination }: Lane, turn: Turn, now: number, limit: number): DueDelivery[] =>
      due.all(account, destination, TRIED_FLAG[turn], now, limit),

    /** When the next delivery becomes due; undefined if none waits. */
    nextDue({ account, destination }: Lane, now: number): number | undefined {
      const times = [TRIED_FLAG.first, TRIED_FLAG.again].flatMap(
        tried => nextDue.get(account, destination, tried, now) ?? [],
      )
      return times.length === 0 ? undefined : Math.min(...times)
    },

    /** Rules with queued deliveries. */
    rules: () => rules.all(),

    /** Cancels at most `limit` queued deliveries of a rule, except retractions. */
    cancelRule: (rule: number, now: number, why: string, limit: number) => cancelRule.all(now, why, rule, limit),

    /** Counts deliveries of a rule cancelled for that reason since then. */
    cancelledSince: (rule: number, why: string, since: number): number =>
      db
        .prepare<[number, number, string], number>(
          `SELECT count(*) FROM delivery INDEXED BY delivery_settled
           WHERE state = 'cancelled' AND settled_at IS NOT NULL AND settled_at >= ? AND rule = ? AND last_error = ?`,
        )
        .pluck()
        .get(since, rule, why)!,

    /** Paused rules whose deliveries are all cancelled. */
    pausesDone: () => db.prepare<[], number>('SELECT rule FROM pause_done').pluck().all(),

    endPause: (rule: number, isDone: boolean) =>
      void db
        .prepare(
          isDone ? 'INSERT OR IGNORE INTO pause_done (rule) VALUES (?)' : 'DELETE FROM pause_done WHERE rule = ?',
        )
        .run(rule),

    /** Deliveries that may be combined with one, including it. */
    combinable: ({ rule, receiver }: DueDelivery, now: number, limit: number): DueDelivery[] =>
      combinable.all(rule, receiver, now, limit),

    /** Due deliveries that are one message with one, including it. */
    groupable: ({ rule, receiver, groupKey, groupId }: DueDelivery, now: number, limit: number): DueDelivery[] =>
      groupable.all(rule, receiver, groupKey, groupId, now, limit),

    /** Marks deliveries as begun, in one transaction. Those no longer queued are left out. */
    claim: (picks: readonly (readonly DueDelivery[])[], now: number): (Job | undefined)[] =>
      atomically(db, () => picks.map(picked => claimOne(picked, now))),

    /** Moves due times back after the clock was set back. */
    setBack: (ms: number, now: number) =>
      void db
        .prepare(
          `UPDATE delivery SET next_at = max(@now, next_at - @ms), queued_at = min(@now, queued_at)
           WHERE state = 'queued' AND max(next_at, queued_at) > @now`,
        )
        .run({ ms: Math.round(ms), now }),

    /** Latest queueing time; undefined if nothing is queued. */
    lastQueued: (): number | undefined =>
      db.prepare<[], number | null>(`SELECT max(queued_at) FROM delivery WHERE state = 'queued'`).pluck().get() ??
      undefined,

    /** Ends deliveries that have waited since `before` for a dead destination. */
    expire: ({ account, destination }: Lane, before: number, now: number, why: string): number =>
      db
        .prepare(
          `UPDATE delivery SET state = 'dead', settled_at = ?, last_error = ?
           WHERE state = 'queued' AND account = ? AND destination = ? AND queued_at < ?`,
        )
        .run(now, why, account, destination, before).changes,

    /** Changes after a write of another connection. */
    version: () => version.get()!,
  }
}

const TRIED_FLAG: Record<Turn, number> = { first: 0, again: 1 }
