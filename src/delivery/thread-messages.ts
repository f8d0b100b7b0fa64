import type { StoredAlert } from '../alerts/alert.ts'
import type { AlertsPage } from '../alerts/outbox.ts'
import type { Failure } from '../lib/errors.ts'
import type { LogMessage } from '../lib/log.ts'
import type { MetricSnapshot } from '../lib/metrics.ts'
import type { Limits } from '../limits/index.ts'
import type { StoredRule } from '../rules/rule.ts'
import type { DeliveryPage, Destinations, PageFilter } from './ledger/listing.ts'
import type { DeliveryInfo, DeliveryRecord, Failed, ListFilter, RedeliverFilter } from './ledger/records.ts'
import type { Ended } from './maintenance.ts'
import type { TestResult } from './sender.ts'
import type { AlertCountSeries, SeriesWanted } from './series.ts'

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

/** An alert with its state, and its deliveries with every attempt. */
export interface AlertRecord {
  /** Number of the alert, for the next page. */
  n: number
  alert: StoredAlert
  deliveries: DeliveryRecord[]
}

/** A receiver that takes nothing now, with its times as ISO-8601 UTC. */
export type FailingReceiver = Omit<Failed, 'since' | 'at'> & Record<'since' | 'at', string>

/** Questions of the main thread to the delivering one. */
export interface Questions {
  /** Sends each action of a rule once, as a test; `alert` is what it is filled from. */
  test(rule: StoredRule, alert: StoredAlert, signal: AbortSignal): Promise<TestResult[]>
  /** Alerts of a rule of that network, the newest first, with all deliveries and attempts. */
  alerts(network: string, rule: number, page: AlertsPage): AlertRecord[]
  /** How often rules have fired; those that have not are left out. */
  counts(rules: readonly number[] | undefined): Map<number, number>
  list(filter: ListFilter): DeliveryInfo[]
  /** Deliveries of an account across its rules, the newest first. */
  page(filter: PageFilter): DeliveryPage
  /** Undefined also where it is another account's. */
  delivery(account: number, id: number): DeliveryRecord | undefined
  /** Counts waiting and dead deliveries of an account, by receiver. */
  destinations(account: number): Destinations
  /** Counts alerts of rules, by time. */
  series(wanted: SeriesWanted): Promise<AlertCountSeries>
  /** Cancels what is queued for a rule that was deleted or paused; returns how many were cancelled since then (epoch milliseconds). */
  cancel(rule: number, why: Ended, since: number): Promise<number>
  /** Returns how many deliveries are queued again. */
  redeliver(filter: RedeliverFilter): number
  metrics(): MetricSnapshot[]
}

export type ToDelivery =
  | { type: 'stores'; stores: ReadonlyMap<string, string> }
  | { type: 'wake'; network: string }
  | { type: 'ask'; id: number; about: keyof Questions; args: unknown[] }
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
