import type { StoredAlert } from '../alerts/alert.ts'
import type { AlertsPage } from '../alerts/outbox.ts'
import type { Failure } from '../lib/failure.ts'
import type { MetricSnapshot } from '../lib/metrics.ts'
import type { LogMessage } from '../lib/thread-log.ts'
import type { Limits } from '../limits/index.ts'
import type { StoredRule } from '../rules/rule.ts'
import type { DeliveryInfo, DeliveryRecord, Failed, ListFilter, RedeliverFilter } from './ledger.ts'
import type { DeliveryPage, Destinations, PageFilter } from './listing.ts'
import type { TestResult } from './sender.ts'
import type { Series, SeriesWanted } from './series.ts'
import type { Ended } from './upkeep.ts'

/** Messages between the main thread and the delivering thread. */

export interface DeliveryData {
  data: string
  /** File of each network's store, by network. */
  stores: ReadonlyMap<string, string>
  settings: {
    allowTarget: readonly string[]
    /** In plain text: secrets cannot travel otherwise. */
    smtp: string | undefined
    mailFrom: string | undefined
    digestMs: number
    /** Waits after each failed try, in milliseconds; none: the usual ones. */
    retries: readonly number[]
    timeoutMs: number
    keepMs: number | undefined
    limits: Limits
  }
}

/** What an alert came to, and what became of its deliveries. */
export interface AlertRecord {
  /** Number of the alert, for the next page. */
  n: number
  alert: StoredAlert
  deliveries: DeliveryRecord[]
}

/** A receiver that takes nothing now, with its times as ISO-8601 UTC. */
export type FailingReceiver = Omit<Failed, 'since' | 'at'> & Record<'since' | 'at', string>

/** Questions by name: what is asked, and what is answered. */
export interface Questions {
  test: { ask: { rule: StoredRule; alert: StoredAlert }; answer: TestResult[] }
  alerts: { ask: { network: string; rule: number; page: AlertsPage }; answer: AlertRecord[] }
  counts: { ask: { rules: readonly number[] | undefined }; answer: Map<number, number> }
  list: { ask: ListFilter; answer: DeliveryInfo[] }
  page: { ask: PageFilter; answer: DeliveryPage }
  delivery: { ask: { account: number; id: number }; answer: DeliveryRecord | undefined }
  destinations: { ask: { account: number }; answer: Destinations }
  series: { ask: SeriesWanted; answer: Series }
  cancel: { ask: { rule: number; why: Ended; since: number }; answer: number }
  redeliver: { ask: RedeliverFilter; answer: number }
  metrics: { ask: Record<never, never>; answer: MetricSnapshot[] }
}
export type Question = { [Q in keyof Questions]: { about: Q; ask: Questions[Q]['ask'] } }[keyof Questions]

export type ToDelivery =
  | { type: 'stores'; stores: ReadonlyMap<string, string> }
  | { type: 'wake'; network: string }
  | { type: 'ask'; id: number; question: Question }
  /** Nobody waits for the answer any more. */
  | { type: 'drop'; id: number }
  | { type: 'stop' }

export type FromDelivery =
  /** Told when it changes. */
  | { type: 'failing'; receivers: FailingReceiver[] }
  /** Told every second; `stuck`: why it cannot go on. */
  | { type: 'pulse'; stuck: string | null }
  | { type: 'answer'; id: number; answer: unknown }
  | { type: 'failed'; id: number; failure: Failure }
  | LogMessage
