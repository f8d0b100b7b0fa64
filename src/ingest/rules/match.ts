import type { RuleMatch } from '../../alerts/alert.ts'
import { quietOf } from '../../rules/notify/quiet.ts'
import { isWide, notifiesPending, type StoredRule } from '../../rules/rule.ts'

type FoundEntity = Pick<RuleMatch, 'block' | 'blockHash' | 'entity' | 'source' | 'receivedAt'> & { network: string }

/** What the store needs to make an alert of what a rule found. */
export const matchOfRule = (rule: StoredRule, { network, source, ...found }: FoundEntity): RuleMatch => {
  const quiet = quietOf(rule.input.config, source)
  return {
    rule: rule.id,
    revision: rule.matching,
    targetType: rule.input.config.targetType,
    confirmations: rule.input.maxConfirmationCount,
    notifyPending: notifiesPending(rule.input),
    ...found,
    source,
    ...(isWide(rule.network) && { network }),
    ...(quiet && { quiet }),
  }
}
