import type { StoredAlert } from '../alerts/alert.ts'
import type { AlertsPage } from '../alerts/outbox.ts'
import type { TransferredError } from '../lib/errors.ts'
import type { LogMessage } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import type { MetricSnapshot } from '../metrics/index.ts'
import type { StoredRule } from '../rules/rule.ts'
import type { DeliveryPage, Destinations, PageFilter } from './ledger/listing.ts'
import type { DeliveryInfo, DeliveryRecord, Failed, ListFilter, RedeliverFilter } from './ledger/records.ts'
import type { LinkSettings } from './links.ts'
import type { Ended } from './maintenance.ts'
import type { TestResult } from './sender.ts'
import type { AlertCountSeries, SeriesWanted } from './series.ts'

export interface DeliveryData {
  data: string
  /** Store files by network. */
  stores: ReadonlyMap<string, string>
  settings: {
    allowTarget: readonly string[]
    /** In plain text, as messages cannot carry secrets. */
    smtp: string | undefined
    mailFrom: string | undefined
    digestMs: number
    /** Waits after each failed try in milliseconds; empty: the default. */
    retries: readonly number[]
    timeoutMs: number
    keepMs: number | undefined
    links: LinkSettings
    limits: Limits
  }
}

export interface AlertRecord {
  /** Cursor of the next page. */
  n: number
  alert: StoredAlert
  deliveries: DeliveryRecord[]
}

/** A failing receiver with its times as ISO 8601 UTC. */
export type FailingReceiver = Omit<Failed, 'since' | 'at'> & Record<'since' | 'at', string>

/** Requests of the main thread to the delivery thread. */
export interface Questions {
  /** Sends each action of a rule once as a test, with the data of `alert`. */
  test(rule: StoredRule, alert: StoredAlert, signal: AbortSignal): Promise<TestResult[]>
  /** Alerts of a rule with deliveries and attempts, newest first. */
  alerts(network: string, rule: number, page: AlertsPage): AlertRecord[]
  /** Number of alerts by rule; rules without alerts are omitted. */
  counts(rules: readonly number[] | undefined): Map<number, number>
  list(filter: ListFilter): DeliveryInfo[]
  /** Deliveries of an account, newest first. */
  page(filter: PageFilter): DeliveryPage
  /** Undefined also for another account's delivery. */
  delivery(account: number, id: number): DeliveryRecord | undefined
  destinations(account: number): Destinations
  series(wanted: SeriesWanted): Promise<AlertCountSeries>
  /** Cancels deliveries of a deleted or paused rule; returns the number since then (epoch, ms). */
  cancel(rule: number, why: Ended, since: number): Promise<number>
  redeliver(filter: RedeliverFilter): number
  metrics(): MetricSnapshot[]
}

export type ToDelivery =
  | { type: 'stores'; stores: ReadonlyMap<string, string> }
  | { type: 'wake'; network: string }
  | { type: 'ask'; id: number; about: keyof Questions; args: unknown[] }
  /** The answer is no longer needed. */
  | { type: 'drop'; id: number }
  | { type: 'stop' }

export type FromDelivery =
  /** Sent when it changes. */
  | { type: 'failing'; receivers: FailingReceiver[] }
  /** Sent every second; `stuck`: why deliveries stopped. */
  | { type: 'pulse'; stuck: string | null }
  | { type: 'answer'; id: number; answer: unknown }
  | { type: 'failed'; id: number; failure: TransferredError }
  | LogMessage
