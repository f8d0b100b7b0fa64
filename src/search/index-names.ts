import { ChainsieveError, refuse } from '../lib/errors.ts'
import { compileGlob, compileGlobs, didYouMean, matchesGlob } from '../lib/name-matching.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { KINDS, type Kind } from '../mapping/index.ts'
import { shortenText } from '../query/json.ts'

/** Target of a search or get: `{network: 'ethereum/ethereum/mainnet', entities: 'block,tx'}`. */
export interface SearchTarget {
  /** One network, or several comma-joined, sorted by name. */
  network: string
  /** Comma-joined kinds without duplicates; empty if none is left. */
  entities: string
}

/** Elasticsearch's options for names of indexes. */
export interface IndexOptions {
  /** Skips unknown names. */
  ignoreUnavailable?: boolean
  /** False: patterns that fit no name are refused. */
  allowNoIndices?: boolean
  /** Kinds by their old name, document types: only these. */
  types?: readonly string[] | undefined
  /** Told of all names before they are looked up. */
  counted?: NameCounter | undefined
}

/**
 * Resolves index names: kinds, `network-kind` (also with the closed service's prefix `0006-`),
 * networks for all their kinds, patterns, `_all`, and `-name` after a pattern. Like Elasticsearch,
 * it refuses unknown names and networks that cannot be searched.
 */
export const findTarget = (
  network: string,
  expression: string,
  networks: readonly string[],
  options: IndexOptions = {},
): SearchTarget => {
  checkNetwork(network, networks, `${network}/${expression}`)
  options.counted?.(expression.split(','))
  const all = networksIn(network)
  if (all.length === 1) return { network, entities: kindsIn(network, expression, { ...options, network }) }
  const found = all.map(one => ({ one, entities: kindsIn(one, expression, { ...options, network, others: all }) }))
  const meant = found.filter(({ entities }) => entities !== '')
  const [first = found[0]!] = meant
  const other = meant.find(({ entities }) => entities !== first.entities)
  if (other)
    throw refuse(
      'illegal_argument_exception',
      `[${shortenedName(expression)}] means [${first.entities}] of ${first.one} and [${other.entities}] of ${other.one}: name the same entities for all networks, or ask each network.`,
    )
  return {
    network: meant.length === 0 ? network : meant.map(({ one }) => one).join(','),
    entities: first.entities,
  }
}

interface Meaning extends IndexOptions {
  /** As requested. */
  network: string
  /** Set for several networks: a name may then be unknown in some of them. */
  others?: readonly string[]
}

/** Kinds of one network, comma-joined. */
const kindsIn = (
  one: string,
  expression: string,
  { network, others = [], ignoreUnavailable = false, allowNoIndices = true, types }: Meaning,
): string => {
  const kinds = new Set<Kind>()
  let hadPattern = false
  for (const name of expression.split(',').map(it => it.trim())) {
    const isPattern = name.includes('*') || name === '_all'
    if (hadPattern && name.startsWith('-')) for (const kind of kindsOf(one, name.slice(1))) kinds.delete(kind)
    else {
      const found = kindsOf(one, name)
      const isElsewhere = () => others.some(other => kindsOf(other, name).length > 0)
      if (found.length === 0 && !isElsewhere() && (isPattern ? !allowNoIndices : !ignoreUnavailable))
        throw unknownName(network, expression, name)
      for (const kind of found) kinds.add(kind)
    }
    hadPattern ||= isPattern
  }
  if (kinds.size === 0 && others.length === 0 && !allowNoIndices) throw unknownName(network, expression, expression)
  const all = types === undefined || types.some(type => type === '_doc' || type === '_all')
  return [...kinds].filter(kind => all || types.includes(kind)).join(',')
}

const kindsOf = (network: string, name: string): readonly Kind[] => {
  if (name === '_all') return KINDS
  const index = networkIndex(network)
  if (name.includes('*'))
    return KINDS.filter(kind => [kind, `${index}-${kind}`].some(known => matchesGlob(known, name)))
  const plain = name.replace(/^\d{4}-/, '')
  const kind = KINDS.find(it => it === name || plain === `${index}-${it}`)
  if (kind !== undefined) return [kind]
  const [technology, blockchain] = network.split('/')
  return [index, technology, blockchain].includes(name) ? KINDS : []
}

