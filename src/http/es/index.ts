import type { Operation } from '../openapi/operations.ts'
import { answer, ref } from '../openapi/schema.ts'
import { cat, catAliases, catCount, catHealth, catIndices } from './cat.ts'
import { about, clusterHealth, clusterSettings, clusterStats, nodes, searchShards } from './cluster.ts'
import {
  clearScroll,
  closeAllPointsInTime,
  closePit,
  closePointsInTime,
  listPointsInTime,
  openPit,
  openPointInTime,
  scroll,
} from './cursors.ts'
import { get, mget, source } from './documents.ts'
import type { Endpoint } from './endpoint.ts'
import { similarCalls, similarContracts, similarEvents, suggest } from './extensions.ts'
import {
  alias,
  analyze,
  fieldCaps,
  fieldMapping,
  indices,
  mapping,
  refresh,
  resolve,
  settings,
  stats,
} from './indices.ts'
import { msearch, msearchTemplate, renderTemplate, searchTemplate } from './msearch.ts'
import { EVERYWHERE, OF_INDEXES } from './parameters.ts'
import { count, explain, search, validate } from './search.ts'

/** Every endpoint of `/{technology}/{blockchain}/{network}/es`. */
export const ENDPOINTS: readonly Endpoint[] = [
  about,
  search,
  scroll,
  clearScroll,
  openPit,
  closePit,
  openPointInTime,
  listPointsInTime,
  closePointsInTime,
  closeAllPointsInTime,
  msearch,
  searchTemplate,
  msearchTemplate,
  renderTemplate,
  count,
  get,
  source,
  mget,
  explain,
  validate,
  analyze,
  indices,
  mapping,
  fieldMapping,
  fieldCaps,
  settings,
  alias,
  resolve,
  stats,
  refresh,
  catIndices,
  catCount,
  catHealth,
  catAliases,
  cat,
  clusterHealth,
  clusterStats,
  clusterSettings,
  nodes,
  searchShards,
  suggest,
  similarContracts,
  similarEvents,
  similarCalls,
]

const ES = '/{technology}/{blockchain}/{network}/es'

/** The operations of `…/es`: each path with each of its methods. */
export const endpointOperations = (): Operation[] =>
  ENDPOINTS.flatMap(endpoint => {
    const { paths, methods, doc, limit, parameters = [], tag = 'Elasticsearch', body, answers } = endpoint
    return paths.flatMap(path =>
      methods.map((method): Operation => {
        const query = [...new Set([...parameters, ...(path.includes('{index}') ? OF_INDEXES : []), ...EVERYWHERE])]
        return {
          method: method.toLowerCase() as Operation['method'],
          path: `${ES}${path === '' ? '' : `/${path}`}`,
          tag,
          doc: limit === undefined ? doc : `${doc} ${limit}`,
          query,
          ...(body && { body }),
          answers: typeof answers === 'string' ? { 200: answer(ref(answers)) } : answers,
        }
      }),
    )
  })
