import { refuse, retry } from '../../lib/errors.ts'
import { filterJson } from '../../lib/filter-json.ts'
import { createPauses } from '../../lib/scheduling/event-loop.ts'
import { overLimit } from '../../limits/index.ts'
import { parseExactJson } from '../../query/json.ts'
import { bodyNode, elements, isJsonMap, toText } from '../../query/json-node.ts'
import { optionalKey, readBodyKeys, schemaOf } from '../../query/keys.ts'
import type { Parameters } from '../../query/parameters.ts'
import { TEMPLATE_KEYS } from '../../query/template/request.ts'
import type { SearchTarget } from '../../search/index-names.ts'
import { unwrapResponse, withStatus, wrapResponse } from '../../search/service.ts'
import { PRODUCT, sendAnswer } from '../answer.ts'
import { askedBy, type Ending, requestFacts } from '../context.ts'
import { renderError } from '../errors.ts'
import type { Body } from '../openapi/schema.ts'
import {
  BODY_PARAMETERS,
  type EndpointCall,
  type EsEndpoint,
  endpointBody,
  isOn,
  OF_SHARDS,
  splitNames,
} from './endpoint.ts'
import { dialectOf, searchWith } from './search.ts'

/** Searches of one request that run at the same time, unless it asks for fewer. */
const SEARCHES_AT_ONCE = 4

const msearch: EsEndpoint = {
  paths: ['_msearch', '{index}/_msearch', '{index}/{type}/_msearch'],
  methods: ['GET', 'POST'],
  doc: 'Several searches in one request, as lines of JSON: a header and a body for each.',
  limit:
    'An error in one search is reported in its place, where Elasticsearch refuses the whole request. `"size": -1` is refused.',
  parameters: [...OF_SHARDS, 'args', 'eth', 'max_concurrent_searches', 'rest_total_hits_as_int', 'type', 'typed_keys'],
  several: true,
  tag: 'Search',
  body: {
    schema: { type: 'string', description: 'Two lines for each search: a header such as {"index":"tx"}, and a body.' },
    example: '{"index":"tx"}\n{"size":1}\n',
    type: 'application/x-ndjson',
    required: true,
  },
  answers: 'MultiSearchAnswer',
  handle: call => searchesWith(call, async body => ({ body })),
}

interface AskedSearch {
  body: Uint8Array
  /** In addition to those of the URL. */
  parameters?: Parameters
}

/** Answers several searches. `read` converts the line after a header. */
const searchesWith = async (
  call: EndpointCall,
  read: (line: Uint8Array) => Promise<AskedSearch>,
): Promise<Response> => {
  const { c, log, filterPath } = call
  const started = performance.now()
  const items = splitSearches(call, await endpointBody(call))
  const { signal } = askedBy(c)
  const ending = c.env?.incoming && requestFacts(c.env.incoming).ending
  const until = ending ? AbortSignal.any([signal, ending.soon]) : signal
  const answers = inOrder(items, atOnce(call), item => searchItem(call, item, { read, signal: until, ending }))
  return sendAnswer(c, log, { status: 200, body: streamed(answers, started, filterPath) })
}

const atOnce = ({ parameters }: EndpointCall): number => {
  const given = Number(parameters.get('max_concurrent_searches') ?? SEARCHES_AT_ONCE)
  if (!Number.isSafeInteger(given) || given < 1)
    throw refuse('illegal_argument_exception', 'The URL parameter [max_concurrent_searches] must be positive.')
  return Math.min(given, SEARCHES_AT_ONCE)
}

interface SearchItem {
  header: Uint8Array
  body: Uint8Array
}

const LF_CODE = 10

/** Splits lines into pairs. Skips empty ones between two searches, as Elasticsearch does. */
const splitSearches = ({ limits }: EndpointCall, body: Uint8Array | undefined): SearchItem[] => {
  if (body === undefined) throw refuse('parse_exception', 'request body or source parameter is required')
  if (body.at(-1) !== LF_CODE)
    throw refuse('illegal_argument_exception', 'The msearch request must be terminated by a newline [\n]')
  const items: SearchItem[] = []
  let at = 0
  const line = (): Uint8Array => {
    const end = body.indexOf(LF_CODE, at)
    const found = body.subarray(at, end)
    at = end + 1
    return found
  }
  while (at < body.length) {
    const header = line()
    if (header.length === 0 && items.length > 0 && isBlankText(body.subarray(at))) break
    if (at >= body.length)
      throw refuse('illegal_argument_exception', `The header of search ${items.length + 1} is not followed by a body.`)
    if (items.length === limits.searches) throw overLimit('searches', limits)
    items.push({ header, body: line() })
  }
  if (items.length === 0)
    throw refuse('action_request_validation_exception', 'Validation Failed: 1: no requests added;')
  return items
}

