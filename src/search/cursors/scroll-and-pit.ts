import { refuse } from '../../lib/errors.ts'
import { type Eventually, whenThere } from '../../lib/scheduling/event-loop.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { pitOf } from '../../query/dates/time-value.ts'
import type { After, ResumePoint, SearchRequest, SortSpec } from '../../query/request.ts'
import type { HeadWriter, Reply } from '../answer.ts'
import {
  type CursorHead,
  decodePit,
  decodeResume,
  encodeResume,
  encodeState,
  type PitState,
  type ScrollState,
} from './state.ts'

/** A cursor's use, for the table in the main thread. */
export interface UsedCursor extends CursorHead {
  /** Until when it was open as its id says; `until` is from now on. */
  was: number
  id: string
  /** A scroll's pages so far, and where the last one ended. */
  page: number
  after: After | undefined
}

type PageAnswerer = (request: SearchRequest, lead: HeadWriter) => Eventually<Reply>

/** A page of a scroll, with the id for the next page. */
export const answerScroll = (
  state: ScrollState,
  request: SearchRequest,
  { now, key: signing, answer }: { now: number; key: Buffer; answer: PageAnswerer },
): Eventually<Reply> => {
  let next = state
  const reply = answer(request, ({ total, maxScore, seen = state.seen, end = state.after }) => {
    const first = state.page === 0 ? { total, maxScore } : {}
    next = { ...state, ...first, page: state.page + 1, seen, after: end }
    const text = `"_scroll_id":"${encodeState(next, signing)}",`
    return { text, total: next.total, any: next.total > 0, maxScore: next.maxScore }
  })
  return whenThere(reply, reply => {
    const { kind, key, network, until, page, after } = next
    return { ...reply, cursor: { kind, key, network, was: now, until, id: '', page, after } }
  })
}

/** The point in time of a search, its keep-alive renewed. */
export interface UsedPit {
  state: PitState
  id: string
  was: number
  tiebreak: 'shown' | 'hidden'
}

interface PitOptions {
  limits: Limits
  /** The key that signs ids. */
  key(): Buffer
  now: number
  isNamed: boolean | undefined
  inScroll: boolean
}

/** Undefined where the body names none. */
export const openedPit = (
  body: string | undefined,
  index: string,
  { limits, key, now, isNamed = true, inScroll }: PitOptions,
): UsedPit | undefined => {
  const asked = pitOf(body, limits)
  if (!asked) return undefined
  if (inScroll)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: using [point in time] is not allowed in a scroll context;',
    )
  if (isNamed)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: [indices] cannot be used with point in time. Do not specify any index with point in time.;',
    )
  const signing = { key: key(), limits }
  const opened = decodePit(asked.id, signing)
  const { keepAliveMs = opened.keepAliveMs } = asked
  const state = { ...opened, keepAliveMs, until: now + keepAliveMs }
  if (state.network.replaceAll('/', '-') !== index) throw elsewhere(state)
  return {
    ...{ state, id: encodeState(state, signing.key), was: opened.until },
    tiebreak: opened.dialect === 'elasticsearch' ? 'shown' : 'hidden',
  }
}

/** A cursor is used where it was opened. */
export const elsewhere = ({ kind, key, network }: CursorHead) =>
  refuse(
    'search_context_missing_exception',
    `No search context found for id [${key}]: this ${kind === 'pit' ? 'point in time' : 'scroll'} was opened on ${network}.`,
  )

/** A search within a point in time, with its id. */
export const answerPit = (
  { state, id, was }: UsedPit,
  request: SearchRequest,
  answer: PageAnswerer,
): Eventually<Reply> => {
  const reply = answer(request, ({ total, hits, maxScore }) => ({
    ...{ text: `"pit_id":"${id}",`, total, maxScore },
    any: hits > 0,
  }))
  const { kind, key, network, until } = state
  return whenThere(reply, reply => ({
    ...reply,
    cursor: { kind, key, network, was, until, id, page: 0, after: undefined },
  }))
}

/** The request of a scroll's body for its next page. */
export const scrollRequest = (request: SearchRequest, state: ScrollState, limits: Limits): SearchRequest => {
  checkScroll(request)
  if (state.body !== undefined && state.body.length > limits.cursorQuery) throw overLimit('cursorQuery', limits)
  if (state.page === 0) return { ...request, seen: 'now' }
  const page = { after: state.after, trackTotal: false, aggregations: undefined }
  return { ...request, ...page, seen: state.seen }
}
const invalidScroll = (why: string) => refuse('action_request_validation_exception', `Validation Failed: 1: ${why};`)
const checkScroll = ({ size, from, after, collapse, trackTotal }: SearchRequest): void => {
  if (size === 0) throw invalidScroll('[size] cannot be [0] in a scroll context')
  if (size < 0) throw invalidScroll('[size] cannot be negative in a scroll context: it is the number of hits of a page')
  if (from > 0) throw invalidScroll('using [from] is not allowed in a scroll context')
  if (collapse) throw refuse('search_exception', 'cannot use `collapse` in a scroll context.')
  if (after) throw refuse('search_exception', '`search_after` cannot be used in a scroll context.')
  if (trackTotal !== true) throw invalidScroll('disabling [track_total_hits] is not allowed in a scroll context')
}

/** The point of a reader without a token: `start` is the first stored block, `now` the next one. */
const START_POINT: ResumePoint = { place: { kind: 'block', position: -1 }, marks: [] }
export const resumePoint = (token: string, index: string): ResumePoint | 'now' => {
  if (token === 'start') return START_POINT
  if (token === 'now') return 'now'
  const state = decodeResume(token)
  if (state && state.index === index) return state
  throw refuse(
    'illegal_argument_exception',
    state
      ? `resume: this token belongs to ${state.index}, not to ${index}.`
      : 'resume: this is not a token: write "start", "now", or the [resume.token] of the last answer.',
  )
}
/** The order of the chain. */
const CHAIN: SortSpec = { by: '_doc', fields: {}, order: 'asc', missing: '_last' }
/** The request with the point that its token stands for. */
export const resuming = (request: SearchRequest, index: string): SearchRequest => {
  const { resume, parts } = request
  if (typeof resume !== 'string') return request
  if (parts.length === 0)
    throw refuse('illegal_argument_exception', 'resume: there is no entity to follow: name one in the path.')
  return { ...request, sort: [CHAIN], resume: { point: resumePoint(resume, index) } }
}
/** The member beside the hits. */
export const resumeMember = (
  { point, reorganisedFrom }: { point: ResumePoint; reorganisedFrom: number | undefined },
  index: string,
): string => {
  const token = encodeResume({ kind: 'resume', index, ...point })
  const from = reorganisedFrom === undefined ? '' : `,"reorganised_from":${reorganisedFrom}`
  return `,"resume":{"token":"${token}"${from}}`
}
