import type { AlertState } from '../../alerts/alert.ts'
import type { PageFilter } from '../../delivery/ledger/listing.ts'
import type { FailingReceiver } from '../../delivery/thread-messages.ts'
import type { Log } from '../../lib/log.ts'
import type { Parts } from '../../lib/time.ts'
import { type Limits, overNow } from '../../limits/index.ts'
import type { OwnAbis } from '../../rules/declared.ts'
import type { RuleInput, StoredRule } from '../../rules/rule.ts'
import type { Simulation, SimulationRange } from '../../rules/search.ts'
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

/** What is known of rules beside their text: networks, histories, deliveries. */
export interface AlertingService {
  /** Why the rule matches nothing for now, in a sentence: its network is not configured, its entities are not indexed … */
  idle(rule: StoredRule): string | undefined
  /** What will not do what its owner may expect, each in a sentence, its failing receivers first: a value that nothing equals, a channel that is not configured … */
  warnings(rule: StoredRule): string[]
  /** Receivers of the rule whose last delivery failed. */
  failing(rule: StoredRule): FailingReceiver[]
  /** The first block that a rule made now looks at (`technology/blockchain/network`); null while the network's head is not known. */
  startBlockOf(network: string): Promise<number | null>
  /** Why nothing is sent to the host of a URL, to complete "the host is …". */
  refusedHost(hostname: string): string | undefined
  /** ABIs that tell the types of arguments. */
  abis: OwnAbis
  /** How often each rule has fired, by rule id; one that is missing has not. */
  triggerCounts(rules: readonly number[]): Promise<ReadonlyMap<number, number>>
  simulate(
    rule: RuleInput,
    range: SimulationRange,
    asking: { account: number; signal: AbortSignal },
  ): Promise<Simulation>
  /** Sends each of the rule's alerts once, for the document of that id or, without one, for the newest that matches. */
  test(rule: StoredRule, id: string | undefined, signal: AbortSignal): Promise<TestResultAnswer>
  /** What each of the rule's alerts would send, for the same document. Nothing is sent. */
  preview(rule: RuleInput, id: string | undefined, signal: AbortSignal): Promise<TestPreviewAnswer>
  /** The newest first. */
  alerts(rule: StoredRule, page: AlertsWanted): Promise<AlertPage>
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
  /** What waits for each receiver of the account, and what it never got. */
  destinations(account: number): Promise<DestinationsAnswer>
  redeliverAll(account: number, which: WideRedelivery): Promise<{ redelivered: number }>
  /** How many alerts rules had, by when their blocks were received. */
  series(rules: readonly StoredRule[], parts: Parts): Promise<AlertSeries>
}

export interface AlertsWanted {
  size: number
  /** `next` of the page before. */
  before: string | undefined
  state: AlertState | undefined
}

export interface AlertPage {
  alerts: Alert[]
  /** Where the next page begins; null after the last page. */
  next: string | null
}

/** What the routes below `/alerting` are answered by. */
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