const isBlankText = (bytes: Uint8Array): boolean => bytes.every(byte => byte === LF_CODE || byte === 13 || byte === 32)

/** Answers one search as JSON with its status; undefined if filter_path removes all of it. */
const searchItem = async (
  call: EndpointCall,
  { header, body: line }: SearchItem,
  {
    read,
    signal,
    ending,
  }: { read(line: Uint8Array): Promise<AskedSearch>; signal: AbortSignal; ending: Ending | undefined },
): Promise<Uint8Array | undefined> => {
  const { c, service, filterPath } = call
  const isFiltered = filterPath.length > 0
  try {
    if (ending?.begun.aborted) throw stopping()
    const target = headerOf(call, header)
    // Copies it, since a thread takes the whole buffer.
    const { body, parameters = [] } = await read(Uint8Array.from(line))
    const own = body.length === 0 ? undefined : body
    const account = c.get('account').id
    const dialect = { ...dialectOf(call), ...(isFiltered && { isItem: true }) }
    const asked = { ...target, body: own, parameters: [...call.pairs, ...parameters], dialect, account, signal }
    const answer = await service.search(asked)
    if (answer.body instanceof Uint8Array)
      return isFiltered ? unwrapResponse(answer.body) : withStatus(answer.body, answer.status)
    await answer.body.cancel()
    throw refuse('illegal_argument_exception', 'All hits ("size": -1) are available in _search, not in _msearch.')
  } catch (error) {
    const reported = ending?.soon.aborted ? stopping() : error
    const json = new Uint8Array(await renderError(call.log)(reported, c).arrayBuffer())
    return isFiltered ? unwrapResponse(filterJson(wrapResponse(json), filterPath)) : json
  }
}

const stopping = () =>
  retry('es_rejected_execution_exception', 'The server stops, and does not answer this search: send it again.')

/** Names as a list or comma-separated; undefined without names. */
const namesKey = optionalKey((place): string | undefined => {
  if (place.value === null || isJsonMap(place.value)) return undefined
  return (
    elements(place)
      .map(at => toText(at, 'the name of an index'))
      .filter(name => name !== '')
      .join() || undefined
  )
})

const flagKey = optionalKey(({ value }) => value === true || value === 'true')

const HEADER_KEYS = {
  ...{ index: namesKey, indices: namesKey, ignore_unavailable: flagKey, allow_no_indices: flagKey },
  ...{ type: namesKey, types: namesKey },
}

/** Options that change nothing here, as in the URL. */
const HARMLESS_HEADER_KEYS = [...OF_SHARDS, 'expand_wildcards', 'ignore_throttled', 'allow_partial_search_results']

const headerOf = (call: EndpointCall, line: Uint8Array): SearchTarget & { isNamed: boolean } => {
  if (line.length > call.limits.searchHeader) throw overLimit('searchHeader', call.limits)
  const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString()
  const root = bodyNode(text.trim() === '' ? new Map() : parseExactJson(text, call.limits))
  const keys = readBodyKeys(root, 'an object such as {"index": "tx"}', HEADER_KEYS, HARMLESS_HEADER_KEYS)
  const { network, service, path } = call
  const index = keys.index ?? keys.indices ?? path.get('index')
  const types = keys.type ?? keys.types ?? path.get('type') ?? call.parameters.get('type')
  const target = call.names.target(network, index ?? '_all', service.networks(network), {
    ignoreUnavailable: keys.ignore_unavailable ?? isOn(call, 'ignore_unavailable'),
    allowNoIndices: keys.allow_no_indices ?? true,
    types: types === undefined ? undefined : splitNames(types),
  })
  return { ...target, isNamed: index !== undefined }
}

/** Runs up to `atOnce` tasks and yields results in order; pauses between those that end at once. */
async function* inOrder<T, R>(all: readonly T[], atOnce: number, work: (one: T) => Promise<R>): AsyncGenerator<R> {
  const pause = createPauses()
  const running: Promise<R>[] = []
  let next = 0
  const begin = () => {
    const one = work(all[next++]!)
    // Errors are reported in turn.
    one.catch(() => {})
    running.push(one)
  }
  while (next < all.length || running.length > 0) {
    while (next < all.length && running.length < atOnce) {
      await pause()
      begin()
    }
    yield await running.shift()!
  }
}

const RESPONSES_HEAD = '{"responses":['

