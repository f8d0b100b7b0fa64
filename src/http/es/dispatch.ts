import { type ChainsieveError, refuse } from '../../lib/errors.ts'
import { filterJson } from '../../lib/filter-json.ts'
import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import { KINDS } from '../../mapping/index.ts'
import type { Parameters } from '../../query/parameters.ts'
import { checkNetwork, networksIn, networksNamed } from '../../search/index-names.ts'
import { oneOnly } from '../../search/multi-network.ts'
import type { SearchService } from '../../search/service.ts'
import { PRODUCT } from '../answer.ts'
import type { Handler } from '../context.ts'
import { errorResponse, unknownRoute, wrongMethod } from '../errors.ts'
import {
  checkParameters,
  createNames,
  type EndpointCall,
  type EsEndpoint,
  filterPathOf,
  type JsonAnswer,
  type Method,
  OF_INDEXES,
  urlParameters,
} from './endpoint.ts'

/** By the names of networks, comma-separated. */
export type DefaultParameters = (networks: string) => Parameters

/** Answers everything below `/:technology/:blockchain/:network/es`. */
export const dispatch = (
  endpoints: readonly EsEndpoint[],
  {
    service,
    limits,
    log,
    defaultParameters,
  }: { service: SearchService; limits: Limits; log: Log; defaultParameters: DefaultParameters },
): Handler => {
  const find = createRoutes(endpoints)
  return async c => {
    const [, technology, blockchain, name, , ...segments] = c.req.path.split('/').map(decodeSegment)
    const method = (c.req.method === 'HEAD' ? 'GET' : c.req.method) as Method
    const found = find(segments)
    const one = found?.endpoints.get(method)
    if (!one) {
      const allowed = [...(found?.endpoints.keys() ?? [])]
      const why = notSupported(method, segments, found !== undefined)
      if (why?.code === READ_ONLY_CODE) return errorResponse(405, why.code, why.message, { allow: allowed.join(', ') })
      if (why) throw why
      return found ? wrongMethod(allowed)(c) : unknownRoute(c)
    }
    const { endpoint, path } = one
    const names = createNames(limits)
    const network = networksNamed(`${technology}/${blockchain}/${name}`, () => service.networks(), names.count)
    checkNetwork(network, service.networks(network), [network, path.get('index')].filter(Boolean).join('/'))
    if (!endpoint.several && networksIn(network).length > 1) throw oneOnly(`[${endpoint.paths[0]}]`)
    const given = urlParameters(c)
    checkParameters(c, given, [...(endpoint.parameters ?? []), ...(path.has('index') ? OF_INDEXES : [])])
    const parameters = new Map(given)
    const pairs = [...defaultParameters(network), ...given]
    const filterPath = filterPathOf(parameters, limits)
    const response = endpointResponse(
      await endpoint.handle({ c, service, limits, log, network, path, parameters, pairs, names, filterPath }),
      { parameters, filterPath },
    )
    const coverage = service.coverage?.(network)
    if (coverage !== undefined) response.headers.set(COVERAGE, coverage)
    return response
  }
}

const COVERAGE = 'chainsieve-coverage'

const decodeSegment = (segment: string): string => {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw refuse(
      'illegal_argument_exception',
      `The path has [${segment.slice(0, 80)}], which is not valid URL encoding.`,
    )
  }
}

const endpointResponse = (
  answer: JsonAnswer | Response,
  { parameters, filterPath }: Pick<EndpointCall, 'parameters' | 'filterPath'>,
): Response => {
  if (answer instanceof Response) return answer
  const { value, status = 200 } = answer
  const text = JSON.stringify(value, null, parameters.has('pretty') && parameters.get('pretty') !== 'false' ? 2 : 0)
  const body = filterPath.length > 0 ? filterJson(Buffer.from(text), filterPath) : text
  return new Response(body, { status, headers: PRODUCT })
}

interface FoundEndpoints {
  /** Endpoints by their methods. */
  endpoints: ReadonlyMap<Method, { endpoint: EsEndpoint; path: ReadonlyMap<string, string> }>
}

/** Finds endpoints by their paths; literal names precede placeholders. */
export const createRoutes = (
  endpoints: readonly EsEndpoint[],
): ((segments: readonly string[]) => FoundEndpoints | undefined) => {
  const bySize = new Map<number, EndpointRoute[]>()
  for (const endpoint of endpoints)
    for (const path of endpoint.paths) {
      const parts = path.split('/').filter(part => part !== '')
      const routes = bySize.get(parts.length) ?? []
      bySize.set(parts.length, [...routes, { endpoint, parts }].sort(byNames))
    }
  return segments => {
    const found: FoundEndpoints['endpoints'] & Map<Method, unknown> = new Map()
    for (const { endpoint, parts } of bySize.get(segments.length) ?? []) {
      const path = matched(parts, segments)
      if (!path) continue
      for (const method of endpoint.methods) if (!found.has(method)) found.set(method, { endpoint, path })
    }
    return found.size === 0 ? undefined : { endpoints: found }
  }
}

