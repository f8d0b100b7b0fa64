import type { NetworkConfig } from '../config/index.ts'
import { covers, networkOf } from '../rules/networks.ts'
import type { RuleInput, TargetType } from '../rules/rule.ts'

/** What a rule would look at and no scope wants, where its network is not indexed whole. */
export const outsideScopes = (input: RuleInput, networks: readonly Scoped[]): string[] =>
  networks.filter(it => covers(networkOf(input), it.network)).flatMap(it => outsideOf(input, it))

type Scoped = Pick<NetworkConfig, 'network' | 'scoping' | 'from'>

const outsideOf = (input: RuleInput, { network, scoping, from }: Scoped): string[] => {
  if (!scoping) return []
  const where = scoping.whole && from && 'block' in from ? ` below block ${from.block}` : ''
  const { scopes } = scoping
  if (scopes.some(({ addresses, topics, factory }) => addresses.length + topics.length === 0 && !factory)) return []
  const named = new Set(
    JSON.stringify(input.config.targetMap)
      .toLowerCase()
      .match(/0x[0-9a-f]{40}(?![0-9a-f])/g),
  )
  const everywhere = scopes.some(({ addresses, factory }) => addresses.length === 0 && !factory)
  const known = new Set(scopes.flatMap(({ addresses, factory }) => [...addresses, ...(factory?.addresses ?? [])]))
  const outside = [...named].filter(address => !known.has(address))
  if (named.size > 0 && outside.length > 0 && !everywhere && !scopes.some(({ factory }) => factory))
    return [
      `${network} is indexed for certain contracts only${where}: nothing of ${listed(outside)} is found unless it is in their logs.`,
    ]
  const around = scopes.filter(({ addresses }) => named.size > 0 && [...named].every(it => addresses.includes(it)))
  if (!OF_TRANSACTIONS.has(input.config.targetType)) {
    if (around.some(({ topics }) => topics.length === 0)) return []
  } else if (around.some(({ transactions }) => transactions !== undefined)) return []
  else if (around.length > 0)
    return [
      `${network} is indexed by logs${where}: of the transactions from and to ${listed([...named])} only those with logs in a scope are found. Set transactions = true in the scope.`,
    ]
  return [
    `${network} is indexed for certain contracts and events only${where}: the rule finds nothing outside of them.`,
  ]
}

/** Targets that need no log. */
const OF_TRANSACTIONS: ReadonlySet<TargetType> = new Set(['Transaction', 'Call', 'Method'])

const listed = (addresses: readonly string[]): string =>
  addresses.length > 3 ? `${addresses.slice(0, 3).join(', ')} and ${addresses.length - 3} more` : addresses.join(', ')