/** Streams the answer part by part, which bounds the number of answers in memory. */
const streamed = (
  answers: AsyncGenerator<Uint8Array | undefined>,
  started: number,
  patterns: readonly string[],
): ReadableStream<Uint8Array> => {
  let before = RESPONSES_HEAD
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let next = await answers.next()
        while (!next.done && next.value === undefined) next = await answers.next()
        const { value } = next
        if (value === undefined) {
          const took = Buffer.from(`{"took":${Math.round(performance.now() - started)}}`)
          const left = Buffer.from(filterJson(took, patterns)).toString()
          const comma = left === '{}' ? '' : ','
          controller.enqueue(Buffer.from(before === RESPONSES_HEAD ? left : `]${comma}${left.slice(1)}`))
          controller.close()
          return
        }
        controller.enqueue(Buffer.concat([Buffer.from(before), value]))
        before = ','
      },
      cancel: async () => void (await answers.return(undefined)),
    },
    { highWaterMark: 1 },
  )
}

const OF_TEMPLATES = ['rest_total_hits_as_int', 'scroll', 'type', 'typed_keys'] as const

const TEMPLATE: Body = {
  schema: schemaOf({ source: TEMPLATE_KEYS.source, params: TEMPLATE_KEYS.params }),
  required: true,
  example: { source: { query: { match_all: {} } } },
}

const searchTemplate: EsEndpoint = {
  paths: ['_search/template', '{index}/_search/template', '{index}/{type}/_search/template'],
  methods: ['GET', 'POST'],
  doc: 'Searches by a mustache template, `source`, filled with `params`.',
  limit: 'Send the template: none are stored. `id`, `profile` and partials are refused.',
  parameters: [...OF_TEMPLATES, 'explain', ...OF_SHARDS, ...BODY_PARAMETERS],
  several: true,
  body: TEMPLATE,
  answers: 'SearchAnswer',
  async handle(call) {
    const { body, explain } = await renderBody(call, await requireBody(call))
    const parameters = call.pairs.filter(([name]) => !BODY_PARAMETERS.some(it => it === name))
    const pairs = explain ? [...parameters, ['explain', 'true'] as const] : parameters
    return searchWith({ ...call, pairs }, body)
  },
}

const msearchTemplate: EsEndpoint = {
  paths: ['_msearch/template', '{index}/_msearch/template', '{index}/{type}/_msearch/template'],
  methods: ['GET', 'POST'],
  doc: 'Several searches by templates, as lines of JSON: a header and a template for each.',
  limit: 'As `_msearch` and `_search/template`.',
  parameters: [...OF_SHARDS, 'args', 'eth', 'max_concurrent_searches', 'rest_total_hits_as_int', 'type', 'typed_keys'],
  several: true,
  body: {
    schema: { type: 'string', description: 'Two lines for each search: a header, and a template.' },
    example: '{"index":"tx"}\n{"source":{"size":"{{n}}"},"params":{"n":1}}\n',
    type: 'application/x-ndjson',
    required: true,
  },
  answers: 'MultiSearchAnswer',
  handle: call =>
    searchesWith(call, async line => {
      const { body, explain } = await renderBody(call, line)
      return { body, ...(explain && { parameters: [['explain', 'true']] }) }
    }),
}

const renderTemplate: EsEndpoint = {
  paths: ['_render/template', '_render/template/{id}'],
  methods: ['GET', 'POST'],
  doc: 'What a template makes of its `params`, without searching.',
  limit: 'The template is sent as `source`: none are stored.',
  parameters: BODY_PARAMETERS,
  several: true,
  body: TEMPLATE,
  answers: 'RenderedTemplate',
  async handle(call) {
    const id = call.path.get('id')
    if (id !== undefined)
      throw refuse(
        'illegal_argument_exception',
        `unable to find script [${id.slice(0, 80)}]: templates are not stored here. Send it as [source] to _render/template.`,
      )
    const { body } = await renderBody(call, await requireBody(call), true)
    // Appends the JSON bytes unparsed, which preserves all digits.
    return new Response(Buffer.concat([Buffer.from('{"template_output":'), body, Buffer.from('}')]), {
      headers: PRODUCT,
    })
  },
}

const requireBody = async (call: EndpointCall): Promise<Uint8Array> => {
  const body = await endpointBody(call)
  if (body !== undefined && !isBlankText(body)) return body
  throw refuse('parse_exception', 'request body or source parameter is required')
}

const renderBody = ({ c, service }: EndpointCall, body: Uint8Array, isJson = false) =>
  service.render({ body, isJson, ...askedBy(c) })

export const MULTI_SEARCHES = [msearch, searchTemplate, msearchTemplate, renderTemplate]