interface EndpointRoute {
  endpoint: EsEndpoint
  parts: readonly string[]
}

const byNames = (a: EndpointRoute, b: EndpointRoute): number => {
  for (const [i, part] of a.parts.entries()) {
    const order = Number(part.startsWith('{')) - Number(b.parts[i]!.startsWith('{'))
    if (order !== 0) return order
  }
  return 0
}

/** Segments that each placeholder of a path matches. */
const STANDS_FOR = new Map<string, (segment: string) => boolean>([
  ['{index}', segment => !segment.startsWith('_') || segment === '_all'],
  ['{type}', segment => segment.split(',').every(name => KINDS.some(kind => kind === name))],
  ['{document}', segment => !segment.startsWith('_')],
])

const matched = (parts: readonly string[], segments: readonly string[]): ReadonlyMap<string, string> | undefined => {
  const path = new Map<string, string>()
  for (const [i, part] of parts.entries()) {
    const segment = segments[i]!
    if (!part.startsWith('{')) {
      if (part !== segment) return undefined
    } else if (STANDS_FOR.get(part)?.(segment) === false) return undefined
    else path.set(part.slice(1, -1), segment)
  }
  return path
}

export const READ_ONLY_CODE = 'method_not_allowed_exception'

export const READ_ONLY = [
  ...['_bulk', '_create', '_update', '_update_by_query', '_delete_by_query', '_reindex', '_aliases', '_alias', '_doc'],
  ...['_mapping', '_mappings', '_settings', '_rollover', '_shrink', '_split', '_clone', '_close', '_open', '_freeze'],
  ...['_unfreeze', '_block', '_forcemerge', '_flush', '_cache', '_template', '_index_template', '_component_template'],
  ...['_data_stream', '_ingest', '_snapshot', '_scripts', '_ilm', '_slm', '_transform', '_rollup', '_enrich', '_ccr'],
] as const

/** Endpoints that are not supported, with what to use in their place. */
export const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['_async_search', 'Searches are answered at once: use _search.'],
  ['_sql', 'SQL is not supported: use _search.'],
  ['_query', 'ES|QL is not supported: use _search.'],
  ['_esql', 'ES|QL is not supported: use _search.'],
  ['_eql', 'EQL is not supported: use _search.'],
  ['_plugins', 'Plugins are not supported: use _search.'],
  ['_opendistro', 'Plugins are not supported: use _search.'],
  ['_terms_enum', 'Use a terms aggregation with include, or …/es/suggest/ for names.'],
  ['_termvectors', 'Term vectors are not stored.'],
  ['_mtermvectors', 'Term vectors are not stored.'],
  ['_rank_eval', 'Use _search.'],
  ['_knn_search', 'There are no vectors. Similar contracts are at …/es/contract/{address}/similar/.'],
  ['_graph', 'Use aggregations of _search.'],
  ['_mvt', 'Documents have no geographic fields.'],
  ['_suggest', 'Use …/es/suggest/.'],
  ['_percolate', 'Stored queries are alert rules, at /alerting/rules/.'],
  ['_license', 'There is no licence.'],
  ['_xpack', 'X-Pack is not supported.'],
  ['_security', 'The operator creates accounts: chainsieve token create --account NAME.'],
  ['_watcher', 'Alert rules are at /alerting/rules/.'],
  ['_ml', 'Machine learning is not supported.'],
])

/** Why a path of Elasticsearch is not supported; undefined if Elasticsearch does not have it. */
export const notSupported = (
  method: Method,
  segments: readonly string[],
  otherMethods: boolean,
): ChainsieveError | undefined => {
  const from = segments.findIndex(segment => segment.startsWith('_') && segment !== '_all')
  const names = from < 0 ? [] : segments.slice(from)
  const [name, second] = names
  if (method !== 'GET') {
    if (name !== undefined && READ_ONLY.some(it => it === name)) return readOnly(name)
    // Creates or removes an index.
    if (segments.length === 1 && name === undefined && method !== 'POST') return readOnly(segments[0]!)
  }
  if (name === undefined) return undefined
  if (otherMethods) return undefined
  const why = UNSUPPORTED.get(`${name}/${second}`) ?? UNSUPPORTED.get(name)
  return refuse(
    'illegal_argument_exception',
    `The endpoint [${names.join('/').slice(0, 100)}] is not supported. ${why ?? 'docs/compatibility.md lists the supported ones.'}`,
  )
}

const readOnly = (what: string) =>
  refuse(
    READ_ONLY_CODE,
    `[${what.slice(0, 100)}] would change documents or their storage, but this server is read only: documents come from the chain.`,
  )
