import { refuse } from '../../lib/errors.ts'
import { parseSource } from '../../query/hits/source-filter.ts'
import { SEARCH_PARAMETERS, sourceOf } from '../../query/parameters.ts'
import type { Dialect } from '../../search/service.ts'
import { formatOf, sendAnswer } from '../answer.ts'
import { askedBy, header } from '../context.ts'
import { answer, type Answer as Described, JSON_BODY, orError, ref } from '../openapi/schema.ts'
import {
  BODY_PARAMETERS,
  bodyOf,
  type Call,
  type Endpoint,
  isOn,
  kindOf,
  OF_SHARDS,
  SOURCE_PARAMETERS,
  targetOf,
} from './endpoint.ts'

/** In which dialect a search is answered: `…/search/` in its own, all else as Elasticsearch 7 does, but for older clients. */
export const dialectOf = (call: Call): Dialect => ({
  totals: isOn(call, 'rest_total_hits_as_int') ? 'integer' : totalsFor(call.c.req.path, header(call.c, 'user-agent')),
  typedKeys: isOn(call, 'typed_keys'),
  ...(call.filterPath.length > 0 && { filterPath: call.filterPath }),
})

/** How totals are written where the URL does not say it: by its path, and by the client that asks. */
export const totalsFor = (path: string, client: string | undefined): Dialect['totals'] =>
  /\/search\/?$/.test(path) || isOld(client) ? 'integer' : 'object'

/**
 * Clients of Elasticsearch 6, whose users compare the total with a number. npm's `elasticsearch` tells no name; Python's tells its
 * version.
 */
const isOld = (client: string | undefined): boolean =>
  client === undefined || client === '' || /^elasticsearch-py\/[0-6]\./.test(client)

const FOUND: Described = {
  description: 'The hits, in the format that the header Accept asks for.',
  content: {
    [JSON_BODY]: ref('SearchAnswer'),
    'application/x-ndjson': { type: 'string', description: 'A line of JSON for each hit.' },
    'text/csv': {
      type: 'string',
      description:
        'A line for each hit, under a line of names. Texts that a spreadsheet would run as formulas get an apostrophe in front, unless Accept has formulas=raw.',
    },
  },
}

const search: Endpoint = {
  paths: ['{index}/search', '_search', '{index}/_search', '{index}/{type}/_search'],
  methods: ['GET', 'POST'],
  doc: 'Searches. `{index}/search` answers the total as a number, as before version 7; `_search` as an object. `scroll` opens a scroll.',
  parameters: [...Object.keys(SEARCH_PARAMETERS), ...OF_SHARDS, ...BODY_PARAMETERS, 'scroll', 'type', 'typed_keys'],
  several: true,
  tag: 'Search',
  body: { schema: ref('SearchBody'), example: { query: { match_all: {} }, size: 1 } },
  answers: { 200: FOUND },
  handle: async call => searchWith(call, await bodyOf(call)),
}

/** Answers a search whose body may have come in another way. */
export const searchWith = async (call: Call, body: Uint8Array | undefined): Promise<Response> => {
  const { c, service, log, pairs, path, parameters } = call
  const target = targetOf(call)
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

const wantedFormat = ({ c, parameters, filterPath }: Call) => {
  const format = formatOf(header(c, 'accept'))
  if (!format) return undefined
  const other = parameters.has('scroll') ? 'scroll' : filterPath.length > 0 ? 'filter_path' : undefined
  if (other === undefined) return format
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [${other}] works with JSON only: leave it out for other formats.`,
  )
}

type Search = Parameters<Call['service']['search']>[0]

/** What a search tells other than its hits. */
const answerOf = async (
  { c, service, log, pairs, filterPath }: Call,
  asked: Pick<Search, 'network' | 'entities' | 'body' | 'form'> & Partial<Pick<Search, 'parameters'>>,
): Promise<Response> => {
  const dialect = { totals: 'integer', typedKeys: false, filterPath } as const
  return sendAnswer(c, log, await service.search({ parameters: pairs, ...asked, dialect, ...askedBy(c) }))
}

/** Options of `q`. */
const QUERY_PARAMETERS = ['q', 'df', 'default_operator', 'analyze_wildcard', 'analyzer', 'lenient'] as const

const count: Endpoint = {
  paths: ['_count', '{index}/_count', '{index}/{type}/_count', '{index}/count'],
  methods: ['GET', 'POST'],
  doc: 'The number of documents that match a query.',
  parameters: [...QUERY_PARAMETERS, ...OF_SHARDS, ...BODY_PARAMETERS, 'type'],
  several: true,
  tag: 'Search',
  body: { schema: ref('QueryBody'), example: { query: { match_all: {} } } },
  answers: 'CountAnswer',
  handle: async call => answerOf(call, { ...targetOf(call), body: await bodyOf(call), form: { tell: 'count' } }),
}

const validate: Endpoint = {
  paths: ['_validate/query', '{index}/_validate/query', '{index}/{type}/_validate/query'],
  methods: ['GET', 'POST'],
  doc: 'Whether a query is valid; with `explain`, why it is not.',
  limit: 'The explanation of a valid query is the query as it was sent.',
  parameters: [...QUERY_PARAMETERS, ...BODY_PARAMETERS, 'explain', 'rewrite', 'all_shards', 'type'],
  several: true,
  body: { schema: ref('QueryBody'), example: { query: { match_all: {} } } },
  answers: 'Validity',
  async handle(call) {
    const target = targetOf(call)
    const body = await bodyOf(call)
    const form = { tell: 'validity', why: isOn(call, 'explain') } as const
    const parameters = call.pairs.filter(([name]) => name !== 'explain')
    return answerOf(call, { ...target, body, parameters, form })
  },
}

const explain: Endpoint = {
  paths: ['{index}/_explain/{id}', '{index}/{type}/{id}/_explain'],
  methods: ['GET', 'POST'],
  doc: 'Whether a document matches a query, and how its score comes about. With `_source`, also the document.',
  limit: 'Neither filter clauses nor reasons why a document does not match are listed. `stored_fields` is refused.',
  parameters: [...QUERY_PARAMETERS, ...SOURCE_PARAMETERS, ...OF_SHARDS, ...BODY_PARAMETERS, 'parent', 'type'],
  body: { schema: ref('QueryBody'), example: { query: { match_all: {} } } },
  answers: { 200: answer(ref('Explanation')), 404: orError('Explanation', 'It is not there.') },
  async handle(call) {
    const { network, path } = call
    const kind = kindOf(call)
    const body = await bodyOf(call)
    if (body === undefined && !call.parameters.has('q'))
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: query is missing;')
    const form = { tell: 'match', kind, id: path.get('id')!, source: shownSource(call) } as const
    return answerOf(call, { network, entities: kind, body, form })
  },
}

/** The document is shown where the request says what of it. */
const shownSource = ({ pairs, limits, parameters }: Call) =>
  SOURCE_PARAMETERS.some(name => parameters.has(name))
    ? parseSource({ path: '_source', value: sourceOf(pairs) }, limits)
    : undefined

/** Searches of all forms. */
export const SEARCHES = [search, count, explain, validate]
