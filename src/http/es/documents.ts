import { ChainsieveError, refuse } from '../../lib/errors.ts'
import { filterJson } from '../../lib/filter-json.ts'
import { overLimit } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSource, shapedFilter } from '../../query/hits/source-filter.ts'
import { type JsonNode, toList, toScalar, unexpected } from '../../query/json-node.ts'
import { asText, itself, nodeKey, nullableKey, optionalKey, readBodyKeys, SCHEMAS, schemaOf } from '../../query/keys.ts'
import { sourceOfParameters, sourceShape } from '../../query/parameters.ts'
import type { SourceFilter } from '../../query/request.ts'
import type { DocumentRef, SearchAnswer } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy } from '../context.ts'
import { causeOf } from '../errors.ts'
import { answerSchema, listSchema, orError, schemaRef } from '../openapi/schema.ts'
import {
  BODY_PARAMETERS,
  callKind,
  callTarget,
  type EndpointCall,
  type EsEndpoint,
  keysOf,
  SOURCE_PARAMETERS,
} from './endpoint.ts'

const GET_PARAMETERS = [
  ...SOURCE_PARAMETERS,
  ...['args', 'eth', 'preference', 'realtime', 'refresh', 'routing', 'parent', 'type'],
] as const

const getEndpoint: EsEndpoint = {
  paths: ['{index}/_doc/{id}', '{index}/{type}/{document}', '{index}/{document}'],
  methods: ['GET'],
  doc: 'One document by its id; with HEAD, whether it exists.',
  limit: '`stored_fields` takes only `_none_`. `version` and `version_type` are refused: a document has one version.',
  parameters: [...GET_PARAMETERS, 'stored_fields'],
  tag: 'Search',
  answers: {
    200: answerSchema(schemaRef('Document')),
    404: orError('Document', 'The document, or the index, is not there.'),
  },
  async handle(call) {
    const { c, service, log, network, path, parameters } = call
    const entity = callKind(call)
    const stored = parameters.get('stored_fields')
    if (stored !== undefined && stored !== '' && stored !== '_none_') throw noStoredFields(stored)
    const source = stored === '_none_' ? false : sourceFilter(call)
    const id = path.get('id') ?? path.get('document')!
    const answer = await service.get({ network, entity, id, ...(source !== true && { source }), ...askedBy(c) })
    return sendAnswer(c, log, filteredBy(answer, call))
  },
}

const sourceEndpoint: EsEndpoint = {
  paths: ['{index}/_source/{id}', '{index}/{type}/{id}/_source'],
  methods: ['GET'],
  doc: 'The `_source` of one document; with HEAD, whether it exists.',
  parameters: GET_PARAMETERS,
  tag: 'Search',
  answers: {
    200: answerSchema(schemaRef('Source')),
    404: orError('Document', 'The document, or the index, is not there.'),
  },
  async handle(call) {
    const { c, service, log, network, path } = call
    const entity = callKind(call)
    const source = sourceFilter(call)
    if (source === false) throw refuse('illegal_argument_exception', 'fetching source can not be disabled')
    const answer = await service.get({ network, entity, id: path.get('id')!, source, bare: true, ...askedBy(c) })
    return sendAnswer(c, log, filteredBy(answer, call))
  },
}

const filteredBy = ({ status, body }: SearchAnswer, { filterPath }: EndpointCall): SearchAnswer => ({
  status,
  body: body instanceof Uint8Array && filterPath.length > 0 ? filterJson(body, filterPath) : body,
})

const noStoredFields = (names: string) =>
  refuse(
    'illegal_argument_exception',
    `The URL parameter [stored_fields] is supported as [_none_] alone, not as [${names.slice(0, 80)}]: ask for [_source_includes].`,
  )

const OF_MGET = {
  docs: { ...nodeKey, schema: listSchema({ type: 'object', required: ['_id'] }) },
  ids: { ...nodeKey, schema: listSchema(SCHEMAS.text) },
}

