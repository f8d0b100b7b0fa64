import { refuse } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { ScrollState } from './state.ts'

/** What a page of a scroll adds, the first one where none was given yet, to the request that its body makes. */
export const scrollRequest = (request: SearchRequest, state: ScrollState, limits: Limits): SearchRequest => {
  checkScroll(request)
  if (state.body !== undefined && state.body.length > limits.cursorQuery) throw overLimit('cursorQuery', limits)
  if (state.page === 0) return { ...request, seen: 'now' }
  const page = { after: state.after, trackTotal: false, aggregations: undefined }
  return { ...request, ...page, seen: state.seen }
}

const invalid = (why: string) => refuse('action_request_validation_exception', `Validation Failed: 1: ${why};`)

const checkScroll = ({ size, from, after, collapse, trackTotal }: SearchRequest): void => {
  if (size === 0) throw invalid('[size] cannot be [0] in a scroll context')
  if (size < 0) throw invalid('[size] cannot be negative in a scroll context: it is the number of hits of a page')
  if (from > 0) throw invalid('using [from] is not allowed in a scroll context')
  if (collapse) throw refuse('search_exception', 'cannot use `collapse` in a scroll context.')
  if (after) throw refuse('search_exception', '`search_after` cannot be used in a scroll context.')
  if (trackTotal !== true) throw invalid('disabling [track_total_hits] is not allowed in a scroll context')
}
