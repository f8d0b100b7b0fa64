import { cat, catAliases, catCount, catHealth, catIndices } from '../es/cat.ts'
import { about, clusterHealth, clusterSettings, clusterStats, nodes, searchShards } from '../es/cluster.ts'
import {
  clearScroll,
  closeAllPointsInTime,
  closePit,
  closePointsInTime,
  listPointsInTime,
  openPit,
  openPointInTime,
  scroll,
} from '../es/cursors.ts'
import { get, mget, source } from '../es/documents.ts'
import type { Endpoint } from '../es/endpoint.ts'
import { similarCalls, similarContracts, similarEvents, suggest } from '../es/extensions.ts'
import { ENDPOINTS } from '../es/index.ts'
import {
  alias,
  analyze,
  fieldCaps,
  fieldMapping,
  indices,
  mapping,
  refresh,
  resolve,
  settings,
  stats,
} from '../es/indices.ts'
import { msearch, msearchTemplate, renderTemplate, searchTemplate } from '../es/msearch.ts'
import { EVERYWHERE, OF_INDEXES } from '../es/parameters.ts'
import { count, explain, search, validate } from '../es/search.ts'
import { type Body, JSON_BODY, type Operation, type Tag, type Told, told } from './operations.ts'
import { closed, listOf, ref, type Schema, text } from './schema.ts'

/** What an endpoint is sent and answers. */
interface Shape {
  tag?: Tag
  body?: Body
  answers: Operation['answers']
}

const similar = (absent: string): Shape => ({
  tag: 'Search',
  answers: {
    200: told(ref('SearchAnswer')),
    404: told({ anyOf: [ref('Document'), ref('Error')] }, absent),
    501: told(ref('Error'), 'sqlite-vec cannot be loaded on the platform of the server.'),
  },
})

const bodyOf = (schema: Schema, example?: unknown): Body => ({ schema, example })
const names: Schema = { anyOf: [text, listOf(text)] }
const template = closed({}, { source: { anyOf: [text, { type: 'object' }] }, params: { type: 'object' } })
const anything = { query: { match_all: {} } }
const ok = (schema: string): Operation['answers'] => ({ 200: told(ref(schema)) })

const lines = (types: Record<string, Schema>): Told => ({
  description: 'The hits, in the format that the header Accept asks for.',
  content: types,
})
const found: Told = lines({
  [JSON_BODY]: ref('SearchAnswer'),
  'application/x-ndjson': { type: 'string', description: 'A line of JSON for each hit.' },
  'text/csv': {
    type: 'string',
    description:
      'A line for each hit, under a line of names. Texts that a spreadsheet would run as formulas get an apostrophe in front, unless Accept has formulas=raw.',
  },
})
const table: Told = {
  description: 'A table: as text, or as JSON with `format=json`.',
  content: { 'text/plain': text, [JSON_BODY]: ref('Table') },
}
const document: Operation['answers'] = {
  200: told(ref('Document')),
  404: told({ anyOf: [ref('Document'), ref('Error')] }, 'The document, or the index, is not there.'),
}

