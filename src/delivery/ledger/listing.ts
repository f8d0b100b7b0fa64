import type { Action } from '../../rules/rule.ts'
import type { Db } from './file.ts'
import {
  type AttemptInfo,
  type DeliveryInfo,
  type DeliveryRecord,
  type DeliveryState,
  SELECT_DELIVERIES,
} from './records.ts'

/** `waiting`: queued and not tried; `retried`: queued after a failed try. */
export type ListedState = DeliveryState | 'waiting' | 'retried'

/** Filters are combined by AND. Times are epoch milliseconds of creation, inclusive. */
export interface PageFilter {
  account: number
  state?: ListedState | undefined
  rule?: number | undefined
  alert?: string | undefined
  channel?: string | undefined
  target?: string | undefined
  since?: number | undefined
  until?: number | undefined
  /** `next` of the previous page. */
  before?: number | undefined
  limit: number
}

export interface DeliveryPage {
  deliveries: DeliveryInfo[]
  /** Null on the last page. Pages may be short, since the number of inspected rows is limited. */
  next: number | null
}

export interface DestinationInfo {
  channel: Action['type']
  /** Without its secrets. */
  target: string
  waiting: number
  retried: number
  dead: number
  /** Next try; null if nothing waits. */
  nextAt: number | null
}

export interface Destinations {
  destinations: DestinationInfo[]
  /** False if there were too many to count all. */
  complete: boolean
}

/** Rows inspected per request, since the thread also sends. */
const LOOK = 2_000
const MAX_COUNTED_DELIVERIES = 20_000

const STORED_STATES = ['queued', 'delivered', 'dead', 'cancelled'] as const satisfies DeliveryState[]
/** How a state is stored. */
const storedState = (state: ListedState): (typeof STORED_STATES)[number] =>
  state === 'waiting' || state === 'retried' ? 'queued' : state === 'silenced' ? 'cancelled' : state

export const createListing = (db: Db, attemptsOf: (delivery: number) => AttemptInfo[]) => {
  const idsBefore = (index: string, where: string) =>
    db
      .prepare<[object], number>(
        `SELECT id FROM delivery ${index} WHERE ${where} AND id < @before ORDER BY id DESC LIMIT ${LOOK}`,
      )
      .pluck()
  const ofState = idsBefore('INDEXED BY delivery_account', 'account = @account AND state = @state')
  const ofRule = idsBefore('INDEXED BY delivery_rule', 'rule = @rule')
  const ofAlert = idsBefore('', 'alert = @alert')
  const find = db.prepare<[number, number], DeliveryInfo>(`${SELECT_DELIVERIES} WHERE d.id = ? AND d.account = ?`)
  const counts = db.prepare<[object], Omit<DestinationInfo, 'nextAt'> & { nextAt: number | null; looked: number }>(
    `SELECT r.channel, r.shown AS target, sum(d.type <> 'alert.test' AND d.state = 'queued' AND d.tries = 0) AS waiting,
       sum(d.type <> 'alert.test' AND d.state = 'queued' AND d.tries > 0) AS retried,
       sum(d.type <> 'alert.test' AND d.state = 'dead') AS dead,
       min(CASE WHEN d.state = 'queued' THEN d.next_at END) AS nextAt, count(*) AS looked
     FROM delivery d INDEXED BY delivery_account JOIN receiver r ON r.id = d.receiver
     WHERE d.id IN (SELECT id FROM delivery INDEXED BY delivery_account WHERE account = @account AND state = @state ORDER BY id LIMIT ${MAX_COUNTED_DELIVERIES})
       AND d.account = @account AND d.state = @state
     GROUP BY r.channel, r.shown`,
  )

  /** Candidate ids, newest first. */
  const idsOf = ({ account, state, rule, alert, before = Number.MAX_SAFE_INTEGER }: PageFilter): number[] => {
    if (alert !== undefined) return ofAlert.all({ alert, before })
    if (rule !== undefined) return ofRule.all({ rule, before })
    const states = state === undefined ? STORED_STATES : [storedState(state)]
    return states
      .flatMap(state => ofState.all({ account, state, before }))
      .sort((a, b) => b - a)
      .slice(0, LOOK)
  }

  return {
    /** The newest first. */
    page(filter: PageFilter): DeliveryPage {
      const ids = idsOf(filter)
      const deliveries: DeliveryInfo[] = []
      for (const [at, id] of ids.entries()) {
        const found = find.get(id, filter.account)
        if (found && matchesFilter(found, filter)) deliveries.push(found)
        const isLast = at === ids.length - 1
        if (deliveries.length === filter.limit && !isLast) return { deliveries, next: id }
      }
      return { deliveries, next: ids.length < LOOK ? null : ids.at(-1)! }
    },

    /** Undefined also for another account's delivery. */
    delivery(account: number, id: number): DeliveryRecord | undefined {
      const found = find.get(id, account)
      return found && { ...found, attempts: attemptsOf(id) }
    },

    destinations(account: number): Destinations {
      const found = new Map<string, DestinationInfo>()
      let complete = true
      for (const state of ['queued', 'dead'] as const) {
        const rows = counts.all({ account, state })
        if (rows.reduce((sum, { looked }) => sum + looked, 0) >= MAX_COUNTED_DELIVERIES) complete = false
        for (const { looked: _, ...row } of rows) {
          if (row.waiting + row.retried + row.dead === 0) continue
          const key = JSON.stringify([row.channel, row.target])
          const known = found.get(key)
          if (known) known.dead += row.dead
          else found.set(key, row)
        }
      }
      return { destinations: [...found.values()], complete }
    },
  }
}

const matchesFilter = (
  found: DeliveryInfo,
  { state, since = found.createdAt, until = found.createdAt, ...filter }: PageFilter,
) =>
  isInState(state, found.state, found.tries) &&
  (['rule', 'channel', 'target'] as const).every(name => filter[name] === undefined || filter[name] === found[name]) &&
  found.createdAt >= since &&
  found.createdAt <= until

const isInState = (wanted: ListedState | undefined, state: DeliveryState, tries: number): boolean =>
  wanted === 'waiting' || wanted === 'retried'
    ? state === 'queued' && tries > 0 === (wanted === 'retried')
    : wanted === undefined || state === wanted
