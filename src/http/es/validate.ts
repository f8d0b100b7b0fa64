import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { QUERY_PARAMETERS } from './count.ts'
import type { Endpoint } from './endpoint.ts'
import { targetOf } from './indexes.ts'
import { isOn } from './parameters.ts'
import { BODY_PARAMETERS, bodyOf } from './request-body.ts'

export const validate: Endpoint = {
  paths: ['_validate/query', '{index}/_validate/query', '{index}/{type}/_validate/query'],
  methods: ['GET', 'POST'],
  doc: 'Whether a query is valid; with `explain`, why it is not.',
  limit: 'The explanation of a valid query is the query as it was sent.',
  parameters: [...QUERY_PARAMETERS, ...BODY_PARAMETERS, 'explain', 'rewrite', 'all_shards', 'type'],
  several: true,
  async handle(call) {
    const { c, service, log, pairs, filterPath } = call
    const target = targetOf(call)
    const body = await bodyOf(call)
    const dialect = { totals: 'integer', typedKeys: false, filterPath } as const
    const form = { tell: 'validity', why: isOn(call, 'explain') } as const
    const parameters = pairs.filter(([name]) => name !== 'explain')
    return sendAnswer(c, log, await service.search({ ...target, body, parameters, dialect, form, ...askedBy(c) }))
  },
}
