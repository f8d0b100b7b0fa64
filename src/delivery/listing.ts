import type { Action } from '../rules/rule.ts'
import type { Db } from './file.ts'
import { type AttemptInfo, type DeliveryInfo, type DeliveryRecord, type DeliveryState, SELECT } from './ledger.ts'

/** `waiting`: queued, and not tried yet. `retried`: queued after a try that failed. */
export type ListedState = DeliveryState | 'waiting' | 'retried'

/** All that is given must hold. Times are epoch milliseconds, inclusive, of when deliveries were made. */
export interface PageFilter {
  account: number
  state?: ListedState | undefined
  rule?: number | undefined
  alert?: string | undefined
  channel?: string | undefined
  target?: string | undefined
  since?: number | undefined
  until?: number | undefined
  /** `next` of the page before. */
  before?: number | undefined
  limit: number
}

export interface DeliveryPage {
  deliveries: DeliveryInfo[]
  /** Where the next page begins; null: this was the last. A page may have less than it could: so many were looked at. */
  next: number | null
}

/** What waits for a receiver, and what it never got. */
export interface DestinationInfo {
  channel: Action['type']
  /** Without its secrets. */
  target: string
  waiting: number
  retried: number
  dead: number
  /** When something is tried next; null where nothing waits. */
  nextAt: number | null
}

export interface Destinations {
  destinations: DestinationInfo[]
  /** Whether all were counted: of very many, the first ones are. */
  complete: boolean
}

/** The deliveries of one account, across its rules. */
export interface Listing {
  /** The newest first. */
  page(filter: PageFilter): DeliveryPage
  /** Undefined also where it is another account's. */
  delivery(account: number, id: number): DeliveryRecord | undefined
  destinations(account: number): Destinations
}

/** Deliveries that one question looks at: the thread that answers it has others to send. */
const LOOK = 2_000
/** Those of a state that are counted by destination. */
const COUNTED = 20_000

const STATES = Object.keys({
  queued: true,
  delivered: true,
  dead: true,
  cancelled: true,
} satisfies Record<DeliveryState, true>) as DeliveryState[]

export const createListing = (db: Db): Listing => {
  const ofState = db
    .prepare<[object], number>(
      `SELECT id FROM delivery INDEXED BY delivery_account WHERE account = @account AND state = @state AND id < @before
       ORDER BY id DESC LIMIT ${LOOK}`,
    )
    .pluck()
  const ofRule = db
    .prepare<[object], number>(
      `SELECT id FROM delivery INDEXED BY delivery_rule WHERE rule = @rule AND id < @before ORDER BY id DESC LIMIT ${LOOK}`,
    )
    .pluck()
  const ofAlert = db
    .prepare<[object], number>(
      `SELECT id FROM delivery WHERE alert = @alert AND id < @before ORDER BY id DESC LIMIT ${LOOK}`,
    )
    .pluck()
  const find = db.prepare<[number, number], DeliveryInfo>(`${SELECT} WHERE d.id = ? AND d.account = ?`)
  const attempts = db.prepare<[number], AttemptInfo>(
    `SELECT n, at, latency_ms AS latencyMs, outcome, status, error, head, next_at AS nextAt, combined FROM attempt
     WHERE delivery = ? ORDER BY n`,
  )
  const counts = db.prepare<[object], Omit<DestinationInfo, 'nextAt'> & { nextAt: number | null; looked: number }>(
    `SELECT r.channel, r.shown AS target, sum(d.type <> 'alert.test' AND d.state = 'queued' AND d.tries = 0) AS waiting,
       sum(d.type <> 'alert.test' AND d.state = 'queued' AND d.tries > 0) AS retried,
       sum(d.type <> 'alert.test' AND d.state = 'dead') AS dead,
       min(CASE WHEN d.state = 'queued' THEN d.next_at END) AS nextAt, count(*) AS looked
     FROM delivery d INDEXED BY delivery_account JOIN receiver r ON r.id = d.receiver
     WHERE d.id IN (SELECT id FROM delivery INDEXED BY delivery_account WHERE account = @account AND state = @state ORDER BY id LIMIT ${COUNTED})
       AND d.account = @account AND d.state = @state
     GROUP BY r.channel, r.shown`,
  )

  /** Ids of those that may be on the page, the newest first. */
  const idsOf = ({ account, state, rule, alert, before = Number.MAX_SAFE_INTEGER }: PageFilter): number[] => {
    if (alert !== undefined) return ofAlert.all({ alert, before })
    if (rule !== undefined) return ofRule.all({ rule, before })
    const states = state === undefined ? STATES : [state === 'waiting' || state === 'retried' ? 'queued' : state]
    return states
      .flatMap(state => ofState.all({ account, state, before }))
      .sort((a, b) => b - a)
      .slice(0, LOOK)
  }

  return {
    page(filter) {
      const ids = idsOf(filter)
      const deliveries: DeliveryInfo[] = []
      for (const [at, id] of ids.entries()) {
        const found = find.get(id, filter.account)
        if (found && fits(found, filter)) deliveries.push(found)
        const isLast = at === ids.length - 1
        if (deliveries.length === filter.limit && !isLast) return { deliveries, next: id }
      }
      return { deliveries, next: ids.length < LOOK ? null : ids.at(-1)! }
    },

    delivery(account, id) {
      const found = find.get(id, account)
      return found && { ...found, attempts: attempts.all(id) }
    },

    destinations(account) {
      const found = new Map<string, DestinationInfo>()
      let complete = true
      for (const state of ['queued', 'dead'] as const) {
        const rows = counts.all({ account, state })
        if (rows.reduce((sum, { looked }) => sum + looked, 0) >= COUNTED) complete = false
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

const fits = (
  { state, tries, rule, channel, target, createdAt }: DeliveryInfo,
  { state: wanted, ...filter }: PageFilter,
): boolean =>
  isIn(wanted, state, tries) &&
  (filter.rule === undefined || rule === filter.rule) &&
  (filter.channel === undefined || channel === filter.channel) &&
  (filter.target === undefined || target === filter.target) &&
  (filter.since === undefined || createdAt >= filter.since) &&
  (filter.until === undefined || createdAt <= filter.until)

const isIn = (wanted: ListedState | undefined, state: DeliveryState, tries: number): boolean => {
  if (wanted === 'waiting') return state === 'queued' && tries === 0
  if (wanted === 'retried') return state === 'queued' && tries > 0
  return wanted === undefined || state === wanted
}
