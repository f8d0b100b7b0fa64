import { KINDS } from '../../mapping/index.ts'
import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import { STATES } from '../alerting/alerts.ts'
import { UNITS } from '../es/cat/table.ts'
import type { Operation } from './operations.ts'
import { oneOf, type Schema, text } from './schema.ts'

type Place = 'path' | 'query' | 'header'

/** What an operation takes beside a body. */
export const namedBy = ({ path, query = [], headers = [] }: Operation): [place: Place, name: string][] => [
  ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]): [Place, string] => ['path', name!]),
  // It is a way to show a token, and stands among them.
  ...query.filter(name => name !== 'access_token').map((name): [Place, string] => ['query', name]),
  ...headers.map((name): [Place, string] => ['header', name]),
]

export const keyOf = (place: Place, name: string): string => `${place}.${name}`

export const parametersOf = (operations: readonly Operation[]): Record<string, Schema> => {
  const named = new Map(operations.flatMap(namedBy).map(([place, name]) => [keyOf(place, name), { place, name }]))
  return Object.fromEntries(
    Array.from(named, ([key, { place, name }]) => {
      const description = (place === 'query' ? QUERY : PLACES).get(name)
      return [
        key,
        {
          ...{ name, in: place, schema: (place === 'query' ? VALUES.get(name) : undefined) ?? text },
          ...(description !== undefined && { description }),
          ...(place === 'path' && { required: true }),
          ...(place === 'query' && { allowEmptyValue: true }),
        },
      ]
    }),
  )
}

/** Parts of paths, and headers. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['technology', 'First part of the network’s name, such as ethereum.'],
  ['blockchain', 'Second part of the network’s name, such as ethereum.'],
  ['network', 'Third part of the network’s name, such as mainnet.'],
  ['index', `Entities, separated by commas: ${KINDS.join(', ')}; or names and patterns of indices.`],
  ['type', 'The entity again, where old clients repeat it.'],
  ['document', 'Id of a document.'],
  ['id', 'Id of a document, a contract, a scroll or a rule.'],
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
  ['state', 'Only alerts in this state.'],
  ['replace', 'Whether the body replaces the whole rule.'],
])

/** On without a value, too. */
const FLAG = oneOf(['true', 'false', ''])

/** What a parameter takes, if not any text. All others are refused. */
const VALUES: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['state', oneOf(STATES)],
  ['bytes', oneOf([...UNITS.keys(), ''])],
  ['default_operator', oneOf(['and', 'or', 'AND', 'OR'])],
  ...['v', 'help', 'typed_keys', 'ignore_unavailable', 'include_unmapped', 'include_type_name', 'flat_settings'].map(
    (name): [string, Schema] => [name, FLAG],
  ),
])
