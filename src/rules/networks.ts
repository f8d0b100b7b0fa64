import type { NetworkNames, RuleInput } from './rule.ts'

/** The networks of a rule: one by its name, or several by patterns, part by part: `ethereum/ethereum,base/mainnet`. */

/** `technology/blockchain/network` of a rule, or the pattern of several. */
export const networkOf = ({ technology, blockchain, network }: RuleInput): string =>
  [technology, blockchain, network].map(textOf).join('/')

/** In one order, so that the same networks have one name. */
const textOf = (names: NetworkNames): string => (typeof names === 'string' ? names : [...names].sort().join(','))

/** Whether it is the pattern of several. */
export const isWide = (network: string): boolean => /[*,]/.test(network)

/** Whether a rule of that network, or of several by a pattern, looks at this one. */
export const covers = (rule: string, network: string): boolean => {
  if (!isWide(rule)) return rule === network
  const [wanted, parts] = [rule.split('/'), network.split('/')]
  return (
    parts.length === wanted.length && wanted.every((part, i) => part === '*' || part.split(',').includes(parts[i]!))
  )
}

/** Names in lists that no network has in their place, as `blockchain: bsae`. */
export const unknownNames = (rule: string, networks: readonly string[]): string[] => {
  if (!isWide(rule)) return []
  const known = networks.map(network => network.split('/'))
  return rule
    .split('/')
    .flatMap((names, i) =>
      names.split(',').flatMap(name => (name === '*' || known.some(parts => parts[i] === name) ? [] : [name])),
    )
}
