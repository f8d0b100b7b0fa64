import { KINDS } from '../../mapping/index.ts'
import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import { UNITS } from '../es/cat/table.ts'
import { alertState } from '../shapes/rules.ts'
import type { Operation } from './operations.ts'
import { oneOf, type Schema, text } from './schema.ts'

type Place = 'path' | 'query' | 'header'

const namedBy = ({ path, query = [], headers = [] }: Operation): [place: Place, name: string][] => [
  ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]): [Place, string] => ['path', name!]),
  // It is a way to show a token, and stands among them.
  ...query.filter(name => name !== 'access_token').map((name): [Place, string] => ['query', name]),
  ...headers.map((name): [Place, string] => ['header', name]),
]

const keyOf = (place: Place, name: string): string => `${place}.${name}`

/** One that all operations share, or one of its own. */
export type ShownParameter = { $ref: string } | (Schema & { $ref?: undefined })

/** What the operation takes beside a body: a parameter whose values are its own stands there whole. */
export const shownParameters = (operation: Operation): ShownParameter[] =>
  namedBy(operation).map(([place, name]) => {
    const own = place === 'query' ? operation.values?.[name] : undefined
    return own ? parameterOf(place, name, own) : { $ref: `#/components/parameters/${keyOf(place, name)}` }
  })

export const parametersOf = (operations: readonly Operation[]): Record<string, Schema> => {
  const named = new Map(operations.flatMap(namedBy).map(([place, name]) => [keyOf(place, name), { place, name }]))
  return Object.fromEntries(
    Array.from(named, ([key, { place, name }]) => [
      key,
      parameterOf(place, name, (place === 'query' ? VALUES.get(name) : undefined) ?? text),
    ]),
  )
}

const parameterOf = (place: Place, name: string, schema: Schema): Schema => {
  const description = (place === 'query' ? QUERY : PLACES).get(name)
  return {
    ...{ name, in: place, schema },
    ...(description !== undefined && { description }),
    ...(place === 'path' && { required: true }),
    ...(place === 'query' && { allowEmptyValue: true }),
  }
}

/** Parts of paths, and headers. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['technology', 'First part of the network’s name, such as ethereum.'],
  ['blockchain', 'Second part of the network’s name, such as ethereum.'],
  ['network', 'Third part of the network’s name, such as mainnet.'],
  ['index', `Entities, separated by commas: ${KINDS.join(', ')}; or names and patterns of indices.`],
  ['type', 'The entity again, where old clients repeat it.'],
  ['document', 'Id of a document.'],
  ['id', 'Id of a document, a contract, a scroll, a rule, a delivery, an ABI or a re-decoding.'],
  ['address', 'Address of a contract.'],
  ['If-Match', 'The revision (ETag) that the change is meant for.'],
  ['If-None-Match', 'The revision (ETag) that the client has.'],
])

const QUERY: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SEARCH_PARAMETERS).map(([name, { doc }]): [string, string] => [name, doc]),
  ['filter_path', 'Parts of the answer to keep, separated by commas.'],
  ['pretty', 'Indents the answer.'],
  ['scroll', 'Opens or keeps a scroll for so long, such as 1m.'],
  ['keep_alive', 'How long a point in time is kept, such as 1m.'],
  ['before', '`next` of the page before.'],
  ['after', '`next` of the page before.'],
  ['state', 'Only alerts or deliveries in this state.'],
  ['rule', 'Only deliveries of this rule.'],
  ['rules', 'Ids of rules, separated by commas; by default all.'],
  ['channel', 'Only deliveries of this channel, such as Email.'],
  ['target', 'Only deliveries to this receiver, as deliveries show it.'],
  ['alert', 'Only deliveries of this alert.'],
  ['since', 'Only deliveries created from this time on.'],
  ['until', 'Only deliveries created up to this time.'],
  ['to', 'End of the series; by default now.'],
  ['buckets', 'How many parts the time has at most; by default 49.'],
  ['network', 'Only this network: technology/blockchain/network.'],
  ['address', 'Contract that the ABI is for.'],
  ['codeHash', 'Hash of the code that the ABI is for.'],
  ['name', 'Name of the ABI.'],
  ['redecode', 'Whether stored blocks are decoded again.'],
  ['replace', 'Whether the body replaces the whole rule.'],
])

/** On without a value, too. */
const FLAG = oneOf(['true', 'false', ''])

/** What a parameter takes, if not any text. All others are refused. */
const VALUES: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['state', oneOf(alertState.options)],
  ['bytes', oneOf([...UNITS.keys(), ''])],
  ['default_operator', oneOf(['and', 'or', 'AND', 'OR'])],
  ...['v', 'help', 'typed_keys', 'ignore_unavailable', 'include_unmapped', 'include_type_name', 'flat_settings'].map(
    (name): [string, Schema] => [name, FLAG],
  ),
])
