import type { RuleConfig } from '../rule.ts'
import { keyOfNames } from './values.ts'

/** Of a match: its key, and how long after an alert of that key there is no other. */
export interface Quiet {
  /** JSON list of the values. */
  key: string
  blocks?: number | undefined
  seconds?: number | undefined
}

/** What a rule's `quiet` means for a match with that `_source`. */
export const quietOf = ({ notify, targetType }: RuleConfig, source: string): Quiet | undefined => {
  if (!notify?.quiet) return undefined
  const { by = [], blocks, seconds } = notify.quiet
  return { key: keyOfNames(by, { source, targetType }), blocks, seconds }
}
