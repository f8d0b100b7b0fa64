import { refuse } from '../../lib/errors.ts'
import { filterJson } from '../../lib/filter-json.ts'
import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import { checkNetwork, eachOf, namedIn } from '../../search/index-names.ts'
import { oneOnly } from '../../search/multi-network.ts'
import type { SearchService } from '../../search/service.ts'
import { PRODUCT } from '../answer.ts'
import type { Handler } from '../context.ts'
import { errorResponse, unknownRoute, wrongMethod } from '../errors.ts'
import type { Call, Endpoint, Method, Told } from './endpoint.ts'
import { createNames } from './names.ts'
import { checkParameters, filterPathOf, OF_INDEXES, parametersOf } from './parameters.ts'
import { createRoutes, notSupported, READ_ONLY_CODE } from './routes.ts'

/** Answers everything below `/:technology/:blockchain/:network/es`. */
export const dispatch = (
  endpoints: readonly Endpoint[],
  { service, limits, log }: { service: SearchService; limits: Limits; log: Log },
): Handler => {
  const find = createRoutes(endpoints)
  return async c => {
    const [, technology, blockchain, name, , ...segments] = c.req.path.split('/').map(decoded)
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
    const network = namedIn(`${technology}/${blockchain}/${name}`, () => service.networks(), names.count)
    checkNetwork(network, service.networks(network), [network, path.get('index')].filter(Boolean).join('/'))
    if (!endpoint.several && eachOf(network).length > 1) throw oneOnly(`[${endpoint.paths[0]}]`)
    const pairs = parametersOf(c)
    checkParameters(c, pairs, [...(endpoint.parameters ?? []), ...(path.has('index') ? OF_INDEXES : [])])
    const parameters = new Map(pairs)
    const filterPath = filterPathOf(parameters, limits)
    const response = shown(
      await endpoint.handle({ c, service, limits, log, network, path, parameters, pairs, names, filterPath }),
      { parameters, filterPath },
    )
    const coverage = service.coverage?.(network)
    if (coverage !== undefined) response.headers.set(COVERAGE, coverage)
    return response
  }
}

/** Only of networks that have scopes. */
const COVERAGE = 'chainsieve-coverage'

const decoded = (segment: string): string => {
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

const shown = (
  answer: Told | Response,
  { parameters, filterPath }: Pick<Call, 'parameters' | 'filterPath'>,
): Response => {
  if (answer instanceof Response) return answer
  const { value, status = 200 } = answer
  const text = JSON.stringify(value, null, parameters.has('pretty') && parameters.get('pretty') !== 'false' ? 2 : 0)
  const body = filterPath.length > 0 ? filterJson(Buffer.from(text), filterPath) : text
  return new Response(body, { status, headers: PRODUCT })
}
