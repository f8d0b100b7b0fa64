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

/** The services that the routes below `/alerting/rules` use. */
export interface Alerting {
  rules: Rules
  service: AlertingService
}

/** Services around the text of rules: networks, histories, deliveries. */
export interface AlertingService {
  /** Why the rule matches nothing for now, in a sentence: its network is not configured, its entities are not indexed … */
  idle(rule: StoredRule): string | undefined
  /** Warnings as sentences, failing receivers first: a value that nothing equals, a channel that is not configured … */
  warnings(rule: StoredRule): string[]
  /** Receivers of the rule whose last delivery failed. */
  failing(rule: StoredRule): FailingReceiver[]
  /** The first block that a rule made now looks at (`technology/blockchain/network`); null while the network's head is not known. */
  startBlockOf(network: string): Promise<number | null>
  /** Why nothing is sent to the host of a URL, to complete "the host is …". */
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
  /** Sends each of the rule's alerts once, for the document of that id or, without one, for the newest that matches. */
  test(rule: StoredRule, id: string | undefined, signal: AbortSignal): Promise<TestResultAnswer>
  /** Previews the messages of the rule's alerts. Nothing is sent. */
  preview(rule: RuleInput, id: string | undefined, signal: AbortSignal): Promise<TestPreviewAnswer>
  /** The newest first. */
  alerts(rule: StoredRule, page: AlertsRequest): Promise<AlertPage>
  /**
   * Cancels what is queued for a rule that was deleted or paused since then (epoch milliseconds), and tells how many those are: null where
   * deliveries rest for a fault, and are cancelled when they go on.
   */
  cancel(rule: StoredRule, why: 'deleted' | 'paused', since: number): Promise<number | null>
  redeliver(rule: StoredRule, which: Redelivery): Promise<{ redelivered: number }>
  /** The account's deliveries, the newest first. */
  deliveries(filter: PageFilter): Promise<{ deliveries: DeliveryAnswer[]; next: string | null }>
  /** With every attempt; undefined also where it is another account's. */
  delivery(account: number, id: number): Promise<WholeDelivery | undefined>
  /** Waiting and dead deliveries by receiver of the account. */
  destinations(account: number): Promise<DestinationsAnswer>
  redeliverAll(account: number, which: WideRedelivery): Promise<{ redelivered: number }>
  /** Counts of alerts by the time their blocks arrived. */
  series(rules: readonly StoredRule[], parts: TimeParts): Promise<AlertSeries>
}

export interface AlertsRequest {
  size: number
  /** `next` of the page before. */
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

export const ruleRoute = routesOf<RuleServices>('Rules')
export const RULES_PATH = '/alerting/rules'
export const RULE_PATH = `${RULES_PATH}/{id}`
/** Lets an account run a number of simulations and tests at once; a further one must try again later. */
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
