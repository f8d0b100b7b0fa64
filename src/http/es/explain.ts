import { refuse } from '../../lib/errors.ts'
import { sourceOf } from '../../query/parameters.ts'
import { parseSource } from '../../query/source.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { QUERY_PARAMETERS } from './count.ts'
import type { Call, Endpoint } from './endpoint.ts'
import { kindOf } from './indexes.ts'
import { OF_SHARDS, SOURCE_PARAMETERS } from './parameters.ts'
import { BODY_PARAMETERS, bodyOf } from './request-body.ts'

export const explain: Endpoint = {
  paths: ['{index}/_explain/{id}', '{index}/{type}/{id}/_explain'],
  methods: ['GET', 'POST'],
  doc: 'Whether a document matches a query, and how its score comes about. With `_source`, also the document.',
  limit: 'Neither filter clauses nor reasons why a document does not match are listed. `stored_fields` is refused.',
  parameters: [...QUERY_PARAMETERS, ...SOURCE_PARAMETERS, ...OF_SHARDS, ...BODY_PARAMETERS, 'parent', 'type'],
  async handle(call) {
    const { c, service, log, network, pairs, filterPath, path } = call
    const kind = kindOf(call)
    const body = await bodyOf(call)
    if (body === undefined && !call.parameters.has('q'))
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: query is missing;')
    const dialect = { totals: 'integer', typedKeys: false, filterPath } as const
    const form = { tell: 'match', kind, id: path.get('id')!, source: shownSource(call) } as const
    const asked = { network, entities: kind, body, parameters: pairs, dialect, form }
    return sendAnswer(c, log, await service.search({ ...asked, ...askedBy(c) }))
  },
}

/** The document is shown where the request says what of it. */
const shownSource = ({ pairs, limits, parameters }: Call) =>
  SOURCE_PARAMETERS.some(name => parameters.has(name))
    ? parseSource({ path: '_source', value: sourceOf(pairs) }, limits)
    : undefined
