import * as v from 'valibot'
import { MAX_GROUP, MAX_QUIET } from '../../rules/notify/check.ts'
import { DOCUMENT_TARGETS, TARGET_TYPES } from '../../rules/rule.ts'
import { MAX_READ_BLOCKS } from '../../rules/state/check.ts'
import { AGGREGATES, WINDOW_OPERATORS } from '../../rules/windows/check.ts'
import {
  anyRecord,
  arrayOf,
  choiceOf,
  described,
  extensible,
  filled,
  flag,
  instant,
  int,
  intBetween,
  intFrom,
  json,
  mapOf,
  may,
  type Of,
  orNull,
  ranges,
  refTo,
  str,
  strict,
  timestamp,
  trueOrFalse,
  unionOf,
} from './values.ts'

/** Rules, their alerts and deliveries. */

export const alertState = choiceOf(['pending', 'confirmed', 'withdrawn', 'retracted', 'resolved'])
const deliveryState = choiceOf(['queued', 'delivered', 'dead', 'cancelled', 'silenced'])

const networkName = v.pipe(str, v.regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/))
/** A name, any name, or several. */
const networkPart = unionOf([networkName, v.literal('*'), v.pipe(arrayOf(networkName), v.minLength(1))])

const windowCondition = {
  aggregate: choiceOf(AGGREGATES),
  name: may(described('Field to aggregate; not with `Count`.', str)),
  operator: may(choiceOf(WINDOW_OPERATORS)),
  value: may(described('A number as text; not with `First`.', str)),
  relativeTo: may(
    described('The value is a factor of the mean of so many windows before.', strict({ windows: intFrom(1) })),
  ),
}
const span = strict({ blocks: may(intFrom(1)), seconds: may(intFrom(1)) })

const stepShape = {
  targetType: may(choiceOf(DOCUMENT_TARGETS)),
  targetMap: may(arrayOf(refTo('Condition'))),
  by: may(described('Fields with the same values in all steps, paired by their places.', arrayOf(str))),
  network: may(described('Path of the network in which it comes; without, any one of the rule.', str)),
}

const { network: _, ...untilShape } = stepShape

const when = strict({
  by: may(described('Fields; each combination of values has a window.', arrayOf(str))),
  keys: may(described('Values of `by` to watch although nothing matched.', arrayOf(str))),
  within: may(described('Either blocks, or seconds of the chain; not with the targetType State.', span)),
  conditions: may(described('All must hold; instead of `steps`.', arrayOf(strict(windowCondition)))),
  across: may(described('Over all networks of the rule, by the times of their blocks.', flag)),
  hold: may(described('How long they must hold before an episode opens.', span)),
  resolve: may(
    described(
      'End an episode whose conditions no longer hold; of the targetType State, conditions on the reading.',
      arrayOf(unionOf([strict(windowCondition), refTo('Condition')])),
    ),
  ),
  steps: may(
    described(
      'What must follow each other within one window. The first may leave out what the rule itself looks for.',
      v.pipe(
        arrayOf(strict({ ...stepShape, missing: may(described('With the last one: it must not come.', flag)) })),
        v.minLength(2),
        v.maxLength(5),
      ),
    ),
  ),
  until: may(described('Ends a sequence of steps that has begun.', strict(untilShape))),
})

const ruleConfig = strict({
  targetType: described('What the rule looks at.', choiceOf(TARGET_TYPES)),
  targetMap: described('Conditions, all of which must hold.', arrayOf(refTo('Condition'))),
  read: may(
    described(
      'What a rule with the targetType State reads, at blocks whose number is divisible by `every.blocks`: `balances`, or a `call` of a view function of `address`, given by its declaration.',
      strict({
        balances: may(v.pipe(arrayOf(str), v.minLength(1))),
        address: may(str),
        call: may(str),
        args: may(arrayOf(str)),
        decimals: may(v.pipe(intFrom(0), v.maxValue(77))),
        every: strict({ blocks: v.pipe(intFrom(1), v.maxValue(MAX_READ_BLOCKS)) }),
      }),
    ),
  ),
  alerts: described('Whom the rule notifies.', arrayOf(refTo('Action'))),
  when: may(described('Windows over the matches; without it, each match is an alert.', when)),
  notify: may(
    strict({
      resolved: may(described('Tells when the conditions of `when` hold no longer.', flag)),
      again: may(
        described(
          'Tells an open alert of `when` again, so long after it was last told; `Worse`: once a value is further beyond its bound.',
          strict({ after: span, if: may(choiceOf(['Worse'])) }),
        ),
      ),
      quiet: may(
        described(
          'After an alert for the values of these fields, none for so many blocks, or seconds of the chain’s time.',
          strict({
            by: may(v.pipe(arrayOf(str), v.maxLength(3))),
            blocks: may(v.pipe(intFrom(1), v.maxValue(MAX_QUIET.blocks))),
            seconds: may(v.pipe(intFrom(1), v.maxValue(MAX_QUIET.seconds))),
          }),
        ),
      ),
      group: may(
        described(
          'Alerts with the same values of these fields within a time are one message.',
          strict({
            by: may(v.pipe(arrayOf(str), v.maxLength(3))),
            wait: strict({ seconds: v.pipe(intFrom(1), v.maxValue(MAX_GROUP.seconds)) }),
            size: may(v.pipe(intFrom(2), v.maxValue(MAX_GROUP.size))),
          }),
        ),
      ),
    }),
  ),
})

