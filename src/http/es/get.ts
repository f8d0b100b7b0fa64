import { refuse } from '../../lib/errors.ts'
import { filterJson } from '../../lib/filter-json.ts'
import { sourceOf } from '../../query/parameters.ts'
import type { SourceFilter } from '../../query/request.ts'
import { parseSource } from '../../query/source.ts'
import type { Answer } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import type { Call, Endpoint } from './endpoint.ts'
import { kindOf } from './indexes.ts'
import { SOURCE_PARAMETERS } from './parameters.ts'

const GET_PARAMETERS = [
  ...SOURCE_PARAMETERS,
  ...['preference', 'realtime', 'refresh', 'routing', 'parent', 'type'],
] as const

export const get: Endpoint = {
  paths: ['{index}/_doc/{id}', '{index}/{type}/{document}', '{index}/{document}'],
  methods: ['GET'],
  doc: 'One document by its id; with HEAD, whether it exists.',
  limit: '`stored_fields` takes only `_none_`. `version` and `version_type` are refused: a document has one version.',
  parameters: [...GET_PARAMETERS, 'stored_fields'],
  async handle(call) {
    const { c, service, log, network, path, parameters } = call
    const entity = kindOf(call)
    const stored = parameters.get('stored_fields')
    if (stored !== undefined && stored !== '' && stored !== '_none_') throw noStoredFields(stored)
    const source = stored === '_none_' ? false : sourceFilter(call)
    const id = path.get('id') ?? path.get('document')!
    const answer = await service.get({ network, entity, id, ...(source !== true && { source }), ...askedBy(c) })
    return sendAnswer(c, log, filteredBy(answer, call))
  },
}

export const source: Endpoint = {
  paths: ['{index}/_source/{id}', '{index}/{type}/{id}/_source'],
  methods: ['GET'],
  doc: 'The `_source` of one document; with HEAD, whether it exists.',
  parameters: GET_PARAMETERS,
  async handle(call) {
    const { c, service, log, network, path } = call
    const entity = kindOf(call)
    const source = sourceFilter(call)
    if (source === false) throw refuse('illegal_argument_exception', 'fetching source can not be disabled')
    const answer = await service.get({ network, entity, id: path.get('id')!, source, bare: true, ...askedBy(c) })
    return sendAnswer(c, log, filteredBy(answer, call))
  },
}

const sourceFilter = ({ pairs, limits }: Call): SourceFilter =>
  parseSource({ path: '_source', value: sourceOf(pairs) }, limits)

const filteredBy = ({ status, body }: Answer, { filterPath }: Call): Answer => ({
  status,
  body: body instanceof Uint8Array && filterPath.length > 0 ? filterJson(body, filterPath) : body,
})

const noStoredFields = (names: string) =>
  refuse(
    'illegal_argument_exception',
    `The URL parameter [stored_fields] is supported as [_none_] alone, not as [${names.slice(0, 80)}]: ask for [_source_includes].`,
  )
