import type { Searcher, Written, WrittenPages } from '../engine/query/execute.ts'
import { check, type SearchOptions } from '../engine/query/options.ts'
import type { Cursor } from '../engine/query/pages.ts'
import type { SimilarRequest } from '../engine/query/similar.ts'
import type { Suggester, SuggestRequest } from '../engine/query/suggest.ts'
import type { Reader } from '../engine/reader.ts'
import { hidesScores } from '../engine/show/hits.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { DEFAULT_LIMITS, type Limits, overNow } from '../limits/index.ts'
import { KINDS, type Kind } from '../mapping/index.ts'
import { parseSearch } from '../query/parse.ts'
import type { SearchRequest } from '../query/request.ts'
import { answerPit, answerScroll, openedPit, type UsedCursor } from './cursors/answer.ts'
import { scrollRequest } from './cursors/page.ts'
import { resumeMember, resuming } from './cursors/resume.ts'
import type { ScrollState } from './cursors/state.ts'
import { answerLines } from './lines.ts'
import type { Format } from './service.ts'

/** Elasticsearch's envelope around what a search finds. */

export interface Reply {
  status: number
  /** Of what is no JSON. */
  format?: Format | undefined
  /** The cursor that this is a page of. */
  cursor?: UsedCursor | undefined
  /** JSON text, whole, as bytes that own their memory, or in parts. */
  body: Uint8Array<ArrayBuffer> | Parts
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
  isNamed?: boolean | undefined
  format?: Format | undefined
  /** The scroll that this is to be the next page of. */
  scroll?: ScrollState | undefined
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
  const { limits = DEFAULT_LIMITS, now = Date.now(), scroll } = options
  const pit = scroll ? undefined : openedPit(body, index, { limits, now, isNamed: options.isNamed })
  const kinds = (pit?.state.entities ?? entities).split(',') as Kind[]
  const request = parseSearch(
    body,
    KINDS.filter(kind => kinds.includes(kind)),
    now,
    { limits, check: () => check(options), cursor: scroll ? 'hidden' : pit?.tiebreak },
  )
  const { timeoutMs = Number.POSITIVE_INFINITY } = request
  options.deadline = Math.min(options.deadline, started + timeoutMs)
  if (pit) return answerPit(pit, { ...request, seen: pit.state.seen }, paged)
  if (scroll) return answerScroll(scroll, scrollRequest(request, scroll, limits), { now, answer: paged })
  return answerRequest(searcher, index, request, options, started)

  function paged(page: SearchRequest, lead: Lead): Reply {
    return answerRequest(searcher, index, page, options, started, lead)
  }
}

/** What stands before all else in an answer, and the total where another one counts than was found. */
export type Lead = (found: Written) => { text: string; total: number }

export const answerRequest = (
  searcher: Searcher,
  index: string,
  asked: SearchRequest,
  options: AnswerOptions,
  started = performance.now(),
  lead: Lead = ({ total }) => ({ text: '', total }),
): Reply => {
  const request = resuming(asked, index)
  if (options.format) return answerLines(searcher, index, request, { ...options, format: options.format }, out)
  const writing = { index, out }
  out.clear()
  if (request.size >= 0) {
    const written = searcher.write(request, options, writing)
    const { text, total } = lead(written)
    // The head tells how long all of it took: it is known last.
    return {
      status: 200,
      body: joined(
        encode(head(started, total, request, written.hits > 0, text)),
        out.view(),
        written.resumed ? encode(`]}${resumeMember(written.resumed, index)}}`) : TAIL,
      ),
    }
  }
  const { limits = DEFAULT_LIMITS, mayStream = true, after } = options
  if (!mayStream) throw overNow('streams', limits)
  const { total, pages, at } = searcher.writePages(request, options, writing, after)
  const begun = after ? undefined : head(started, total, request, total !== 0, lead({ total, hits: total }).text)
  let ended = false
  const parts = streamed(begun, pages, () => {
    ended = true
  })
  return { status: 200, body: { parts, at, ended: () => ended } }
}

export const answerGet = (searcher: Searcher, index: string, kind: Kind, id: string): Reply => {
  out.clear()
  if (searcher.writeDocument(kind, id, { index, out })) return { status: 200, body: out.take() }
  return json(404, { _index: `${index}-${kind}`, _type: kind, _id: id, found: false })
}

/** The likeness stands in place of the score. */
export const answerSimilar = (searcher: Searcher, index: string, request: SimilarRequest): Reply => {
  const started = performance.now()
  const envelope = { _index: `${index}-contract`, _type: 'contract' }
  const found = searcher.similar(request)
  if (!found) return json(404, { ...envelope, _id: request.address, found: false })
  const hits = found.map(({ document: { _id, _source }, similarity }) => ({
    ...envelope,
    _id,
    _score: Math.round(similarity * 10_000) / 10_000,
    _source,
  }))
  const took = Math.round(performance.now() - started)
  const shards = { total: 1, successful: 1, skipped: 0, failed: 0 }
  return json(200, {
    ...{ took, timed_out: false, _shards: shards },
    hits: { total: hits.length, max_score: hits[0]?._score ?? null, hits },
  })
}

export const answerSuggest = (reader: Reader, suggester: Suggester, request: SuggestRequest): Reply => {
  const started = performance.now()
  reader.begin()
  try {
    const suggestions = suggester(request)
    return json(200, { took: Math.round(performance.now() - started), suggestions })
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
  pages: WrittenPages['pages'],
  onEnd: () => void,
): Generator<Uint8Array<ArrayBuffer>> {
  // What goes on with an answer comes behind a hit.
  let before = head ?? ','
  const rest = pages[Symbol.iterator]()
  for (;;) {
    out.clear()
    out.text(before)
    if (rest.next().done) break
    before = ','
    yield out.take()
  }
  out.truncate(before === ',' ? 0 : out.length)
  out.bytes(TAIL)
  onEnd()
  yield out.take()
}

/** Answers are written here one after another: each, or each part of it, is taken before the next is begun. */
const out = createByteWriter(1 << 16)

const joined = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Text as bytes that own their memory, so that they can be handed to another thread. */
const encode = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)
const encoder = new TextEncoder()

const json = (status: number, body: unknown): Reply => ({ status, body: encode(JSON.stringify(body)) })

const TAIL = encode(']}}')

const head = (started: number, total: number, request: SearchRequest, any: boolean, lead = ''): string => {
  const score = any && !hidesScores(request) ? 1 : null
  const took = Math.round(performance.now() - started)
  return `{${lead}"took":${took},"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":${total},"max_score":${score},"hits":[`
}
