import * as v from 'valibot'
import { TARGET_TYPES } from '../../rules/rule.ts'
import {
  anyOf,
  atLeast,
  boolean,
  closed,
  described,
  filled,
  flag,
  instant,
  integer,
  json,
  listOf,
  may,
  named,
  type Of,
  object,
  oneOf,
  open,
  orNull,
  ranges,
  text,
  time,
  whole,
} from './values.ts'

/** Rules, their alerts and deliveries. */

export const alertState = oneOf(['pending', 'confirmed', 'withdrawn', 'retracted'])
const deliveryState = oneOf(['queued', 'delivered', 'dead', 'cancelled'])

const networkName = v.pipe(text, v.regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/))
/** A name, any name, or several. */
const networkPart = anyOf([networkName, v.literal('*'), v.pipe(listOf(networkName), v.minLength(1))])

const ruleConfig = closed({
  targetType: described('What the rule looks at.', oneOf(TARGET_TYPES)),
  targetMap: described('Conditions, all of which must hold.', listOf(named('Condition'))),
  alerts: described('Whom the rule notifies.', listOf(named('Action'))),
})

const startBlock = described('First block that the rule looks at; by default the next one.', orNull(atLeast(0)))

const enabled = described('A rule that is not enabled matches nothing.', flag)

const mayHave = {
  version: may(whole),
  description: may(orNull(text)),
  enabled: may(enabled),
  startBlock: may(startBlock),
  notifyPending: may(described('Also sends a match while it is pending.', flag)),
}

const mustHave = {
  name: text,
  maxConfirmationCount: described(
    'Blocks above a match’s own before the rule fires; or `safe` or `finalized`: it fires once nodes tell the block to be that.',
    anyOf([v.pipe(atLeast(0), v.maxValue(100_000)), oneOf(['safe', 'finalized'])]),
  ),
  ...{ technology: networkPart, blockchain: networkPart, network: networkPart },
  config: ruleConfig,
}

const failure = closed({ channel: text, target: text, since: time, at: time, status: orNull(whole), error: text })

/** What an answer adds to a rule. */
const added = {
  ...{ id: whole, createdAt: time, updatedAt: time, triggerCount: atLeast(0) },
  idle: described('Why the rule matches nothing for now.', orNull(text)),
  failing: described(
    'Receivers of the rule whose last delivery failed, and since when nothing was delivered to them. The first of `warnings` say the same.',
    listOf(failure),
  ),
  warnings: listOf(text),
}
const rule = open({ ...mustHave, ...mayHave, enabled, startBlock, ...added })

/** Blocks that a simulation looks through, both included; by default all that are stored. */
const range = {
  fromBlock: may(integer({ min: 0 })),
  toBlock: may(integer({ min: 0 })),
  lastBlocks: may(described('So many of the newest blocks, in place of fromBlock and toBlock.', integer({ min: 1 }))),
  size: may(integer({ min: 0, max: 1_000 })),
  buckets: may(described('Parts of time by which matches are counted, at most.', integer({ min: 1, max: 500 }))),
}
export const simulationRange = closed(range)

/** When each begins, and how much was found from then on. */
const buckets = listOf(closed({ from: time, count: whole }))
const simulation = closed({
  total: described('How often the rule would have fired.', whole),
  complete: described('Whether all blocks of the range are stored.', flag),
  ...{ holes: ranges, fromBlock: whole, toBlock: whole, hits: listOf(object) },
  series: may(
    described(
      'Matches by the time of blocks, where `buckets` asked for it.',
      orNull(closed({ intervalMs: whole, buckets })),
    ),
  ),
  warnings: may(
    described('What will not do what the owner of the rule may expect, as in a stored rule.', listOf(text)),
  ),
})

const idToTest = {
  _id: may(described('A stored document; by default the newest that matches.', filled('the id of a stored document'))),
}
export const testRequest = closed(idToTest)

const entity = closed({ _id: text, _type: text })
const testResult = closed({
  entity,
  deliveries: listOf(
    closed({
      ...{ action: whole, type: text, target: text, delivered: flag },
      ...{ status: orNull(whole), error: orNull(text), latencyMs: whole },
    }),
  ),
})
const testPreview = closed({
  entity,
  // Of a webhook or a chat, of an email, or of what would be refused.
  messages: listOf(
    closed({
      ...{ action: whole, type: text, method: may(text), url: may(text) },
      body: may(described('Null of a GET.', orNull(json<object>({ type: 'object' })))),
      ...{ to: may(listOf(text)), subject: may(text), text: may(text) },
      refused: may(described('Why nothing would be sent.', text)),
    }),
  ),
})

