import type { RepeatSpec } from '../../windows/repeats.ts'
import { isOfWindows } from '../../windows/spec.ts'
import type { RuleConfig } from '../rule.ts'
import { shownConditions } from '../state/readings.ts'
import { isSequence } from '../windows/steps.ts'

/** When alerts of a rule are repeated. */
export const repeatsOfRule = ({ when, targetMap, notify }: RuleConfig): RepeatSpec | undefined => {
  const { again } = notify ?? {}
  if (!again || !when || isSequence(when)) return undefined
  const shown = isOfWindows(when) ? when.conditions : shownConditions(targetMap)
  return { after: again.after, ...(again.if && { worse: shown.map(({ operator }) => operator) }) }
}