const startBlock = described('First block that the rule looks at; by default the next one.', orNull(intFrom(0)))

const enabled = described('A rule that is not enabled matches nothing.', flag)

const mayHave = {
  version: may(int),
  description: may(orNull(str)),
  enabled: may(enabled),
  startBlock: may(startBlock),
  notifyPending: may(described('Also sends a match while it is pending.', flag)),
  sendPendingAlerts: may(
    described('What rules of the original service call `notifyPending`, which has precedence.', flag),
  ),
}

const mustHave = {
  name: str,
  maxConfirmationCount: described(
    'Blocks above a match’s own before the rule fires; or `safe` or `finalized`: it fires once nodes report the block as such.',
    unionOf([v.pipe(intFrom(0), v.maxValue(100_000)), choiceOf(['safe', 'finalized'])]),
  ),
  ...{ technology: networkPart, blockchain: networkPart, network: networkPart },
  config: ruleConfig,
}

const failure = strict({ channel: str, target: str, since: timestamp, at: timestamp, status: orNull(int), error: str })

const added = {
  ...{ id: int, createdAt: timestamp, updatedAt: timestamp, triggerCount: intFrom(0) },
  idle: described('Why the rule matches nothing for now.', orNull(str)),
  failing: described(
    'Receivers of the rule whose last delivery failed, and since when nothing was delivered to them. The first of `warnings` say the same.',
    arrayOf(failure),
  ),
  warnings: arrayOf(str),
}
const rule = extensible({ ...mustHave, ...mayHave, enabled, startBlock, ...added })

/** Inclusive blocks to simulate; by default all stored ones, or, of a rule that reads state, the newest that it reads. */
const blockRange = {
  fromBlock: may(intBetween({ min: 0 })),
  toBlock: may(intBetween({ min: 0 })),
  lastBlocks: may(
    described('So many of the newest blocks, in place of fromBlock and toBlock.', intBetween({ min: 1 })),
  ),
  size: may(intBetween({ min: 0, max: 1_000 })),
  buckets: may(described('Parts of time by which matches are counted, at most.', intBetween({ min: 1, max: 500 }))),
}
export const simulationRange = strict(blockRange)

/** Start of each, and its number of matches. */
const buckets = arrayOf(strict({ from: timestamp, count: int }))
const atBlock = strict({ block: int, time: timestamp })
const stepsOfAlert = may(
  described(
    'Of a rule with steps: where each came, and which did not.',
    arrayOf(unionOf([strict({ network: may(str), block: int, _id: str }), strict({ missing: flag })])),
  ),
)
const episode = strict({
  network: may(described('Only for several networks.', str)),
  key: mapOf(orNull(str)),
  opened: atBlock,
  ended: may(described('Null while it is open; absent with `First` and with steps.', orNull(atBlock))),
  matches: int,
  steps: stepsOfAlert,
  peak: described(
    'Of each condition, the value that was furthest beyond its bound.',
    arrayOf(strict({ aggregate: may(choiceOf(AGGREGATES)), name: may(str), value: orNull(str) })),
  ),
})
const simulatedWindows = strict({
  episodes: described('The newest 1,000; `alerts` is their number.', arrayOf(episode)),
  open: described('How many have not ended.', int),
  undecided: described('Blocks at which a window reached into blocks that are not stored.', ranges),
})
const simulation = strict({
  total: described('How often the rule would have fired; of a rule with `when`, its matches.', int),
  complete: described('Whether all blocks of the range are stored.', flag),
  ...{ holes: ranges, fromBlock: int, toBlock: int, hits: arrayOf(anyRecord) },
  series: may(
    described('Matches by the time of blocks, if `buckets` was given.', orNull(strict({ intervalMs: int, buckets }))),
  ),
  alerts: may(described('How many alerts there would have been; null if it takes too long to tell.', orNull(int))),
  messages: may(
    described(
      'Messages to each receiver of the rule, as if each block had been final at once.',
      arrayOf(strict({ action: int, type: str, messages: orNull(int) })),
    ),
  ),
  windows: may(described('Of a rule with `when`.', simulatedWindows)),
  warnings: may(
    described('What will not do what the owner of the rule may expect, as in a stored rule.', arrayOf(str)),
  ),
})

