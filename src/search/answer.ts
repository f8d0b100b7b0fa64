import type { Searcher } from '../engine/query/execute.ts'
import type { Hit } from '../engine/query/hits.ts'
import { check, type SearchOptions } from '../engine/query/options.ts'
import type { Cursor } from '../engine/query/pages.ts'
import type { SimilarRequest } from '../engine/query/similar.ts'
import type { Suggester, SuggestRequest } from '../engine/query/suggest.ts'
import type { Reader } from '../engine/reader.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { DEFAULT_LIMITS, type Limits, overNow } from '../limits/index.ts'
import { KINDS, type Kind } from '../mapping/index.ts'
import { parseSearch } from '../query/parse.ts'
import type { SearchRequest } from '../query/request.ts'
import { compileSourceFilter } from '../query/source-filter.ts'

/** Elasticsearch's envelope around what a search finds. */

export interface Reply {
  status: number
  /** JSON text, whole, or in parts. */
  body: string | Parts
}

/** A long answer. */
export interface Parts {
  /** Bytes that own their memory. */
  parts: Iterable<Uint8Array<ArrayBuffer>>
  /** The last hit of those that were taken so far. */
  at(): Cursor | undefined
  /** Whether the last part was taken: who went on behind the last hit would close the answer again. */
  ended(): boolean
}

export interface AnswerOptions extends SearchOptions {
  limits?: Limits
  /** The moment that date math counts from. */
  now?: number
  /** Whether the account may have one more long answer. */
  mayStream?: boolean
  /** Goes on behind this hit with an answer that was begun elsewhere. */
  after?: Cursor | undefined
}

/** `index` is the network's name with dashes: `ethereum-ethereum-mainnet`. */
export const answerSearch = (
  searcher: Searcher,
  index: string,
  entities: string,
  body: string | undefined,
  options: AnswerOptions,
): Reply => {
  const started = performance.now()
  const kinds = entities.split(',') as Kind[]
  const request = parseSearch(
    body,
    KINDS.filter(kind => kinds.includes(kind)),
    options.now ?? Date.now(),
    { limits: options.limits, check: () => check(options) },
  )
  return answerRequest(searcher, index, request, options, started)
}

export const answerRequest = (
  searcher: Searcher,
  index: string,
  request: SearchRequest,
  options: AnswerOptions,
  started = performance.now(),
): Reply => {
  const show = createHitWriter(index, request)
  if (request.size >= 0) {
    const { total, hits } = searcher.search(request, options)
    const shown = hits.map(hit => {
      check(options)
      return show(hit)
    })
    return { status: 200, body: `${head(started, total, request, hits.length > 0)}${shown.join(',')}${TAIL}` }
  }
  const { limits = DEFAULT_LIMITS, mayStream = true, after } = options
  if (!mayStream) throw overNow('streams', limits)
  const { total, pages, at } = searcher.pages(request, options, after)
  const begun = after ? undefined : head(started, total, request, total !== 0)
  let ended = false
  const parts = streamed(begun, pages, show, () => {
    ended = true
  })
  return { status: 200, body: { parts, at, ended: () => ended } }
}

export const answerGet = (searcher: Searcher, index: string, kind: Kind, id: string): Reply => {
  const envelope = { _index: `${index}-${kind}`, _type: kind }
  const document = searcher.get(kind, id)
  if (!document) return { status: 404, body: JSON.stringify({ ...envelope, _id: id, found: false }) }
  return {
    status: 200,
    body: JSON.stringify({ ...envelope, _id: document._id, found: true, _source: document._source }),
  }
}

/** The likeness stands in place of the score. */
export const answerSimilar = (searcher: Searcher, index: string, request: SimilarRequest): Reply => {
  const started = performance.now()
  const envelope = { _index: `${index}-contract`, _type: 'contract' }
  const found = searcher.similar(request)
  if (!found) return { status: 404, body: JSON.stringify({ ...envelope, _id: request.address, found: false }) }
  const hits = found.map(({ document: { _id, _source }, similarity }) => ({
    ...envelope,
    _id,
    _score: Math.round(similarity * 10_000) / 10_000,
    _source,
  }))
  const took = Math.round(performance.now() - started)
  const shards = { total: 1, successful: 1, skipped: 0, failed: 0 }
  return {
    status: 200,
    body: JSON.stringify({
      ...{ took, timed_out: false, _shards: shards },
      hits: { total: hits.length, max_score: hits[0]?._score ?? null, hits },
    }),
  }
}

export const answerSuggest = (reader: Reader, suggester: Suggester, request: SuggestRequest): Reply => {
  const started = performance.now()
  reader.begin()
  try {
    const suggestions = suggester(request)
    return { status: 200, body: JSON.stringify({ took: Math.round(performance.now() - started), suggestions }) }
  } finally {
    reader.end()
  }
}

/**
 * The parts of a long answer. They are put together as bytes: text of that size would be kept until V8 cleans its whole heap, and long
 * streams take little memory only if each part is forgotten as it goes.
 */
function* streamed(
  head: string | undefined,
  pages: Iterable<Hit[]>,
  show: (hit: Hit) => string,
  onEnd: () => void,
): Generator<Uint8Array<ArrayBuffer>> {
  const part = createByteWriter(1 << 20)
  part.text(head ?? '')
  // What goes on with an answer comes behind a hit.
  let before = head === undefined ? ',' : ''
  for (const page of pages) {
    for (const hit of page) {
      part.text(before)
      part.text(show(hit))
      before = ','
    }
    yield part.take()
    part.truncate(0)
  }
  part.text(TAIL)
  onEnd()
  yield part.take()
}

const TAIL = ']}}'

const head = (started: number, total: number, { sort }: SearchRequest, any: boolean): string => {
  const score = any && !hidesScores(sort) ? 1 : null
  const took = Math.round(performance.now() - started)
  return `{"took":${took},"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":${total},"max_score":${score},"hits":[`
}

/** As in Elasticsearch: sorted hits have no score, unless they are sorted by it. */
const hidesScores = (sort: SearchRequest['sort']): boolean => sort.length > 0 && !sort.some(({ by }) => by === '_score')

const createHitWriter = (index: string, { sort, source }: SearchRequest): ((hit: Hit) => string) => {
  const filter = compileSourceFilter(source)
  const score = hidesScores(sort) ? null : 1
  return ({ kind, document: { _id, _routing, _parent, _source }, sort }) =>
    JSON.stringify({
      _index: `${index}-${kind}`,
      _type: kind,
      _id,
      _score: score,
      _routing,
      _parent,
      _source: filter(_source),
      sort,
    })
}
