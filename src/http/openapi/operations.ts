import { KINDS } from '../../mapping/index.ts'
import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import { UNITS } from '../es/cat.ts'
import { alertState } from '../shapes/rules.ts'
import type { Response } from './index.ts'
import { type Answers, type Body, JSON_BODY, oneOf, ref, type Schema, text, whole } from './schema.ts'

/** One method of one path. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete'
  path: string
  tag: Tag
  doc: string
  /** No token is needed. */
  open?: true
  /** Names of URL parameters. */
  query?: readonly string[]
  /** Values of URL parameters that mean something else in other operations. */
  values?: Readonly<Record<string, Schema>>
  /** Names of headers of the request. */
  headers?: readonly string[]
  body?: Body
  /** By status; all others are errors. */
  answers: Answers
}

export type Tag = keyof typeof TAGS

export const TAGS = {
  Search: 'Documents of one network, in the dialect of Elasticsearch 7.',
  Elasticsearch: 'What clients and tools of Elasticsearch ask besides.',
  Rules: 'Alert rules of the account, their alerts and deliveries.',
  Management: 'Accounts, ABIs, decoding again, and figures of the server.',
  Server: 'The server itself.',
} as const

/** URL parameters that clients send everywhere. */
export const EVERYWHERE = ['access_token', 'pretty', 'human', 'error_trace', 'filter_path'] as const

/** Errors that operations have in common, by the names of their components. */
const FAULTS = {
  Error: 'Any other error.',
  Unreadable: 'The request is not valid. The reason names the place, what is supported, and the remedy.',
  Unauthorized: 'The token is missing, unknown, expired or revoked.',
  Forbidden: 'The token lacks the scope that this needs.',
  Absent: 'There is no such network, index, document or rule.',
  TooLate: 'The search took longer than its deadline.',
  Changed: 'The rule has another revision than `If-Match` names.',
  TooLarge: 'The body, or what is asked for, is larger than its limit.',
  Encoded: 'The body has a type or an encoding that is not supported.',
  TooMany: 'The token, its account or the server has had enough requests for now.',
} as const

type Fault = keyof typeof FAULTS

const HEADERS: Partial<Record<Fault, readonly string[]>> = {
  Unauthorized: ['WWW-Authenticate'],
  TooMany: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
}

export const errorHeaders = (): Record<string, Schema> => ({
  'WWW-Authenticate': { description: 'How to send a token.', schema: text },
  'Retry-After': { description: 'Seconds to wait.', schema: whole },
  RateLimit: { description: 'What is left of each limit, and for how many seconds.', schema: text },
  'RateLimit-Policy': { description: 'The limits of the token and of its account, where there are any.', schema: text },
})

export const errorResponses = (): Record<string, Response> =>
  Object.fromEntries(
    (Object.keys(FAULTS) as Fault[]).map(name => [
      name,
      {
        description: FAULTS[name],
        ...(HEADERS[name] && {
          headers: Object.fromEntries(
            HEADERS[name].map(header => [header, { $ref: `#/components/headers/${header}` }]),
          ),
        }),
        content: { [JSON_BODY]: { schema: ref('Error') } },
      },
    ]),
  )

/** By status, the errors that an operation may answer beside its own answers. */
export const errorsOf = ({ path, query, headers, body, open }: Operation): Record<number, { $ref: string }> => {
  const isSearch = path.includes('/es')
  const isRule = path.startsWith('/alerting')
  const takes = isSearch || isRule || (query ?? []).some(name => name !== 'access_token')
  const faults: [status: number, fault: Fault, may: boolean][] = [
    [400, 'Unreadable', takes],
    [401, 'Unauthorized', !open],
    [403, 'Forbidden', isSearch || isRule || path === '/metrics'],
    [404, 'Absent', isSearch || path.includes('{id}')],
    [408, 'TooLate', isSearch],
    [412, 'Changed', headers?.includes('If-Match') === true],
    [413, 'TooLarge', body !== undefined],
    [415, 'Encoded', body !== undefined],
    [429, 'TooMany', !open],
  ]
  return Object.fromEntries(
    faults.flatMap(([status, fault, may]) => (may ? [[status, { $ref: `#/components/responses/${fault}` }]] : [])),
  )
}

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
