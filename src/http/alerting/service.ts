import type { AlertState } from '../../alerts/alert.ts'
import type { PageFilter } from '../../delivery/ledger/listing.ts'
import type { FailingReceiver } from '../../delivery/thread-messages.ts'
import type { Log } from '../../lib/log.ts'
import type { TimeParts } from '../../lib/time.ts'
import { type Limits, overNow } from '../../limits/index.ts'
import type { OwnAbis } from '../../rules/argument-types.ts'
import type { RuleInput, StoredRule } from '../../rules/rule.ts'
import type { RuleSimulation, SimulatedRange } from '../../rules/search.ts'
import type { Rules } from '../../rules/store.ts'
import { routesOf } from '../request.ts'
import type {
  Alert,
  AlertSeries,
  DeliveryAnswer,
  DestinationsAnswer,
  Redelivery,
  TestPreviewAnswer,
  TestResultAnswer,
  WholeDelivery,
  WideRedelivery,
} from '../shapes/rules.ts'

/** Services for the routes below `/alerting/rules`. */
export interface Alerting {
  rules: Rules
  service: AlertingService
}

/** Services that rules need besides their storage: networks, histories, deliveries. */
export interface AlertingService {
  /** Why the rule currently matches nothing, as a sentence: network not configured, … */
  idle(rule: StoredRule): string | undefined
  /** Warnings as sentences, failing receivers first: impossible value, channel not configured, … */
  warnings(rule: StoredRule): string[]
  /** Receivers of the rule whose last delivery failed. */
  failing(rule: StoredRule): FailingReceiver[]
  /** First block for a rule created now on `technology/blockchain/network`; null: head unknown. */
  startBlockOf(network: string): Promise<number | null>
  /** Why messages to a URL's host are refused, to complete "the host is …". */
  refusedHost(hostname: string): string | undefined
  /** ABIs with the types of arguments. */
  abis: OwnAbis
  /** Number of alerts by rule; a missing rule has none. */
  triggerCounts(rules: readonly number[]): Promise<ReadonlyMap<number, number>>
  simulate(
    rule: RuleInput,
    range: SimulatedRange,
    asking: { account: number; signal: AbortSignal },
  ): Promise<RuleSimulation>
  /** Sends each of the rule's alerts once, for the document `id` or else the newest match. */
  test(rule: StoredRule, id: string | undefined, signal: AbortSignal): Promise<TestResultAnswer>
  /** Previews the messages of the rule's alerts. Nothing is sent. */
  preview(
    rule: RuleInput,
    id: string | undefined,
    asking: { account: number; signal: AbortSignal },
  ): Promise<TestPreviewAnswer>
  /** Newest first. */
  alerts(rule: StoredRule, page: AlertsRequest): Promise<AlertPage>
  /**
   * Cancels deliveries queued for a rule that was deleted or paused at `since` (epoch ms). Returns
   * their number; null if a fault suspends deliveries, which then cancel on resumption.
   */
  cancel(rule: StoredRule, why: 'deleted' | 'paused', since: number): Promise<number | null>
  redeliver(rule: StoredRule, which: Redelivery): Promise<{ redelivered: number }>
  /** The account's deliveries, newest first. */
  deliveries(filter: PageFilter): Promise<{ deliveries: DeliveryAnswer[]; next: string | null }>
  /** With all attempts; undefined also for those of another account. */
  delivery(account: number, id: number): Promise<WholeDelivery | undefined>
  /** Waiting and dead deliveries by receiver of the account. */
  destinations(account: number): Promise<DestinationsAnswer>
  redeliverAll(account: number, which: WideRedelivery): Promise<{ redelivered: number }>
  /** Counts of alerts by the time their blocks arrived. */
  series(rules: readonly StoredRule[], parts: TimeParts): Promise<AlertSeries>
}

export interface AlertsRequest {
  size: number
  /** `next` of the previous page. */
  before: string | undefined
  state: AlertState | undefined
}

export interface AlertPage {
  alerts: Alert[]
  /** Cursor of the next page; null after the last one. */
  next: string | null
}

interface RuleServices extends Alerting {
  limits: Limits
  log: Log
  gate: Gate
}

/** Whether an account has a watch list of that name. */
export const hasListOf =
  ({ lists }: Pick<Rules, 'lists'>, account: number) =>
  (name: string): boolean =>
    lists.get(account, name) !== undefined

export const ruleRoute = routesOf<RuleServices>('Rules')
export const RULES_PATH = '/alerting/rules'
export const RULE_PATH = `${RULES_PATH}/{id}`
/** Limits an account's parallel simulations and tests; beyond that, clients must retry. */
type Gate = <T>(account: number, work: () => Promise<T>) => Promise<T>

export const createGate = (limits: Limits): Gate => {
  const busy = new Map<number, number>()
  return async (account, work) => {
    const count = busy.get(account) ?? 0
    if (count >= limits.simulations) throw overNow('simulations', limits)
    busy.set(account, count + 1)
    try {
      return await work()
    } finally {
      const left = busy.get(account)! - 1
      if (left > 0) busy.set(account, left)
      else busy.delete(account)
    }
  }
}

export const RULE_EXAMPLE = {
  name: 'Large transfers',
  maxConfirmationCount: 3,
  technology: 'ethereum',
  blockchain: 'demo',
  network: 'local',
  config: {
    targetType: 'Event',
    targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
    alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://alerts.example/chain' } }],
  },
}
