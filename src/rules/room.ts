import { type Limits, overLimit } from '../limits/index.ts'
import type { RuleInput } from './rule.ts'
import type { Rules } from './store.ts'

/** Rules in the place of others: new ones without any before, removed ones without any after. */
export interface Exchange {
  before?: readonly RuleInput[]
  after?: readonly RuleInput[]
}

/** Refuses a change that its account has no room for. What becomes no more is let through also where there is too much already. */
export const checkRoom = (
  rules: Pick<Rules, 'sizeOf'>,
  account: number,
  { before = [], after = [] }: Exchange,
  limits: Limits,
) => {
  const more = after.length - before.length
  const longer = sizeOf(after) - sizeOf(before)
  if (more <= 0 && longer <= 0) return
  const has = rules.sizeOf(account)
  if (more > 0 && has.rules + more > limits.rules) throw overLimit('rules', limits)
  if (longer > 0 && has.bytes + longer > limits.ruleBytes) throw overLimit('ruleBytes', limits)
}

const sizeOf = (inputs: readonly RuleInput[]): number =>
  inputs.reduce((sum, input) => sum + Buffer.byteLength(JSON.stringify(input)), 0)
