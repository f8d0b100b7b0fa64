import type { NotifyConfig, TargetType } from '../rule.ts'
import { MAX_GROUP } from './check.ts'
import { asToken, followPath, readSource, withList } from './values.ts'

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
  { network, targetType, source }: { network: string; targetType: TargetType; source: string },
): Grouping | undefined => {
  if (!group) return undefined
  const { by = [], wait, size = MAX_GROUP.size } = group
  const values = by.some(name => name !== 'network') ? withList(readSource(source), targetType) : {}
  const key = by.map(name => (name === 'network' ? network : asToken(followPath(values, name.split('.')))))
  return { key: JSON.stringify(key), size, waitMs: wait.seconds * 1_000 }
}
