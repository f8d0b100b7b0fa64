import { refuse } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import type { Value } from '../../query/ast.ts'
import type { After, SearchRequest, Sort } from '../../query/request.ts'
import type { ScrollState } from './state.ts'

/** What a page of a scroll adds, the first one where none was given yet, to the request that its body makes. */
export const scrollRequest = (request: SearchRequest, state: ScrollState, limits: Limits): SearchRequest => {
  checkScroll(request)
  if (state.body !== undefined && state.body.length > limits.cursorQuery) throw overLimit('cursorQuery', limits)
  if (state.page === 0) return { ...request, seen: 'now' }
  const page = { after: state.after && fitting(state.after, request), trackTotal: false, aggregations: undefined }
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

/** Values of a forged id may have other types than the sort keys of hits. */
const fitting = (after: After, { sort, parts }: SearchRequest): After => {
  // Where nobody has ordered them, hits may have come by their scores.
  const isByScore = sort.length === 0 && after.values.length === 1 && typeof after.values[0] === 'number'
  const isFitting =
    (isByScore || after.values.length === sort.length) &&
    parts.some(({ kind }) => kind === after.place?.kind) &&
    sort.every((one, i) => after.values[i] === null || fits(one, after.values[i]!))
  if (isFitting) return after
  throw refuse('illegal_argument_exception', 'Cannot parse scroll id: it is not one of this query.')
}

const fits = ({ by, fields, as }: Sort, value: Value): boolean => {
  if (typeof value === 'bigint') return true
  const [field] = Object.values(fields)
  if (by === '_id') return typeof value === 'string'
  if (by !== 'field' || as) return typeof value === 'number'
  switch (field?.compare) {
    case 'long':
      return Number.isSafeInteger(value)
    case 'integer':
      return false
    case 'instant':
    case 'double':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    default:
      return typeof value === 'string' && (field?.encoding !== 'padded' || /^0x[0-9a-f]{64}$/.test(value))
  }
}
