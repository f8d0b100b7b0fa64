import type { Kind } from '../../src/mapping/index.ts'
import type { RuleCondition, RuleOperator, TargetType } from '../../src/rules/rule.ts'

export const TARGETS = {
  block: 'Block',
  tx: 'Transaction',
  log: 'Log',
  event: 'Event',
  trace: 'Trace',
  call: 'Call',
  contract: 'Contract',
  token: 'Token',
} as const satisfies Record<Kind, TargetType>

/** A condition on an attribute by its names from the outside in: all but the last inspect. */
export const conditionAt = (
  [name = '', ...inner]: readonly string[],
  operator: RuleOperator,
  value: string | string[],
  useScaledValue: boolean,
  level = 1,
): RuleCondition => ({
  name,
  ...(inner.length > 0
    ? { operator: 'Inspect', operatorParameters: [conditionAt(inner, operator, value, useScaledValue, level + 1)] }
    : { operator, value }),
  ...(level === 2 && useScaledValue && { useScaledValue }),
})

type Json = Record<string, unknown>

/** The body of a rule that is taken as it stands, but for `change`. */
export const ruleBody = (change: Json = {}): Json => ({
  name: 'Large transfers',
  maxConfirmationCount: 3,
  technology: 'ethereum',
  blockchain: 'ethereum',
  network: 'mainnet',
  config: ruleConfig(),
  ...change,
})

export const ruleConfig = (change: Json = {}): Json => ({
  targetType: 'Event',
  targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
  alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/hook' } }],
  ...change,
})

/** A webhook that is told these fields of the document, or all of it. */
export const webhookTo = (url: string, ...fields: readonly string[]) => ({
  type: 'Webhook (POST)',
  parameters: { url },
  ...(fields.length > 0 && { payload: fields.map(fieldName => ({ fieldType: 'Field', fieldName })) }),
})

/** The body of a rule on a network, with one condition, which fires without confirmations. */
export const ruleOn = (
  on: string,
  [targetType, name, operator, value]: readonly [target: string, name: string, operator: string, value: string],
  alerts: readonly object[],
  change: Json = {},
) => {
  const [technology, blockchain, network] = on.split('/')
  const config = { targetType, targetMap: [{ name, operator, value }] as object[], alerts }
  return { name: 'A rule', maxConfirmationCount: 0, technology, blockchain, network, config, ...change }
}
