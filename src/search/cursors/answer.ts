import { refuse } from '../../lib/errors.ts'
import { type Eventually, whenThere } from '../../lib/scheduling/event-loop.ts'
import type { Limits } from '../../limits/index.ts'
import { pitOf } from '../../query/dates/time-value.ts'
import type { After, SearchRequest } from '../../query/request.ts'
import type { Lead, Reply } from '../answer.ts'
import { type CursorHead, decodePit, encodeState, type PitState, type ScrollState } from './state.ts'

/** What the main thread is to take note of. */
export interface UsedCursor extends CursorHead {
  /** Until when it was open as its id says; `until` is from now on. */
  was: number
  id: string
  /** Of a scroll: pages that were given, and where the last one ended. */
  page: number
  after: After | undefined
}

type Answer = (request: SearchRequest, lead: Lead) => Eventually<Reply>

/** A page of a scroll, with the id that the next one is asked for by. */
export const answerScroll = (
  state: ScrollState,
  request: SearchRequest,
  { now, key: signing, answer }: { now: number; key: Buffer; answer: Answer },
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

interface Opening {
  limits: Limits
  /** What ids are signed by. */
  key(): Buffer
  now: number
  isNamed: boolean | undefined
  inScroll: boolean
}

/** Undefined where the body names none. */
export const openedPit = (
  body: string | undefined,
  index: string,
  { limits, key, now, isNamed = true, inScroll }: Opening,
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
export const answerPit = ({ state, id, was }: UsedPit, request: SearchRequest, answer: Answer): Eventually<Reply> => {
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