const idToTest = {
  _id: may(described('A stored document; by default the newest that matches.', filled('the id of a stored document'))),
}
export const testRequest = strict(idToTest)

const entity = strict({ _id: str, _type: str })
const testResult = strict({
  entity,
  deliveries: arrayOf(
    strict({
      ...{ action: int, type: str, target: str, delivered: flag },
      ...{ status: orNull(int), error: orNull(str), latencyMs: int },
    }),
  ),
})
const testPreview = strict({
  entity,
  // Messages of a webhook or chat, of an email, or refused ones.
  messages: arrayOf(
    strict({
      ...{ action: int, type: str, method: may(str), url: may(str) },
      body: may(described('Null of a GET.', orNull(json<object>({ type: 'object' })))),
      ...{ to: may(arrayOf(str)), subject: may(str), text: may(str) },
      refused: may(described('Why nothing would be sent.', str)),
    }),
  ),
})

const deliveryEntries = {
  ...{ id: int, network: str, alert: str, type: str, rule: int },
  action: described('Place in the rule’s alerts.', int),
  ...{ channel: str, target: str, state: deliveryState },
  ...{ tries: int, nextAt: orNull(timestamp), createdAt: timestamp, deliveredAt: orNull(timestamp) },
  ...{ lastStatus: orNull(int), lastError: orNull(str) },
  silence: may(described('The silence by which it was not sent.', int)),
}
const delivery = strict(deliveryEntries)
const attemptShape = strict({
  ...{ n: int, at: timestamp, latencyMs: int, outcome: choiceOf(['delivered', 'retry', 'gone', 'refused', 'aborted']) },
  ...{ status: orNull(int), error: orNull(str) },
  head: described('The beginning of the answer.', orNull(str)),
  ...{ nextAt: orNull(timestamp), combined: int },
})
const wholeDelivery = strict({ ...deliveryEntries, attempts: arrayOf(attemptShape) })

const windowValue = strict({
  ...{ aggregate: may(described('Absent of readings.', choiceOf(AGGREGATES))), name: may(str) },
  value: described('Null if there were no values.', orNull(str)),
})
const alertWindow = extensible({
  key: described('Values of `by`.', mapOf(orNull(str))),
  window: strict({
    ...{ fromBlock: may(described('Of one network.', int)), toBlock: may(int) },
    ...{ fromTime: may(described('Of several networks, in epoch seconds.', int)), toTime: may(int) },
    ...{ blocks: may(int), seconds: may(int) },
  }),
  conditions: described('What they computed when the alert opened.', arrayOf(windowValue)),
  matches: int,
  entities: described('Ids of the first matches.', arrayOf(str)),
  steps: stepsOfAlert,
  ended: may(
    described(
      'Where they held no longer.',
      strict({ network: may(str), block: int, conditions: arrayOf(windowValue) }),
    ),
  ),
})

const alert = extensible({
  ...{ id: str, network: may(described('Of a rule of several networks.', str)), state: alertState },
  ...{ block: int, blockHash: str, confirmations: unionOf([int, choiceOf(['safe', 'finalized'])]), entity },
  when: may(described('Of a rule with `when`.', alertWindow)),
  ...{ receivedAt: timestamp, changedAt: timestamp, deliveries: arrayOf(wholeDelivery) },
})

/** Selects deliveries to send again; all conditions must hold. */
const which = {
  alert: may(filled('the id of an alert')),
  from: may(instant),
  to: may(instant),
  dead: may(trueOrFalse),
}
export const redelivery = strict(which)
export const wideRedelivery = strict({
  delivery: may(intBetween({ min: 1 })),
  rule: may(intBetween({ min: 1 })),
  channel: may(filled('a channel such as "Email"')),
  target: may(filled('a target, as deliveries show it')),
  ...which,
})

