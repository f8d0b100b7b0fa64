import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { dialectOf } from './dialect.ts'
import type { Endpoint } from './endpoint.ts'
import { targetOf } from './indexes.ts'
import { OF_SHARDS } from './parameters.ts'
import { BODY_PARAMETERS, bodyOf } from './request-body.ts'

export const search: Endpoint = {
  paths: ['{index}/search', '_search', '{index}/_search', '{index}/{type}/_search'],
  methods: ['GET', 'POST'],
  doc: 'Searches. `{index}/search` answers the total as a number, as before version 7; `_search` as an object.',
  parameters: [...Object.keys(SEARCH_PARAMETERS), ...OF_SHARDS, ...BODY_PARAMETERS, 'type', 'typed_keys'],
  async handle(call) {
    const { c, service, log, pairs } = call
    const target = targetOf(call)
    const body = await bodyOf(call)
    const dialect = dialectOf(call)
    return sendAnswer(c, log, await service.search({ ...target, body, parameters: pairs, dialect, ...askedBy(c) }))
  },
}
