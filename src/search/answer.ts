import type { HitCursor } from '../engine/query/pages.ts'
import { checkDeadline, type SearchControl } from '../engine/query/search.ts'
import type { Searcher, StoreSearcher, Written } from '../engine/query/searcher.ts'
import type { SimilarRequest } from '../engine/query/similar-contracts.ts'
import type { Suggester, SuggestRequest } from '../engine/query/suggest.ts'
import type { StoreReader } from '../engine/reader.ts'
import { hidesScores } from '../engine/show/basic-hit.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { refuse } from '../lib/errors.ts'
import { filterJson } from '../lib/filter-json.ts'
import { type Eventually, whenThere } from '../lib/scheduling/event-loop.ts'
import { DEFAULT_LIMITS, type Limits, overLimit, overNow } from '../limits/index.ts'
import { KINDS, type Kind } from '../mapping/index.ts'
import { bracketName } from '../query/json-node.ts'
import type { Parameters } from '../query/parameters.ts'
import { type ParseOptions, parseSearch } from '../query/parse.ts'
import type { SearchRequest } from '../query/request.ts'
import { asFloat } from '../query/statistics.ts'
import { answerColumns } from './columns/answer.ts'
import {
  answerPit,
  answerScroll,
  openedPit,
  resumeMember,
  resuming,
  scrollRequest,
  type UsedCursor,
} from './cursors/scroll-and-pit.ts'
import type { ScrollState } from './cursors/state.ts'
import { type AnswerParts, answerLines, answerParts } from './lines.ts'
import { readForEach } from './multi-network.ts'
import {
  type AnswerFormat,
  argumentColumnsOf,
  type Dialect,
  type DocumentOptions,
  type DocumentRef,
  NATIVE_DIALECT,
  withStatus,
  wrapResponse,
} from './service.ts'

/** Elasticsearch's envelope around what a search finds. */

export interface Reply {
  status: number
  /** Absent for JSON. */
  format?: AnswerFormat | undefined
  /** The cursor that this is a page of. */
  cursor?: UsedCursor | undefined
  /** The answer depends on the moment. */
  readsNow?: true
  /** JSON text, whole, as bytes that own their memory, or in parts. */
  body: Uint8Array<ArrayBuffer> | AnswerParts
}

export interface AnswerOptions extends SearchControl {
  limits?: Limits
  /** The moment that date math counts from. */
  now?: number
  /** Whether the account may have one more long answer. */
  mayStream?: boolean
  /** Parameters of the URL, which win over the body. */
  parameters?: Parameters | undefined
  dialect?: Dialect | undefined
  isNamed?: boolean | undefined
  format?: AnswerFormat | undefined
  /** The scroll that this is to be the next page of. */
  scroll?: ScrollState | undefined
  /** Resumes another thread's answer after this hit. */
  after?: HitCursor | undefined
  /** Time of the request, by `performance.now`; now by default. */
  started?: number
  /** Takes the request of the body. */
  read?: { request?: SearchRequest }
}

/** Answers at once from a store that does. */
export interface Answering<A extends unknown[]> {
  (searcher: Searcher, ...args: A): Reply
  (searcher: StoreSearcher, ...args: A): Eventually<Reply>
}

export const answering = <A extends unknown[]>(
  answer: (searcher: StoreSearcher, ...args: A) => Eventually<Reply>,
): Answering<A> => answer as Answering<A>