const destination = strict({
  ...{ channel: str, target: str, waiting: int, retried: int, dead: int, nextAt: orNull(timestamp) },
  failing: orNull(strict({ since: timestamp, at: timestamp, error: str, status: orNull(int) })),
})
const destinations = strict({
  complete: described('Whether all deliveries were counted.', flag),
  destinations: arrayOf(destination),
})

const seriesOfRule = strict({
  ...{ id: int, name: str, enabled: flag, idle: orNull(str) },
  ...{ counts: arrayOf(int), total: int, last24h: int },
  lastAlert: orNull(strict({ id: str, state: alertState, block: int, receivedAt: timestamp, changedAt: timestamp })),
})
const series = strict({
  ...{ from: timestamp, to: timestamp, intervalMs: int },
  complete: described('Whether all alerts were counted.', flag),
  rules: arrayOf(seriesOfRule),
})

const next = (parameter: string) => described(`\`${parameter}\` of the next page; null on the last one.`, orNull(str))

const watchList = strict({
  ...{ name: str, size: intFrom(0) },
  revision: described('Grows with each change.', intFrom(1)),
  ...{ createdAt: timestamp, updatedAt: timestamp },
  rules: described('Rules that use it.', arrayOf(strict({ id: int, name: str }))),
})

const silenceMatcher = strict({
  rules: may(arrayOf(intFrom(1))),
  network: may(described('A network, or a pattern such as `ethereum/*/mainnet`.', str)),
  channel: may(str),
  labels: may(described('Values of further properties of the rule.', mapOf(str))),
  fields: may(described('Values of fields of the document, by dotted names.', mapOf(str))),
})
const newSilence = strict({
  matcher: described('What the silence is about: all that it names must hold.', silenceMatcher),
  from: may(described('Default: now.', timestamp)),
  ...{ to: timestamp, reason: str },
})
const silenceShape = strict({
  ...{ id: int, matcher: silenceMatcher, from: timestamp, to: timestamp, reason: str },
  author: described('The account or user that made it.', str),
  ...{ createdAt: timestamp, state: choiceOf(['waiting', 'active', 'over']) },
})

export const RULE_SHAPES = {
  Rule: described(
    'An alert rule. Properties with other names are kept as they are. docs/alerts.md explains it.',
    extensible({ ...mustHave, ...mayHave }),
  ),
  RuleChange: described('The properties to change.', v.partial(extensible({ ...mustHave, ...mayHave }))),
  RuleConfig: ruleConfig,
  StoredRule: rule,
  Rules: strict({ rules: arrayOf(rule), next: next('after') }),
  CreatedRules: strict({ rules: arrayOf(strict({ id: int, name: str })) }),
  SimulationRange: simulationRange,
  RuleToSimulate: extensible({ ...mustHave, ...mayHave, ...blockRange }),
  RuleToTest: extensible({ ...mustHave, ...mayHave, ...idToTest }),
  Simulation: simulation,
  TestRequest: testRequest,
  TestResult: testResult,
  TestPreview: testPreview,
  Alerts: strict({ alerts: arrayOf(alert), next: next('before') }),
  Redelivery: redelivery,
  Redelivered: strict({ redelivered: int }),
  Delivery: delivery,
  WholeDelivery: wholeDelivery,
  WideRedelivery: wideRedelivery,
  Destinations: destinations,
  AlertSeries: series,
  WatchList: watchList,
  WatchLists: strict({ lists: arrayOf(watchList) }),
  WatchListChange: strict({ count: intFrom(0), size: intFrom(0), revision: intFrom(1) }),
  NewSilence: newSilence,
  Silence: silenceShape,
  Silences: strict({ silences: arrayOf(silenceShape) }),
  WatchListValues: strict({ values: arrayOf(str), next: next('after') }),
}

export type SilenceAnswer = Of<typeof silenceShape>
export type WatchListAnswer = Of<typeof watchList>
export type Alert = Of<typeof alert>
export type RuleAnswer = Of<typeof rule>
export type SimulationRange = Of<typeof simulationRange>
export type SimulationAnswer = Of<typeof simulation>
export type TestResultAnswer = Of<typeof testResult>
export type TestPreviewAnswer = Of<typeof testPreview>
export type DeliveryAnswer = Of<typeof delivery>
export type WholeDelivery = Of<typeof wholeDelivery>
export type AttemptAnswer = Of<typeof attemptShape>
export type Redelivery = Of<typeof redelivery>
export type WideRedelivery = Of<typeof wideRedelivery>
export type DestinationsAnswer = Of<typeof destinations>
export type AlertSeries = Of<typeof series>
export type SeriesOfRule = Of<typeof seriesOfRule>
