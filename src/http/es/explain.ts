import { refuse } from '../../lib/errors.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { QUERY_PARAMETERS } from './count.ts'
import type { Endpoint } from './endpoint.ts'
import { kindOf } from './indexes.ts'
import { OF_SHARDS } from './parameters.ts'
import { BODY_PARAMETERS, bodyOf } from './request-body.ts'

export const explain: Endpoint = {
  paths: ['{index}/_explain/{id}', '{index}/{type}/{id}/_explain'],
  methods: ['GET', 'POST'],
  doc: 'Whether a document matches a query, and its score.',
  limit:
    'The explanation has the score as a whole, without the parts that it comes from. `_source` and `stored_fields` are refused.',
  parameters: [...QUERY_PARAMETERS, ...OF_SHARDS, ...BODY_PARAMETERS, 'type'],
  async handle(call) {
    const { c, service, log, network, pairs, filterPath, path } = call
    const kind = kindOf(call)
    const body = await bodyOf(call)
    if (body === undefined && !call.parameters.has('q'))
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: query is missing;')
    const dialect = { totals: 'integer', typedKeys: false, filterPath } as const
    const form = { tell: 'match', kind, id: path.get('id')! } as const
    const asked = { network, entities: kind, body, parameters: pairs, dialect, form }
    return sendAnswer(c, log, await service.search({ ...asked, ...askedBy(c) }))
  },
}
