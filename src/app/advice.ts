import type { Config, NetworkConfig } from '../config/index.ts'
import type { OwnAbis } from '../rules/argument-types.ts'
import { findIneffective } from '../rules/ineffective.ts'
import {
  covers,
  isWide,
  networkOf,
  type RuleInput,
  type StoredRule,
  type TargetType,
  unknownNames,
} from '../rules/rule.ts'
import { findUnsatisfiable } from '../rules/unsatisfiable.ts'
import { lookedFor } from '../rules/windows/steps.ts'
/** Why a rule matches nothing now. `withoutTraces`: why its network has no traces. */
export const idleReason = (
  rule: StoredRule,
  networks: readonly string[],
  withoutTraces: string | null = null,
): string | undefined => {
  const missing = missingReason(rule.input, networks)
  if (missing !== undefined) return missing
  if (withoutTraces !== null && lookedFor(rule.input.config).some(({ targetType }) => targetType === 'Trace'))
    return `its network is indexed without traces: ${withoutTraces}`
  if (!rule.enabled) return 'it is paused: set "enabled": true to resume it'
  if (rule.startBlock === null && !isWide(rule.network))
    return 'the head of its network is not known yet: it starts with the next block there, or with "startBlock"'
  return undefined
}

/** Why a rule has nothing to evaluate. Without `networks`, its network is not checked. */
export const missingReason = (input: RuleInput, networks?: readonly string[]): string | undefined => {
  const network = networkOf(input)
  if (networks && !networks.some(one => covers(network, one)))
    return `${network} is neither stored nor configured here: the rule starts when it is`
  return undefined
}

/** Unknown network names in the lists of a rule. */
export const networkWarnings = (input: RuleInput, networks: readonly string[]): string[] =>
  unknownNames(networkOf(input), networks).map(
    name => `No network that is stored or configured here has the name ${JSON.stringify(name)} in its place.`,
  )

/** Warnings about a rule. */
export const warningsOf = (input: RuleInput, config: Pick<Config, 'smtp' | 'networks'>, abis: OwnAbis): string[] => [
  ...outsideScopes(input, config.networks),
  ...findUnsatisfiable(input.config, abis),
  ...actionWarnings(input, config),
  ...findIneffective(input),
]

const actionWarnings = ({ config: { alerts } }: RuleInput, { smtp }: Pick<Config, 'smtp'>): string[] =>
  smtp === undefined && alerts.some(({ type }) => type === 'Email')
    ? ['Emails cannot be delivered: no mail server is configured (smtp).']
    : []

/** Warnings about contracts that no scope indexes. */
export const outsideScopes = (input: RuleInput, networks: readonly Scoped[]): string[] =>
  networks
    .filter(it => covers(networkOf(input), it.network))
    .flatMap(it => [...new Set(lookedFor(input.config).flatMap(config => scopeWarningsOf(config, it)))])

type Scoped = Pick<NetworkConfig, 'network' | 'scoping' | 'from'>

const scopeWarningsOf = (config: RuleInput['config'], { network, scoping, from }: Scoped): string[] => {
  if (!scoping) return []
  const where = scoping.whole && from && 'block' in from ? ` below block ${from.block}` : ''
  const { scopes } = scoping
  if (config.targetType === 'State')
    return [`${network} is indexed for certain contracts only${where}: no state is read at its blocks.`]
  if (scopes.some(({ addresses, topics, factory }) => addresses.length + topics.length === 0 && !factory)) return []
  const named = new Set(
    JSON.stringify(config.targetMap)
      .toLowerCase()
      .match(/0x[0-9a-f]{40}(?![0-9a-f])/g),
  )
  const everywhere = scopes.some(({ addresses, factory }) => addresses.length === 0 && !factory)
  const known = new Set(scopes.flatMap(({ addresses, factory }) => [...addresses, ...(factory?.addresses ?? [])]))
  const outside = [...named].filter(address => !known.has(address))
  if (named.size > 0 && outside.length > 0 && !everywhere && !scopes.some(({ factory }) => factory))
    return [
      `${network} is indexed for certain contracts only${where}: nothing of ${listAddresses(outside)} is found unless it is in their logs.`,
    ]
  const around = scopes.filter(({ addresses }) => named.size > 0 && [...named].every(it => addresses.includes(it)))
  if (!OF_TRANSACTIONS.has(config.targetType)) {
    if (around.some(({ topics }) => topics.length === 0)) return []
  } else if (around.some(({ transactions }) => transactions !== undefined)) return []
  else if (around.length > 0)
    return [
      `${network} is indexed by logs${where}: of the transactions from and to ${listAddresses([...named])} only those with logs in a scope are found. Set transactions = true in the scope.`,
    ]
  return [
    `${network} is indexed for certain contracts and events only${where}: the rule finds nothing outside of them.`,
  ]
}

/** Target types that need no logs. */
const OF_TRANSACTIONS: ReadonlySet<TargetType> = new Set(['Transaction', 'Call', 'Method'])

const listAddresses = (addresses: readonly string[]): string =>
  addresses.length > 3 ? `${addresses.slice(0, 3).join(', ')} and ${addresses.length - 3} more` : addresses.join(', ')
