import { refuse } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { nearestName } from '../../lib/name-matching.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import { parseExactJson, shortenText } from '../../query/json.ts'
import { bodyNode, elements, type JsonNode, toText } from '../../query/json-node.ts'
import { asText, type KeyTable, key, nullableKey, readBodyKeys, SCHEMAS, type ValuesOf } from '../../query/keys.ts'
import type { Parameters } from '../../query/parameters.ts'
import {
  createNameCounter,
  findTarget,
  type IndexOptions,
  type NameCounter,
  networkIndex,
  networksIn,
  type SearchTarget,
} from '../../search/index-names.ts'
import type { SearchService } from '../../search/service.ts'
import { readRequestBody, readWithin } from '../body.ts'
import type { RequestContext } from '../context.ts'
import { type Answers, type Body, COMMON_PARAMETERS, type Tag } from '../openapi/schema.ts'
import type { ANSWER_SHAPES } from '../shapes/answers.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** One endpoint of `/{technology}/{blockchain}/{network}/es`. GET endpoints also accept HEAD. */
export interface EsEndpoint {
  /**
   * Path below `…/es`, such as `{index}/_search`. `{index}`: index names. `{type}`: the kind, which
   * old clients repeat. `{document}`: an id that is no endpoint's name. Others: any segment.
   */
  paths: readonly string[]
  methods: readonly Method[]
  /** For the reference docs. */
  doc: string
  /** Differences from Elasticsearch, for the reference docs. */
  limit?: string
  /** Whether the path may name several networks. */
  several?: true
  parameters?: readonly string[]
  tag?: Tag
  body?: Body
  /** All answers, or the schema's name of the one with status 200. */
  answers: Answers | keyof typeof ANSWER_SHAPES
  handle(call: EndpointCall): JsonAnswer | Response | Promise<JsonAnswer | Response>
}

export interface EndpointCall {
  c: RequestContext
  service: SearchService
  limits: Limits
  log: Log
  /** Searchable `technology/blockchain/network`; several are comma-separated where allowed. */
  network: string
  /** Segments of the path by their placeholders. */
  path: ReadonlyMap<string, string>
  /** URL parameters; of repeated names, the last. */
  parameters: ReadonlyMap<string, string>
  /** All URL parameters, in order, behind those that the network has by default. */
  pairs: Parameters
  names: ListedNames
  filterPath: readonly string[]
}

/** JSON that is not text yet. */
export interface JsonAnswer {
  value: unknown
  status?: number
}

export const jsonAnswer = (value: unknown, status = 200): JsonAnswer => ({ value, status })

/** Members that an answer of one shard has. */
export const ONE_SHARD = { total: 1, successful: 1, skipped: 0, failed: 0 }
export const ASKED_SHARDS = { total: 1, successful: 1, failed: 0 }

/** Parses a small body by its keys, all of which must be known; all are absent without a body. */
export const keysOf = async <K extends KeyTable>(
  call: EndpointCall,
  keys: K,
  expected = 'a JSON object',
): Promise<ValuesOf<K>> => readBodyKeys(await jsonBodyOf(call), expected, keys, [])

const textsAt = (place: JsonNode): string[] => elements(place).map(at => toText(at, 'text, or a list of texts'))
export const textKey = nullableKey(asText('text'), SCHEMAS.text)

export const textsKey = key(
  (place): string[] => (place === undefined || place.value === null ? [] : textsAt(place)),
  SCHEMAS.texts,
)

export const BODY_PARAMETERS = ['source', 'source_content_type'] as const

/** The body, or the URL's `source`; undefined without both. */
export const endpointBody = async ({ c, limits, parameters }: EndpointCall): Promise<Uint8Array | undefined> => {
  const body = await readRequestBody(c, limits)
  const source = parameters.get('source')
  return body ?? (source === undefined || source === '' ? undefined : Buffer.from(source))
}

/** Reads the body as text, for requests that this thread answers; undefined without a body. */
const bodyText = async (call: EndpointCall): Promise<string | undefined> => {
  const body = await readWithin(call.c, 'shortBody', call.limits, limits => endpointBody({ ...call, limits }))
  if (body === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw refuse('parsing_exception', 'The body is not UTF-8.', error)
  }
}

/** The body as JSON with the places of its values; an empty object without a body. */
export const jsonBodyOf = async (call: EndpointCall): Promise<JsonNode> => {
  const text = await bodyText(call)
  return bodyNode(text === undefined || text.trim() === '' ? new Map() : parseExactJson(text, call.limits))
}

/** Names that a request lists; counts them together and looks each list up once. */
export interface ListedNames {
  count: NameCounter
  /** The distinct names in a comma-separated text. */
  listed(text: string): string[]
  /** Resolves names of indexes in the networks of the path. */
  target(network: string, expression: string, networks: readonly string[], options: IndexOptions): SearchTarget
}

export const createNames = (limits: Limits): ListedNames => {
  const count = createNameCounter(limits)
  const targets = new Map<string, () => SearchTarget>()
  return {
    count,
    listed(text) {
      const names = [...new Set(splitNames(text))]
      count(names)
      return names
    },
    target(network, expression, networks, options) {
      const key = JSON.stringify([expression, options])
      let found = targets.get(key)
      if (!found) {
        found = rememberOutcome(() => findTarget(network, expression, networks, { ...options, counted: count }))
        targets.set(key, found)
      }
      return found()
    },
  }
}

