import type { Condition, Operator } from '../../src/rules/rule.ts'

/** A condition on an attribute by its names from the outside in: all but the last inspect. */
export const conditionAt = (
  [name = '', ...inner]: readonly string[],
  operator: Operator,
  value: string | string[],
  useScaledValue: boolean,
  level = 1,
): Condition => ({
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