/** `index` is the network's name with dashes: `ethereum-ethereum-mainnet`. */
export const answerSearch = answering(
  (searcher, index: string, entities: string, body: string | undefined, options: AnswerOptions) => {
    const { limits = DEFAULT_LIMITS, now = Date.now(), started = performance.now(), scroll, isNamed } = options
    const key = () => searcher.cursorKey()
    const pit = openedPit(body, index, { limits, key, now, isNamed, inScroll: scroll !== undefined })
    const cursor = scroll ? 'hidden' : pit?.tiebreak
    const request = readSearch(body, { index, entities: pit?.state.entities ?? entities }, options, cursor)
    const answer = (page: SearchRequest, lead?: HeadWriter) =>
      answerRequest(searcher, index, page, options, started, lead)
    const reply = pit
      ? answerPit(pit, { ...request, seen: pit.state.seen }, answer)
      : scroll
        ? answerScroll(scroll, scrollRequest(request, scroll, limits), { now, key: key(), answer })
        : answer(request)
    return whenThere(reply, reply => filterReply(reply, options.dialect ?? NATIVE_DIALECT, options))
  },
)

/** Parses a body for the kinds; without kinds, for all, to refuse faults, but finds nothing. */
export const readSearch = (
  body: string | undefined,
  { index, entities }: { index: string; entities: string },
  options: AnswerOptions,
  cursor?: ParseOptions['cursor'],
): SearchRequest => {
  const { limits, parameters, now = Date.now(), read: parsed = {} } = options
  const names = entities.split(',')
  const kinds = KINDS.filter(kind => names.includes(kind))
  const read = (index: string) =>
    parseSearch(body, kinds.length > 0 ? kinds : KINDS, now, {
      ...{ limits, parameters, index, cursor },
      check: () => checkDeadline(options),
    })
  const whole = readForEach(index, read, options)
  const request = kinds.length > 0 ? whole : nothingOf(whole)
  parsed.request = request
  return request
}

const nothingOf = (request: SearchRequest): SearchRequest => ({
  ...{ ...request, parts: [], after: undefined },
  ...(request.each && { each: request.each.map(nothingOf) }),
})

/** Values in the head of an answer. */
interface HeadValues {
  /** Members before all others. */
  text: string
  total: number
  /** Whether there are hits. */
  any: boolean
  maxScore?: number | undefined
}

/** Gives the values in the head of an answer, such as its total. */
export type HeadWriter = (found: Written) => HeadValues

const plainHead: HeadWriter = ({ total, hits, maxScore }) => ({ ...{ text: '', total, maxScore }, any: hits > 0 })

export const answerRequest = answering(
  (
    searcher,
    index: string,
    asked: SearchRequest,
    options: AnswerOptions,
    started: number = options.started ?? performance.now(),
    lead: HeadWriter = plainHead,
  ) => {
    const { dialect = NATIVE_DIALECT } = options
    const out = searcher.out ?? sharedWriter
    const request = resuming(countedFor(asked, dialect), index)
    const { format } = options
    if (format) {
      const ending = { ...endingBy(options, started, request), format }
      return (argumentColumnsOf(format) ? answerColumns : answerLines)(searcher, index, request, ending, out)
    }
    /** 1 if no greatest score is known; null without hits. */
    const head = ({ text, total, any, maxScore = 1 }: HeadValues, isEarly?: boolean) =>
      headText({
        isEarly,
        ...{ started, lead: text, total: totalMember(total, asked, dialect) },
        score: any && !asked.collapse && !hidesScores(request) ? asFloat(maxScore) : null,
      })
    const writing = { index, out, ...dialect }
    const { limits = DEFAULT_LIMITS, mayStream = true, after } = options
    const fail = () => overLimit('answer', limits, repeatedTexts(request))
    out.clear({ most: limits.answer, fail })
    if (request.size >= 0) {
      return whenThere(searcher.write(request, endingBy(options, started, request), writing), (written): Reply => {
        if (out.length + (written.aggregations?.length ?? 0) > limits.answer) throw fail()
        // The head contains the total time, which is known last.
        return {
          status: 200,
          body: joinedBytes(head(lead(written), written.isEarly), out.view(), tailOf(written, index)),
        }
      })
    }
    if (!mayStream) throw overNow('streams', limits)
    return whenThere(searcher.writePages(request, options, writing, after), (found): Reply => {
      const { total, maxScore } = found
      const begun = after
        ? undefined
        : head(lead({ ...{ total, hits: total === 0 ? 0 : 1 }, ...(maxScore !== undefined && { maxScore }) }))
      const body = answerParts(found, out, {
        // The continuation of an answer comes after a hit.
        begin: isFirst => out.text((isFirst && begun) || ','),
        end(isFirst) {
          out.truncate(isFirst && begun ? out.length : 0)
          out.bytes(HITS_END)
        },
      })
      return { status: 200, body }
    })
  },
)

