import type { Config } from '../config/index.ts'
import type { OwnAbis } from '../rules/declared.ts'
import { impossibleIn } from '../rules/impossible.ts'
import { covers, isWide, networkOf, unknownNames } from '../rules/networks.ts'
import type { RuleInput, StoredRule } from '../rules/rule.ts'
import { outsideScopes } from './scope-advice.ts'

/** Why a rule matches nothing for now; `networks` are those that are stored or configured, `withoutTraces` why its blocks have none. */
export const idleReason = (
  rule: StoredRule,
  networks: readonly string[],
  withoutTraces: string | null = null,
): string | undefined => {
  const missing = missingReason(rule.input, networks)
  if (missing !== undefined) return missing
  if (rule.input.config.targetType === 'Trace' && withoutTraces !== null)
    return `its network is indexed without traces: ${withoutTraces}`
  if (!rule.enabled) return 'it is paused: set "enabled": true to resume it'
  if (rule.startBlock === null && !isWide(rule.network))
    return 'the head of its network is not known yet: it starts with the next block there, or with "startBlock"'
  return undefined
}

/** What a rule would look at and is not here. Without `networks` nothing is said of its network. */
export const missingReason = (input: RuleInput, networks?: readonly string[]): string | undefined => {
  const network = networkOf(input)
  if (networks && !networks.some(one => covers(network, one)))
    return `${network} is neither stored nor configured here: the rule starts when it is`
  return undefined
}

/** Names in the lists of a rule's networks that nothing here has. */
export const networkWarnings = (input: RuleInput, networks: readonly string[]): string[] =>
  unknownNames(networkOf(input), networks).map(
    name => `No network that is stored or configured here has the name ${JSON.stringify(name)} in its place.`,
  )

/** What will not do what a rule's owner may expect. */
export const warningsOf = (input: RuleInput, config: Pick<Config, 'smtp' | 'networks'>, abis: OwnAbis): string[] => [
  ...outsideScopes(input, config.networks),
  ...impossibleIn(input.config, abis),
  ...actionWarnings(input, config),
]

const actionWarnings = ({ config: { alerts } }: RuleInput, { smtp }: Pick<Config, 'smtp'>): string[] =>
  smtp === undefined && alerts.some(({ type }) => type === 'Email')
    ? ['Emails cannot be delivered: no mail server is configured (smtp).']
    : []