/** Every endpoint. One that is missing here is told with an answer of any kind, which a test refuses. */
const SHAPES: ReadonlyMap<Endpoint, Shape> = new Map<Endpoint, Shape>([
  [about, { answers: ok('Information') }],
  [search, { tag: 'Search', body: bodyOf(ref('SearchBody'), { ...anything, size: 1 }), answers: { 200: found } }],
  [
    scroll,
    { tag: 'Search', body: bodyOf(closed({}, { scroll: text, scroll_id: names })), answers: ok('SearchAnswer') },
  ],
  [
    clearScroll,
    {
      tag: 'Search',
      body: bodyOf(closed({}, { scroll_id: names })),
      answers: { 200: told(ref('Closed')), 404: told({ anyOf: [ref('Closed'), ref('Error')] }, 'There was none.') },
    },
  ],
  [openPit, { tag: 'Search', answers: ok('PointInTime') }],
  [
    closePit,
    {
      tag: 'Search',
      body: bodyOf(closed({ id: text })),
      answers: { 200: told(ref('Closed')), 404: told({ anyOf: [ref('Closed'), ref('Error')] }, 'There was none.') },
    },
  ],
  [openPointInTime, { answers: ok('OpenedPointInTime') }],
  [listPointsInTime, { answers: ok('PointsInTime') }],
  [closePointsInTime, { body: bodyOf(closed({ pit_id: names })), answers: ok('ClosedPointsInTime') }],
  [closeAllPointsInTime, { answers: ok('ClosedPointsInTime') }],
  [
    msearch,
    {
      tag: 'Search',
      body: {
        schema: {
          type: 'string',
          description: 'Two lines for each search: a header such as {"index":"tx"}, and a body.',
        },
        example: '{"index":"tx"}\n{"size":1}\n',
        type: 'application/x-ndjson',
        required: true,
      },
      answers: ok('MultiSearchAnswer'),
    },
  ],
  [
    searchTemplate,
    { body: { schema: template, required: true, example: { source: anything } }, answers: ok('SearchAnswer') },
  ],
  [
    msearchTemplate,
    {
      body: {
        schema: { type: 'string', description: 'Two lines for each search: a header, and a template.' },
        example: '{"index":"tx"}\n{"source":{"size":"{{n}}"},"params":{"n":1}}\n',
        type: 'application/x-ndjson',
        required: true,
      },
      answers: ok('MultiSearchAnswer'),
    },
  ],
  [
    renderTemplate,
    { body: { schema: template, required: true, example: { source: anything } }, answers: ok('RenderedTemplate') },
  ],
  [count, { tag: 'Search', body: bodyOf(ref('QueryBody'), anything), answers: ok('CountAnswer') }],
  [get, { tag: 'Search', answers: document }],
  [
    source,
    {
      tag: 'Search',
      answers: {
        200: told(ref('Source')),
        404: told({ anyOf: [ref('Document'), ref('Error')] }, 'The document, or the index, is not there.'),
      },
    },
  ],
  [
    mget,
    {
      tag: 'Search',
      body: bodyOf(closed({}, { docs: listOf({ type: 'object', required: ['_id'] }), ids: listOf(text) })),
      answers: ok('Documents'),
    },
  ],
  [
    explain,
    {
      body: bodyOf(ref('QueryBody'), anything),
      answers: {
        200: told(ref('Explanation')),
        404: told({ anyOf: [ref('Explanation'), ref('Error')] }, 'It is not there.'),
      },
    },
  ],
  [validate, { body: bodyOf(ref('QueryBody'), anything), answers: ok('Validity') }],
  [
    analyze,
    {
      body: bodyOf(closed({}, { analyzer: text, field: text, text: names }), { text: 'One two' }),
      answers: ok('Tokens'),
    },
  ],
  [indices, { answers: ok('ByIndex') }],
  [mapping, { answers: ok('ByIndex') }],
  [fieldMapping, { answers: ok('ByIndex') }],
  [
    fieldCaps,
    { body: bodyOf(closed({}, { fields: names }), { fields: ['timestamp'] }), answers: ok('FieldCapabilities') },
  ],
  [settings, { answers: ok('ByIndex') }],
  [alias, { answers: ok('ByIndex') }],
  [resolve, { answers: ok('ResolvedIndexes') }],
  [stats, { answers: ok('Statistics') }],
  [refresh, { answers: ok('Shards') }],
  [catIndices, { answers: { 200: table } }],
  [catCount, { answers: { 200: table } }],
  [catHealth, { answers: { 200: table } }],
  [catAliases, { answers: { 200: table } }],
  [cat, { answers: { 200: { description: 'The names, as text.', content: { 'text/plain': text } } } }],
  [clusterHealth, { answers: ok('ClusterHealth') }],
  [clusterStats, { answers: ok('ClusterStatistics') }],
  [clusterSettings, { answers: ok('ClusterSettings') }],
  [nodes, { answers: ok('Nodes') }],
  [searchShards, { answers: ok('SearchShards') }],
  [suggest, { tag: 'Search', answers: ok('Suggestions') }],
  [similarContracts, similar('The contract is not there.')],
  [similarEvents, similar('The event is not there.')],
  [similarCalls, similar('The call is not there.')],
])

const NONE: Shape = { answers: { 200: { description: 'The answer.' } } }

export const ES = '/{technology}/{blockchain}/{network}/es'

/** The operations of `…/es`: each path with each of its methods. */
export const endpointOperations = (): Operation[] =>
  ENDPOINTS.flatMap(endpoint => {
    const { tag = 'Elasticsearch', body, answers } = SHAPES.get(endpoint) ?? NONE
    const { paths, methods, doc, limit, parameters = [] } = endpoint
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
          answers,
        }
      }),
    )
  })
