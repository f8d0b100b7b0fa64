import { ENDPOINTS } from '../es/index.ts'
import { EVERYWHERE, OF_INDEXES } from '../es/parameters.ts'
import type { Operation } from './operations.ts'
import { answer, ref } from './schema.ts'

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
