import type { NotifyConfig, TargetType } from '../rule.ts'
import { MAX_GROUP } from './check.ts'
import { keyOfNames } from './values.ts'

/** Which alerts of a rule go together to a receiver. */
export interface Grouping {
  /** JSON list of the values. */
  key: string
  /** At most so many in one message. */
  size: number
  waitMs: number
}

export const groupingOf = (
  group: NotifyConfig['group'],
  alert: { network: string; targetType: TargetType; source: string },
): Grouping | undefined => {
  if (!group) return undefined
  const { by = [], wait, size = MAX_GROUP.size } = group
  return { key: keyOfNames(by, alert), size, waitMs: wait.seconds * 1_000 }
}