/** Names long texts that each hit repeats, for the error of a too long answer. */
const repeatedTexts = ({ parts, names = [], shown, size }: SearchRequest): string => {
  const texts = [
    ...names.map(({ name }) => ['the _name', name] as const),
    ...parts.flatMap(({ innerHits = [] }) => innerHits.map(({ name }) => ['the name of inner_hits', name] as const)),
    ...(shown?.highlight ?? []).map(({ before, after }) => ['the tags of highlight', before + after] as const),
    ...[...(shown?.fields ?? []), ...(shown?.docvalueFields ?? [])].map(
      ({ format = '' }) => ['the format', format] as const,
    ),
  ]
  const length = texts.reduce((sum, [, text]) => sum + text.length, 0)
  const [what, text] = texts.toSorted((a, b) => b[1].length - a[1].length)[0] ?? []
  return length < MUCH || text === undefined
    ? 'The answer'
    : `The answer, in which each of up to ${size} hits may repeat ${length} characters of the request, such as ${what} ${bracketName(text)},`
}

/** Characters that a hit may repeat before an error names them. */
const MUCH = 1_000

/** Applies the request's own timeout; a long answer only has deadlines per part. */
const endingBy = (options: AnswerOptions, started: number, { timeout, size }: SearchRequest): AnswerOptions =>
  size < 0 || timeout === undefined || started + timeout >= options.deadline
    ? options
    : { ...options, deadline: started + timeout }

export const answerGet = (
  searcher: Pick<Searcher, 'writeDocument'>,
  index: string,
  kind: Kind,
  id: string,
  { source, bare = false }: DocumentOptions = {},
): Reply => {
  const out = sharedWriter
  out.clear()
  if (searcher.writeDocument(kind, id, { index, out }, { source, bare })) return { status: 200, body: out.take() }
  if (bare) throw refuse('resource_not_found_exception', `Document not found [${index}-${kind}]/[${kind}]/[${id}]`)
  return jsonReply(404, { _index: `${index}-${kind}`, _type: kind, _id: id, found: false })
}

/** Writes documents one after another; a deadline may stop it between two of them. */
export const answerDocuments = (
  searcher: Pick<Searcher, 'writeDocument'>,
  index: string,
  wanted: readonly DocumentRef[],
  options: AnswerOptions,
): Reply => {
  const { limits = DEFAULT_LIMITS, dialect = NATIVE_DIALECT } = options
  const out = sharedWriter
  out.clear()
  out.ascii('{"docs":[')
  for (const [i, one] of wanted.entries()) {
    checkDeadline(options)
    if (out.length > limits.documents) throw overLimit('documents', limits)
    if (i > 0) out.ascii(',')
    if ('instead' in one) out.text(one.instead)
    else if (!searcher.writeDocument(one.kind, one.id, { index, out }, { source: one.source }))
      out.text(JSON.stringify({ _index: `${index}-${one.kind}`, _type: one.kind, _id: one.id, found: false }))
  }
  out.ascii(']}')
  return filterReply({ status: 200, body: out.take() }, dialect, options)
}

/** The parts of an answer that the dialect keeps. */
export const filterReply = (reply: Reply, { filterPath, isItem = false }: Dialect, options: AnswerOptions): Reply => {
  if (!filterPath || filterPath.length === 0) return reply
  const { body, status } = reply
  if (body instanceof Uint8Array) {
    const json = isItem ? wrapResponse(withStatus(body, status)) : body
    return { ...reply, body: filterJson(json, filterPath, () => checkDeadline(options)) }
  }
  throw refuse(
    'illegal_argument_exception',
    'The URL parameter [filter_path] does not work with "size": -1: select fields by [_source].',
  )
}