const mget: EsEndpoint = {
  paths: ['_mget', '{index}/_mget', '{index}/{type}/_mget'],
  methods: ['GET', 'POST'],
  doc: 'Several documents by their ids, from any indices.',
  limit: '`stored_fields` is refused.',
  parameters: [
    ...BODY_PARAMETERS,
    ...[
      'args',
      'eth',
      '_source',
      '_source_includes',
      '_source_excludes',
      'preference',
      'realtime',
      'refresh',
      'routing',
      'type',
    ],
  ],
  tag: 'Search',
  body: { schema: schemaOf(OF_MGET) },
  answers: 'Documents',
  async handle(call) {
    const { c, service, log, network, filterPath } = call
    const { docs, ids } = await keysOf(call, OF_MGET, 'an object such as {"ids": ["0x…"]}')
    const wanted = [...(docs ? docsOf(call, docs) : []), ...(ids ? idsOfBody(call, ids) : [])]
    if (wanted.length === 0)
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: no documents to get;')
    return sendAnswer(c, log, await service.documents({ network, wanted, filterPath, ...askedBy(c) }))
  },
}

const idsOfBody = (call: EndpointCall, place: JsonNode): DocumentRef[] => {
  const source = sourceFilter(call)
  return listOfNodes(call, place, 'a list of ids').map(at =>
    wantedDocument(call, call.path.get('index'), toScalar(at, 'an id'), source),
  )
}

const listOfNodes = ({ limits }: EndpointCall, place: JsonNode, expected: string): JsonNode[] => {
  if (Array.isArray(place.value) && place.value.length > limits.ids) throw overLimit('ids', limits)
  return toList(place, expected)
}

const docsOf = (call: EndpointCall, place: JsonNode): DocumentRef[] => {
  const source = sourceFilter(call)
  return listOfNodes(call, place, 'a list of documents').map(at => {
    const { _id, _index, _source } = readBodyKeys(
      at,
      'an object such as {"_index": "tx", "_id": "0x…"}',
      OF_DOC,
      HARMLESS_DOC_KEYS,
    )
    if (_id === undefined) throw refuse('action_request_validation_exception', `${at.path}: id is missing;`)
    const own = _source === undefined ? source : sourceFilter(call, _source)
    return wantedDocument(call, _index ?? call.path.get('index'), _id, own)
  })
}

const OF_DOC = {
  _id: optionalKey(place => toScalar(place, 'an id')),
  _index: nullableKey(asText('the name of an index')),
  _source: nullableKey(itself),
  stored_fields: nullableKey((place): never => {
    throw unexpected(place, 'nothing: ask for [_source]')
  }),
}

/** Harmless: the Java client sends some of them as null. */
const HARMLESS_DOC_KEYS = ['_type', 'routing', '_routing', 'version', 'version_type']

export const sourceFilter = ({ pairs, limits }: EndpointCall, own?: JsonNode): SourceFilter => {
  const filter = parseSource(own ?? { path: '_source', value: sourceOfParameters(pairs) }, limits)
  return shapedFilter(filter, sourceShape(pairs))
}

/** A missing index is reported in the place of its document. */
const wantedDocument = (
  call: EndpointCall,
  index: string | undefined,
  id: string,
  source: SourceFilter,
): DocumentRef => {
  if (index === undefined)
    throw refuse(
      'action_request_validation_exception',
      `Validation Failed: 1: index is missing for [${id.slice(0, 80)}];`,
    )
  try {
    const { entities } = callTarget(call, index)
    if (entities === '' || entities.includes(','))
      throw refuse('illegal_argument_exception', `A document belongs to one entity, not to [${index.slice(0, 80)}].`)
    return { kind: entities as Kind, id, source }
  } catch (error) {
    if (!(error instanceof ChainsieveError && error.next === 'refuse')) throw error
    const missing = { _index: index, _type: null, _id: id, error: causeOf(error) }
    return { instead: JSON.stringify(missing) }
  }
}

export const DOCUMENT_ENDPOINTS = [getEndpoint, sourceEndpoint, mget]
