import { refuse } from '../../lib/errors.ts'
import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import type { Dialect } from '../../search/service.ts'
import { acceptedFormat, sendAnswer } from '../answer.ts'
import { askedBy, header } from '../context.ts'
import { answerSchema, type DescribedAnswer as Described, JSON_BODY, orError, schemaRef } from '../openapi/schema.ts'
import { sourceFilter } from './documents.ts'
import {
  BODY_PARAMETERS,
  callKind,
  callTarget,
  type EndpointCall,
  type EsEndpoint,
  endpointBody,
  isOn,
  OF_SHARDS,
  SOURCE_PARAMETERS,
} from './endpoint.ts'

export const dialectOf = (call: EndpointCall): Dialect => ({
  ...dialectFor(call.c.req.path, header(call.c, 'user-agent')),
  ...(isOn(call, 'rest_total_hits_as_int') && { totals: 'integer' }),
  typedKeys: isOn(call, 'typed_keys'),
  ...(call.filterPath.length > 0 && { filterPath: call.filterPath }),
})

/** `…/search/` has `_parent` and, as for clients of version 6, integer totals; others the form of version 7. */
export const dialectFor = (path: string, client: string | undefined): Dialect => {
  const parents = /\/search\/?$/.test(path)
  return { totals: parents || isOld(client) ? 'integer' : 'object', typedKeys: false, parents }
}

/** Clients of version 6 expect a numeric total; npm's sends no user agent, Python's a version. */
const isOld = (client: string | undefined): boolean =>
  client === undefined || client === '' || /^elasticsearch-py\/[0-6]\./.test(client)

const FOUND: Described = {
  description: 'The hits, in the format that the header Accept asks for.',
  content: {
    [JSON_BODY]: schemaRef('SearchAnswer'),
    'application/x-ndjson': { type: 'string', description: 'A line of JSON for each hit.' },
    'text/csv': {
      type: 'string',
      description:
        'A line for each hit, under a line of names. Texts that a spreadsheet would run as formulas get an apostrophe in front, unless Accept has formulas=raw. With args=columns, each argument is in a column of its own, as it always is in Parquet.',
    },
    'application/vnd.apache.parquet': { type: 'string', format: 'binary' },
  },
}

const searchEndpoint: EsEndpoint = {
  paths: ['{index}/search', '_search', '{index}/_search', '{index}/{type}/_search'],
  methods: ['GET', 'POST'],
  doc: 'Searches. `{index}/search` answers the total as a number, as before version 7; `_search` as an object. `scroll` opens a scroll.',
  parameters: [
    ...Object.keys(SEARCH_PARAMETERS),
    ...OF_SHARDS,
    ...BODY_PARAMETERS,
    'doc_type',
    'scroll',
    'type',
    'typed_keys',
  ],
  several: true,
  tag: 'Search',
  body: { schema: schemaRef('SearchBody'), example: { query: { match_all: {} }, size: 1 } },
  answers: { 200: FOUND },
  handle: async call => searchWith(call, await endpointBody(call)),
}

/** Answers a search whose body may come from elsewhere. */
export const searchWith = async (call: EndpointCall, body: Uint8Array | undefined): Promise<Response> => {
  const { c, service, log, pairs, path, parameters } = call
  const target = callTarget(call)
  const format = wantedFormat(call)
  const scroll = parameters.get('scroll')
  const more = {
    ...(!path.has('index') && { isNamed: false }),
    ...(scroll !== undefined && { scroll }),
    ...(format && { format }),
  }
  const asked = { ...target, body, parameters: pairs, dialect: dialectOf(call), ...more, ...askedBy(c) }
  return sendAnswer(c, log, await service.search(asked))
}

const wantedFormat = ({ c, parameters, filterPath }: EndpointCall) => {
  const format = acceptedFormat(header(c, 'accept'))
  if (!format) return undefined
  const other = parameters.has('scroll') ? 'scroll' : filterPath.length > 0 ? 'filter_path' : undefined
  if (other === undefined) return format
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [${other}] works with JSON only: leave it out for other formats.`,
  )
}

type SearchCall = Parameters<EndpointCall['service']['search']>[0]

const answerWith = async (
  { c, service, log, pairs, filterPath }: EndpointCall,
  asked: Pick<SearchCall, 'network' | 'entities' | 'body' | 'form'> & Partial<Pick<SearchCall, 'parameters'>>,
): Promise<Response> => {
  const dialect = { totals: 'integer', typedKeys: false, filterPath } as const
  return sendAnswer(c, log, await service.search({ parameters: pairs, ...asked, dialect, ...askedBy(c) }))
}

const QUERY_PARAMETERS = ['q', 'df', 'default_operator', 'analyze_wildcard', 'analyzer', 'lenient'] as const

const countEndpoint: EsEndpoint = {
  paths: ['_count', '{index}/_count', '{index}/{type}/_count', '{index}/count'],
  methods: ['GET', 'POST'],
  doc: 'The number of documents that match a query.',
  parameters: [...QUERY_PARAMETERS, ...OF_SHARDS, ...BODY_PARAMETERS, 'type'],
  several: true,
  tag: 'Search',
  body: { schema: schemaRef('QueryBody'), example: { query: { match_all: {} } } },
  answers: 'CountAnswer',
  handle: async call =>
    answerWith(call, { ...callTarget(call), body: await endpointBody(call), form: { tell: 'count' } }),
}

const validateEndpoint: EsEndpoint = {
  paths: ['_validate/query', '{index}/_validate/query', '{index}/{type}/_validate/query'],
  methods: ['GET', 'POST'],
  doc: 'Whether a query is valid; with `explain`, why it is not.',
  limit: 'The explanation of a valid query is the query as it was sent.',
  parameters: [...QUERY_PARAMETERS, ...BODY_PARAMETERS, 'explain', 'rewrite', 'all_shards', 'type'],
  several: true,
  body: { schema: schemaRef('QueryBody'), example: { query: { match_all: {} } } },
  answers: 'Validity',
  async handle(call) {
    const target = callTarget(call)
    const body = await endpointBody(call)
    const form = { tell: 'validity', why: isOn(call, 'explain') } as const
    const parameters = call.pairs.filter(([name]) => name !== 'explain')
    return answerWith(call, { ...target, body, parameters, form })
  },
}

const explainEndpoint: EsEndpoint = {
  paths: ['{index}/_explain/{id}', '{index}/{type}/{id}/_explain'],
  methods: ['GET', 'POST'],
  doc: 'Whether a document matches a query, and how its score comes about. With `_source`, also the document.',
  limit: 'Neither filter clauses nor reasons why a document does not match are listed. `stored_fields` is refused.',
  parameters: [
    ...[...QUERY_PARAMETERS, ...SOURCE_PARAMETERS, ...OF_SHARDS, ...BODY_PARAMETERS],
    ...['args', 'eth', 'parent', 'type'],
  ],
  body: { schema: schemaRef('QueryBody'), example: { query: { match_all: {} } } },
  answers: { 200: answerSchema(schemaRef('Explanation')), 404: orError('Explanation', 'It is not there.') },
  async handle(call) {
    const { network, path } = call
    const kind = callKind(call)
    const body = await endpointBody(call)
    if (body === undefined && !call.parameters.has('q'))
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: query is missing;')
    const source = SOURCE_PARAMETERS.some(name => call.parameters.has(name)) ? sourceFilter(call) : undefined
    const form = { tell: 'match', kind, id: path.get('id')!, source } as const
    return answerWith(call, { network, entities: kind, body, form })
  },
}

export const SEARCHES = [searchEndpoint, countEndpoint, explainEndpoint, validateEndpoint]
