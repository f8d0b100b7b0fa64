import { answer, EVERYWHERE, type Operation, ref } from '../openapi/schema.ts'
import { CAT } from './cat.ts'
import { CLUSTER } from './cluster.ts'
import { CURSORS } from './cursors.ts'
import { DOCUMENTS } from './documents.ts'
import { type Endpoint, OF_INDEXES } from './endpoint.ts'
import { EXTENSIONS } from './extensions.ts'
import { INDICES } from './indices.ts'
import { MULTI_SEARCHES } from './msearch.ts'
import { SEARCHES } from './search.ts'

/** Every endpoint of `/{technology}/{blockchain}/{network}/es`. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...[...SEARCHES, ...CURSORS, ...MULTI_SEARCHES, ...DOCUMENTS, ...INDICES],
  ...[...CAT, ...CLUSTER, ...EXTENSIONS],
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
