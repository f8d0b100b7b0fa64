import { answerSchema, COMMON_PARAMETERS, type Operation, schemaRef } from '../openapi/schema.ts'
import { CAT } from './cat.ts'
import { CLUSTER_ENDPOINTS } from './cluster.ts'
import { CLUSTER_STATES } from './cluster-state.ts'
import { CURSORS } from './cursors.ts'
import { DOCUMENT_ENDPOINTS } from './documents.ts'
import { type EsEndpoint, OF_INDEXES } from './endpoint.ts'
import { EXTENSIONS } from './extensions.ts'
import { INDICES } from './indices.ts'
import { MULTI_SEARCHES } from './msearch.ts'
import { NODE_ENDPOINTS } from './nodes.ts'
import { SEARCHES } from './search.ts'
import { TEMPLATES } from './templates.ts'

/** Every endpoint of `/{technology}/{blockchain}/{network}/es`. */
export const ENDPOINTS: readonly EsEndpoint[] = [
  ...[...SEARCHES, ...CURSORS, ...MULTI_SEARCHES, ...DOCUMENT_ENDPOINTS, ...INDICES],
  ...[...CAT, ...CLUSTER_ENDPOINTS, ...CLUSTER_STATES, ...NODE_ENDPOINTS, ...TEMPLATES, ...EXTENSIONS],
]

const ES = '/{technology}/{blockchain}/{network}/es'

/** The operations of `…/es`: each path with each of its methods. */
export const endpointOperations = (): Operation[] =>
  ENDPOINTS.flatMap(endpoint => {
    const { paths, methods, doc, limit, parameters = [], tag = 'Elasticsearch', body, answers } = endpoint
    return paths.flatMap(path =>
      methods.map((method): Operation => {
        const query = [
          ...new Set([...parameters, ...(path.includes('{index}') ? OF_INDEXES : []), ...COMMON_PARAMETERS]),
        ]
        return {
          method: method.toLowerCase() as Operation['method'],
          path: `${ES}${path === '' ? '' : `/${path}`}`,
          tag,
          doc: limit === undefined ? doc : `${doc} ${limit}`,
          query,
          ...(body && { body }),
          answers: typeof answers === 'string' ? { 200: answerSchema(schemaRef(answers)) } : answers,
        }
      }),
    )
  })