/** Remembers the first value or error, and returns or throws it again. */
const rememberOutcome = <T>(work: () => T): (() => T) => {
  try {
    const value = work()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** The target of the index names in the path; all kinds without one. */
export const callTarget = (call: EndpointCall, expression = call.path.get('index') ?? '_all'): SearchTarget => {
  const { network, service, path, parameters, names } = call
  const types = path.get('type') ?? parameters.get('type') ?? parameters.get('doc_type')
  return names.target(network, expression, service.networks(network), {
    ignoreUnavailable: isOn(call, 'ignore_unavailable'),
    allowNoIndices: parameters.get('allow_no_indices') !== 'false',
    types: types === undefined || types === '' ? undefined : splitNames(types),
  })
}

export const callKinds = (call: EndpointCall): Kind[] => {
  const { entities } = callTarget(call)
  return KINDS.filter(kind => entities.split(',').includes(kind))
}

export const callKind = (call: EndpointCall): Kind => {
  const { entities } = callTarget(call)
  const [kind, ...more] = entities.split(',')
  if (kind && more.length === 0) return kind as Kind
  throw refuse(
    'illegal_argument_exception',
    `A document belongs to one entity, not to [${entities}]: to look in several, search for ids.`,
  )
}

export const indexName = ({ network }: Pick<EndpointCall, 'network'>, kind: Kind): string =>
  `${networkIndex(network)}-${kind}`

/** Index names of some kinds in all requested networks. */
export const indexNames = (call: EndpointCall, kinds: readonly Kind[]): string[] =>
  networksIn(callTarget(call).network).flatMap(network => kinds.map(kind => answeredName(call, kind, network)))

/** The name that answers list an index by: the requested one if it is an entity, since clients look that up. */
export const answeredName = (call: EndpointCall, kind: Kind, network = call.network): string =>
  call.path.get('index') === kind && networksIn(call.network).length === 1 ? kind : indexName({ network }, kind)

/** Other names of a kind's index than that of the answer. */
export const aliasesOf = (call: EndpointCall, kind: Kind, name: string = indexName(call, kind)): string[] =>
  [kind, networkIndex(call.network), indexName(call, kind)].filter(other => other !== name).sort()

/** Makes a value for each index, by its name. */
export const byIndex = <T>(call: EndpointCall, make: (kind: Kind) => T): Record<string, T> => {
  const { network, entities } = callTarget(call)
  const kinds = KINDS.filter(kind => entities.split(',').includes(kind))
  return Object.fromEntries(
    networksIn(network).flatMap(one => kinds.map(kind => [answeredName(call, kind, one), make(kind)])),
  )
}

export const splitNames = (text: string): string[] =>
  text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')

export const urlParameters = (c: RequestContext): Parameters => {
  const start = c.req.url.indexOf('?')
  return start < 0 ? [] : [...new URLSearchParams(c.req.url.slice(start))]
}

export const OF_INDEXES = ['allow_no_indices', 'expand_wildcards', 'ignore_throttled', 'ignore_unavailable'] as const

/** Parameters of shards and replicas, of which there is one each. */
export const OF_SHARDS = [
  'allow_partial_search_results',
  'batched_reduce_size',
  'ccs_minimize_roundtrips',
  'max_concurrent_shard_requests',
  'pre_filter_shard_size',
  'preference',
  'request_cache',
  'routing',
  'search_type',
] as const

export const SOURCE_PARAMETERS = [
  '_source',
  '_source_includes',
  '_source_excludes',
  '_source_include',
  '_source_exclude',
] as const

export const OF_CLUSTER = ['cluster_manager_timeout', 'local', 'master_timeout', 'timeout'] as const

/** Refuses parameters that would be ignored; `own` lists those that the endpoint reads. */
export const checkParameters = (c: RequestContext, pairs: Parameters, own: readonly string[] = []): void => {
  const known = [...COMMON_PARAMETERS, ...own]
  const unknown = [...new Set(pairs.map(([name]) => name))].filter(name => !known.includes(name))
  if (unknown.length === 0) return
  const named = unknown.slice(0, 10).map(name => {
    const best = nearestName(name, known)
    return `[${name.slice(0, 80)}]${best === undefined ? '' : ` -> did you mean [${best}]?`}`
  })
  throw refuse(
    'illegal_argument_exception',
    `request [${c.req.path}] contains unrecognized parameter${unknown.length > 1 ? 's' : ''}: ${named.join(', ')}`,
  )
}

/** Whether a parameter is on, as it is without a value too. */
export const isOn = ({ parameters }: Pick<EndpointCall, 'parameters'>, name: string): boolean => {
  const value = parameters.get(name)
  if (value === undefined || value === 'false') return false
  if (value === '' || value === 'true') return true
  throw refuse(
    'illegal_argument_exception',
    `Failed to parse value [${value.slice(0, 50)}] of [${name}] as only [true] or [false] are allowed.`,
  )
}

export const filterPathOf = (parameters: ReadonlyMap<string, string>, limits: Limits): string[] => {
  const patterns = [...new Set(splitNames(parameters.get('filter_path') ?? ''))]
  // Each name is searched in each object of the answer.
  if (patterns.reduce((sum, pattern) => sum + pattern.split('.').length, 0) > limits.filterPath)
    throw overLimit('filterPath', limits)
  const long = patterns.find(pattern => pattern.length > limits.nameLength)
  if (long !== undefined)
    throw overLimit('nameLength', limits, `[${shortenText(long)}] in the URL parameter [filter_path]`)
  return patterns
}

const MAX_RESULTS = 100

/** The requested number of results; 10 by default. */
export const sizeParameter = ({ parameters }: Pick<EndpointCall, 'parameters'>): number => {
  const text = parameters.get('size') ?? '10'
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= MAX_RESULTS) return size
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [size] is a number from 1 to ${MAX_RESULTS}, and not [${text.slice(0, 50)}].`,
  )
}
