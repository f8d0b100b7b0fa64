import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import type { Endpoint } from './endpoint.ts'
import { targetOf } from './indexes.ts'
import { OF_SHARDS } from './parameters.ts'
import { BODY_PARAMETERS, bodyOf } from './request-body.ts'

/** Options of `q`. */
export const QUERY_PARAMETERS = ['q', 'df', 'default_operator', 'analyze_wildcard', 'analyzer', 'lenient'] as const

export const count: Endpoint = {
  paths: ['_count', '{index}/_count', '{index}/{type}/_count', '{index}/count'],
  methods: ['GET', 'POST'],
  doc: 'The number of documents that match a query.',
  parameters: [...QUERY_PARAMETERS, ...OF_SHARDS, ...BODY_PARAMETERS, 'type'],
  several: true,
  async handle(call) {
    const { c, service, log, pairs, filterPath } = call
    const target = targetOf(call)
    const body = await bodyOf(call)
    const dialect = { totals: 'integer', typedKeys: false, filterPath } as const
    const asked = { ...target, body, parameters: pairs, dialect, form: { tell: 'count' } as const }
    return sendAnswer(c, log, await service.search({ ...asked, ...askedBy(c) }))
  },
}