/** The network as it stands in names of indexes. */
export const networkIndex = (network: string): string => network.replaceAll('/', '-')

/** Splits the names of several networks, which are comma-joined in requests. */
export const networksIn = (names: string): string[] => names.split(',')

/** Networks of one path without duplicates, sorted by name. Names may contain `*`. */
export const networksNamed = (names: string, networks: () => readonly string[], counted?: NameCounter): string => {
  if (!/[,*]/.test(names)) return names
  counted?.(names.split(','))
  if (names.includes(',') && names.split('/').length === PATH_PARTS) return namedByParts(names, networks())
  const found = [...new Set(networksIn(names))].flatMap(name => {
    if (!name.includes('*')) return [name]
    const some = networks().filter(network => fitsNetwork(network, name))
    return some.length > 0 ? some : [name]
  })
  return [...new Set(found)].sort().join(',')
}

const PATH_PARTS = 3

/** Resolves a list per part, as in rules of several networks: `ethereum/ethereum,base/mainnet`. */
const namedByParts = (names: string, networks: readonly string[]): string => {
  const lists = names.split('/').map(part => [...new Set(networksIn(part))])
  const wanted = lists.map(compileGlobs)
  const found = networks.filter(network => {
    const parts = network.split('/')
    return parts.length === PATH_PARTS && wanted.every((fits, i) => fits(parts[i]!))
  })
  for (const [i, list] of lists.entries()) {
    const there = found.map(network => network.split('/')[i]!)
    for (const name of list)
      if (!there.some(compileGlob(name)))
        throw notFound(
          names,
          `no network that is meant has the name ${JSON.stringify(name)} in its place (known: ${networks.join(', ')})`,
        )
  }
  return [...found].sort().join(',')
}

/** Part by part. */
const fitsNetwork = (network: string, pattern: string): boolean => {
  const [parts, patterns] = [network.split('/'), pattern.split('/')]
  return parts.length === patterns.length && parts.every((part, i) => matchesGlob(part, patterns[i]!))
}

/** Refuses networks that cannot be searched. `index`: the requested path. */
export const checkNetwork = (network: string, networks: readonly string[], index = network): void => {
  for (const one of networksIn(network)) checkOne(one, networks, index)
}

const checkOne = (network: string, networks: readonly string[], index: string): void => {
  if (networks.includes(network)) return
  const known = networks.length === 0 ? 'none is configured' : `known: ${networks.join(', ')}`
  throw notFound(index, `there is no network ${shortenedName(network)}.${didYouMean(network, networks)} (${known})`)
}

/** Longer than any real name: an error repeats it eight times. */
const LONGEST_TOLD = 1_000

const shortenedName = (text: string): string => (text.length > LONGEST_TOLD ? `${text.slice(0, LONGEST_TOLD)}…` : text)

const unknownName = (network: string, expression: string, name: string) =>
  notFound(
    `${network}/${expression}`,
    name.includes('*')
      ? `no entity matches ${JSON.stringify(name)} (known: ${KINDS.join(', ')})`
      : `there is no entity ${JSON.stringify(name)}.${didYouMean(name, KINDS)} (known: ${KINDS.join(', ')})`,
  )

const notFound = (path: string, why: string) => {
  const index = shortenedName(path.replaceAll('/', '-'))
  const details = { 'resource.type': 'index_or_alias', 'resource.id': index, index_uuid: '_na_', index }
  return new ChainsieveError('refuse', 'index_not_found_exception', `no such index [${index}]: ${why}`, { details })
}

/** Counts names and patterns of one request; refuses excess before looking any of them up. */
export type NameCounter = (names: Iterable<string>) => void

export const createNameCounter = (limits: Limits): NameCounter => {
  let count = 0
  let patterns = 0
  return names => {
    for (const name of names) {
      if (name.length > limits.nameLength) throw overLimit('nameLength', limits, `[${shortenText(name)}]`)
      if (++count > limits.names) throw overLimit('names', limits)
      if (name.includes('*') && ++patterns > limits.patterns) throw overLimit('patterns', limits)
    }
  }
}
