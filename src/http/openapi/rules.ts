import { RECEIVERS } from '../../rules/check-alerts.ts'
import { OPERATORS, type Operator, TARGET_TYPES } from '../../rules/rule.ts'
import type { SERVERS } from '../../rules/schema.ts'
import { STATES } from '../alerting/alerts.ts'
import { closed, described, flag, listOf, oneOf, open, orNull, ref, type Schema, text, whole } from './schema.ts'

const atLeast = (minimum: number): Schema => ({ ...whole, minimum })
const networkName: Schema = { ...text, pattern: '^[a-z0-9][a-z0-9_.-]{0,63}$' }
/** A name, any name, or several. */
const networkPart: Schema = { anyOf: [networkName, { const: '*' }, { ...listOf(networkName), minItems: 1 }] }
const time: Schema = { ...text, format: 'date-time' }
const link: Schema = { ...text, format: 'uri' }

const PARAMETERS: Record<string, Schema> = { url: link, recipients: listOf(text), text, channel: text, username: text }

/** Each with the parameters that the check knows. */
const action: Schema = {
  oneOf: RECEIVERS.map(({ type, parameters }) =>
    closed(
      {
        type: { const: type },
        parameters: closed(Object.fromEntries(parameters.map(name => [name, PARAMETERS[name] ?? text]))),
      },
      { payload: listOf(ref('PayloadField')) },
    ),
  ),
}

const WITH_LIST: readonly Operator[] = ['Equals any', 'Equals any (ignore case)']
const WITH_TEXT = OPERATORS.filter(it => it !== 'Inspect' && !WITH_LIST.includes(it))
const COMPARES = { useScaledValue: flag, operatorParameters: { type: 'null' } }

const condition: Schema = {
  oneOf: [
    closed({ name: text, operator: oneOf(WITH_TEXT), value: text }, COMPARES),
    closed({ name: text, operator: oneOf(WITH_LIST), value: listOf(text) }, COMPARES),
    closed(
      { name: text, operator: { const: 'Inspect' }, operatorParameters: listOf(ref('Condition')) },
      { useScaledValue: flag, value: orNull(text) },
    ),
  ],
}

const OPTIONAL: Record<string, Schema> = {
  version: whole,
  description: orNull(text),
  enabled: described('A rule that is not enabled matches nothing.', flag),
  startBlock: described('First block that the rule looks at; by default the next one.', {
    type: ['integer', 'null'],
    minimum: 0,
  }),
  notifyPending: described('Also sends a match while it is pending.', flag),
}

const REQUIRED: Record<string, Schema> = {
  name: text,
  maxConfirmationCount: described(
    'Blocks above a match’s own before the rule fires; or `safe` or `finalized`: it fires once nodes tell the block to be that.',
    { anyOf: [{ ...atLeast(0), maximum: 100_000 }, oneOf(['safe', 'finalized'])] },
  ),
  technology: networkPart,
  blockchain: networkPart,
  network: networkPart,
  config: ref('RuleConfig'),
}

/** What an answer adds to a rule. */
const ADDED: Record<(typeof SERVERS)[number], Schema> = {
  id: whole,
  createdAt: time,
  updatedAt: time,
  triggerCount: atLeast(0),
  idle: described('Why the rule matches nothing for now.', orNull(text)),
  failing: described(
    'Receivers of the rule whose last delivery failed, and since when nothing was delivered to them. The first of `warnings` say the same.',
    listOf(
      closed({
        ...{ channel: text, target: text, since: time, at: time },
        ...{ status: orNull(whole), error: text },
      }),
    ),
  ),
  warnings: listOf(text),
}

const RANGE: Record<string, Schema> = {
  fromBlock: atLeast(0),
  toBlock: atLeast(0),
  lastBlocks: described('So many of the newest blocks, in place of fromBlock and toBlock.', atLeast(1)),
  size: { ...atLeast(0), maximum: 1_000 },
  buckets: described('Parts of time by which matches are counted, at most.', { ...atLeast(1), maximum: 500 }),
}

/** Schemas of rules and of what is told of them. */
export const ruleSchemas = (): Record<string, Schema> => ({
  Rule: {
    ...open(REQUIRED, OPTIONAL),
    description: 'An alert rule. Properties with other names are kept as they are. docs/alerts.md explains it.',
  },
  RuleChange: { ...open({}, { ...REQUIRED, ...OPTIONAL }), description: 'The properties to change.' },
  RuleConfig: closed({
    targetType: described('What the rule looks at.', oneOf(TARGET_TYPES)),
    targetMap: described('Conditions, all of which must hold.', listOf(ref('Condition'))),
    alerts: described('Whom the rule notifies.', listOf(ref('Action'))),
  }),
  Condition: condition,
  Action: action,
  PayloadField: {
    oneOf: [
      closed({ fieldType: { const: 'Field' }, fieldName: text }, { subPayloads: { type: 'null' } }),
      closed({ fieldType: { const: 'Sub Field' }, fieldName: text, subPayloads: listOf(ref('PayloadField')) }),
    ],
  },
  StoredRule: open({ ...REQUIRED, enabled: flag, startBlock: OPTIONAL.startBlock!, ...ADDED }, OPTIONAL),
  Rules: closed({
    rules: listOf(ref('StoredRule')),
    next: described('`after` of the next page; null on the last one.', orNull(text)),
  }),
  CreatedRules: closed({ rules: listOf(closed({ id: whole, name: text })) }),
  SimulationRange: closed({}, RANGE),
  RuleToSimulate: open(REQUIRED, { ...OPTIONAL, ...RANGE }),
  RuleToTest: open(REQUIRED, {
    ...OPTIONAL,
    _id: described('A stored document; by default the newest that matches.', text),
  }),
  Simulation: closed(
    {
      total: described('How often the rule would have fired.', whole),
      complete: described('Whether all blocks of the range are stored.', flag),
      holes: listOf(closed({ from: whole, to: whole })),
      fromBlock: whole,
      toBlock: whole,
      hits: listOf({ type: 'object' }),
    },
    {
      series: {
        ...closed({ intervalMs: whole, buckets: listOf(closed({ from: time, count: whole })) }),
        type: ['object', 'null'],
        description: 'Matches by the time of blocks, where `buckets` asked for it.',
      },
      warnings: described('What will not do what the owner of the rule may expect, as in a stored rule.', listOf(text)),
    },
  ),
  TestRequest: closed({}, { _id: described('A stored document; by default the newest that matches.', text) }),
  TestResult: closed({
    entity: closed({ _id: text, _type: text }),
    deliveries: listOf(
      closed({
        ...{ action: whole, type: text, target: text, delivered: flag },
        ...{ status: orNull(whole), error: orNull(text), latencyMs: whole },
      }),
    ),
  }),
  TestPreview: closed({
    entity: closed({ _id: text, _type: text }),
    messages: listOf(
      closed(
        { action: whole, type: text },
        {
          ...{ method: text, url: text, body: described('Null of a GET.', { type: ['object', 'null'] }) },
          ...{ to: listOf(text), subject: text, text, refused: described('Why nothing would be sent.', text) },
        },
      ),
    ),
  }),
  Alerts: closed({
    alerts: listOf(open({ id: text, state: oneOf(STATES) })),
    next: described('`before` of the next page; null on the last one.', orNull(text)),
  }),
  Redelivery: closed({}, { alert: text, from: time, to: time, dead: flag }),
  Redelivered: closed({ redelivered: whole }),
})