/** The likeness stands in place of the score. */
export const answerSimilar = answering(
  (searcher, index: string, request: SimilarRequest, options: SearchControl & Pick<AnswerOptions, 'started'>) => {
    const { started = performance.now() } = options
    const { kind, id } = request
    const envelope = { _index: `${index}-${kind}`, _type: kind }
    return whenThere(searcher.similar(request, options), found => {
      if (!found) return jsonReply(404, { ...envelope, _id: id, found: false })
      const hits = found.map(({ document: { _id, _source }, similarity }) => ({
        ...envelope,
        _id,
        _score: Math.round(similarity * 10_000) / 10_000,
        _source,
      }))
      const took = Math.round(performance.now() - started)
      const shards = { total: 1, successful: 1, skipped: 0, failed: 0 }
      return jsonReply(200, {
        ...{ took, timed_out: false, _shards: shards },
        hits: { total: hits.length, max_score: hits[0]?._score ?? null, hits },
      })
    })
  },
)

export const answerSuggest = (reader: StoreReader, suggester: Suggester, request: SuggestRequest): Reply => {
  const started = performance.now()
  reader.begin()
  try {
    const suggestions = suggester(request)
    return jsonReply(200, { took: Math.round(performance.now() - started), suggestions })
  } finally {
    reader.end()
  }
}

/** Shared by all answers: each answer or part is consumed before the next one starts. */
const sharedWriter = createByteWriter(1 << 16)

const joinedBytes = (head: string, hits: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> => {
  const length = Buffer.byteLength(head)
  const whole = Buffer.allocUnsafeSlow(length + hits.length + tail.length)
  whole.write(head)
  whole.set(hits, length)
  whole.set(tail, length + hits.length)
  return new Uint8Array(whole.buffer as ArrayBuffer)
}

/** Text as bytes with memory of their own, which can be transferred to another thread. */
const encodeText = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)
const encoder = new TextEncoder()

export const jsonReply = (status: number, body: unknown): Reply => ({ status, body: encodeText(JSON.stringify(body)) })

const HITS_END = encodeText(']}}')

/** Counts one hit more than requested if the answer shows whether there are more. */
const countedFor = (request: SearchRequest, { totals }: Dialect): SearchRequest =>
  totals === 'object' && typeof request.trackTotal === 'number'
    ? { ...request, trackTotal: request.trackTotal + 1 }
    : request

/** The member `total`, with its comma. */
const totalMember = (counted: number, { trackTotal }: SearchRequest, { totals }: Dialect): string => {
  if (totals === 'integer') return `"total":${counted},`
  // The total of a scroll is that of its first page.
  if (trackTotal === false && counted < 0) return ''
  const more = typeof trackTotal === 'number' && counted > trackTotal
  return `"total":{"value":${more ? trackTotal : counted},"relation":"${more ? 'gte' : 'eq'}"},`
}

interface AnswerHead {
  started: number
  lead: string
  total: string
  score: number | null
  isEarly?: boolean | undefined
}

const headText = ({ started, lead, total, score, isEarly }: AnswerHead): string => {
  const took = Math.round(performance.now() - started)
  const early = isEarly === undefined ? '' : `"terminated_early":${isEarly},`
  return `{${lead}"took":${took},"timed_out":false,${early}"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{${total}"max_score":${score},"hits":[`
}

const tailOf = ({ aggregations, resumed }: Written, index: string): Uint8Array => {
  if (aggregations === undefined && !resumed) return HITS_END
  const more = aggregations === undefined ? '' : `,"aggregations":${aggregations}`
  return encodeText(`]}${more}${resumed ? resumeMember(resumed, index) : ''}}`)
}