const deliveryEntries = {
  ...{ id: whole, network: text, alert: text, type: text, rule: whole },
  action: described('Place in the rule’s alerts.', whole),
  ...{ channel: text, target: text, state: deliveryState },
  ...{ tries: whole, nextAt: orNull(time), createdAt: time, deliveredAt: orNull(time) },
  ...{ lastStatus: orNull(whole), lastError: orNull(text) },
}
const delivery = closed(deliveryEntries)
const attempt = closed({
  ...{ n: whole, at: time, latencyMs: whole, outcome: oneOf(['delivered', 'retry', 'gone', 'refused', 'aborted']) },
  ...{ status: orNull(whole), error: orNull(text) },
  head: described('The beginning of the answer.', orNull(text)),
  ...{ nextAt: orNull(time), combined: whole },
})
const wholeDelivery = closed({ ...deliveryEntries, attempts: listOf(attempt) })

const alert = open({
  ...{ id: text, network: may(described('Of a rule of several networks.', text)), state: alertState },
  ...{ block: whole, blockHash: text, confirmations: anyOf([whole, oneOf(['safe', 'finalized'])]), entity },
  ...{ receivedAt: time, changedAt: time, deliveries: listOf(wholeDelivery) },
})

/** Which deliveries are sent again: all that fulfil what is given. */
const which = {
  alert: may(filled('the id of an alert')),
  from: may(instant),
  to: may(instant),
  dead: may(boolean),
}
export const redelivery = closed(which)
export const wideRedelivery = closed({
  delivery: may(integer({ min: 1 })),
  rule: may(integer({ min: 1 })),
  channel: may(filled('a channel such as "Email"')),
  target: may(filled('a target, as deliveries show it')),
  ...which,
})

const destination = closed({
  ...{ channel: text, target: text, waiting: whole, retried: whole, dead: whole, nextAt: orNull(time) },
  failing: orNull(closed({ since: time, at: time, error: text, status: orNull(whole) })),
})
const destinations = closed({
  complete: described('Whether all deliveries were counted.', flag),
  destinations: listOf(destination),
})

const seriesOfRule = closed({
  ...{ id: whole, name: text, enabled: flag, idle: orNull(text) },
  ...{ counts: listOf(whole), total: whole, last24h: whole },
  lastAlert: orNull(closed({ id: text, state: alertState, block: whole, receivedAt: time, changedAt: time })),
})
const series = closed({
  ...{ from: time, to: time, intervalMs: whole },
  complete: described('Whether all alerts were counted.', flag),
  rules: listOf(seriesOfRule),
})

const next = (parameter: string) => described(`\`${parameter}\` of the next page; null on the last one.`, orNull(text))

export const RULE_SHAPES = {
  Rule: described(
    'An alert rule. Properties with other names are kept as they are. docs/alerts.md explains it.',
    open({ ...mustHave, ...mayHave }),
  ),
  RuleChange: described('The properties to change.', v.partial(open({ ...mustHave, ...mayHave }))),
  RuleConfig: ruleConfig,
  StoredRule: rule,
  Rules: closed({ rules: listOf(rule), next: next('after') }),
  CreatedRules: closed({ rules: listOf(closed({ id: whole, name: text })) }),
  SimulationRange: simulationRange,
  RuleToSimulate: open({ ...mustHave, ...mayHave, ...range }),
  RuleToTest: open({ ...mustHave, ...mayHave, ...idToTest }),
  Simulation: simulation,
  TestRequest: testRequest,
  TestResult: testResult,
  TestPreview: testPreview,
  Alerts: closed({ alerts: listOf(alert), next: next('before') }),
  Redelivery: redelivery,
  Redelivered: closed({ redelivered: whole }),
  Delivery: delivery,
  WholeDelivery: wholeDelivery,
  WideRedelivery: wideRedelivery,
  Destinations: destinations,
  AlertSeries: series,
}

export type Alert = Of<typeof alert>
export type RuleAnswer = Of<typeof rule>
export type SimulationRange = Of<typeof simulationRange>
export type SimulationAnswer = Of<typeof simulation>
export type TestResultAnswer = Of<typeof testResult>
export type TestPreviewAnswer = Of<typeof testPreview>
export type DeliveryAnswer = Of<typeof delivery>
export type WholeDelivery = Of<typeof wholeDelivery>
export type AttemptAnswer = Of<typeof attempt>
export type Redelivery = Of<typeof redelivery>
export type WideRedelivery = Of<typeof wideRedelivery>
export type DestinationsAnswer = Of<typeof destinations>
export type AlertSeries = Of<typeof series>
export type SeriesOfRule = Of<typeof seriesOfRule>
