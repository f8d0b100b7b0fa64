import { type Limits, overLimit } from '../limits/index.ts'
import type { RuleInput, StoredRule } from './rule.ts'
import type { Rules } from './store.ts'

/** Refuses a rule that its account has no room for beside what it has. */
export const checkRoom = (rules: Pick<Rules, 'sizeOf'>, account: number, input: RuleInput, limits: Limits) => {
  const { rules: count, bytes } = rules.sizeOf(account)
  if (count >= limits.rules) throw overLimit('rules', limits)
  if (bytes + sizeOf(input) > limits.ruleBytes) throw overLimit('ruleBytes', limits)
}

/** Refuses a change that its account has no room for. What becomes no larger is let through also where there is too much already. */
export const checkGrowth = (
  rules: Pick<Rules, 'sizeOf'>,
  before: Pick<StoredRule, 'account' | 'input'>,
  input: RuleInput,
  limits: Limits,
) => {
  const grown = sizeOf(input) - sizeOf(before.input)
  if (grown > 0 && rules.sizeOf(before.account).bytes + grown > limits.ruleBytes) throw overLimit('ruleBytes', limits)
}

const sizeOf = (input: RuleInput): number => Buffer.byteLength(JSON.stringify(input))
