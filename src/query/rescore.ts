import { refuse } from '../lib/errors.ts'
import type { Kind } from '../mapping/index.ts'
import { elements, type JsonNode, known, scalar, string, unexpected, where } from './json-node.ts'
import { readDouble } from './numbers.ts'
import type { Rescore, RescoreMode, Sort } from './request.ts'
import type { Scored } from './score.ts'

/** What does not go with hits that are scored once more. */
export interface RescoreScope {
  kinds: readonly Kind[]
  sort: readonly Sort[]
  size: number
  cursor: unknown
  given: Partial<Record<'collapse' | 'explain' | 'search_after' | 'slice' | 'resume', JsonNode>>
  lower(place: JsonNode, kind: Kind): Scored
}

/** `{"window_size": 50, "query": {"rescore_query": {…}}}`, or a list of such, which follow one another. */
export const parseRescores = (place: JsonNode, scope: RescoreScope): Rescore[] => {
  if (place.value === null) throw unexpected(place, EXPECTED)
  const rescores = elements(place).map(at => one(at, scope))
  if (rescores.length > 0) checkBeside(place, scope)
  return rescores
}

const EXPECTED = 'an object such as {"window_size": 50, "query": {"rescore_query": {…}}}'
/** As in Elasticsearch (index.max_rescore_window). */
const MOST = 10_000
const MODES: readonly string[] = ['total', 'multiply', 'avg', 'max', 'min'] satisfies RescoreMode[]

const one = (place: JsonNode, { kinds, lower }: RescoreScope): Rescore => {
  const { window_size, query } = known(place, EXPECTED, ['window_size', 'query'], [])
  if (query === undefined) throw refuse('parsing_exception', `${where(place)}: missing rescore type: write [query].`)
  const keys = known(query, 'an object with [rescore_query]', KEYS, [])
  const { rescore_query } = keys
  if (rescore_query === undefined)
    throw refuse('illegal_argument_exception', `${where(query)}: rescore_query cannot be null.`)
  const weight = (at: JsonNode | undefined) => (at ? Math.fround(readDouble(at)) : 1)
  return {
    window: window_size ? windowOf(window_size) : 10,
    query: Object.fromEntries(kinds.map(kind => [kind, lower(rescore_query, kind)])),
    weights: [weight(keys.query_weight), weight(keys.rescore_query_weight)],
    mode: keys.score_mode ? modeOf(keys.score_mode) : 'total',
  }
}

const KEYS = ['rescore_query', 'query_weight', 'rescore_query_weight', 'score_mode'] as const

const windowOf = (place: JsonNode): number => {
  const size = Math.trunc(readDouble(place))
  if (size < 0) throw refuse('illegal_argument_exception', `${where(place)}: a window has a size from 0 on.`)
  if (size <= MOST) return size
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: Rescore window [${scalar(place, 'a size')}] is too large. It must be ${MOST} at most.`,
  )
}

const modeOf = (place: JsonNode): RescoreMode => {
  const mode = string(place, `one of ${MODES.join(', ')}`).toLowerCase()
  if (!MODES.includes(mode)) throw unexpected(place, `one of ${MODES.join(', ')}`)
  return mode as RescoreMode
}

const checkBeside = (place: JsonNode, { kinds, sort, size, cursor, given }: RescoreScope): void => {
  const bad = (why: string) => refuse('illegal_argument_exception', `${where(place)}: ${why}`)
  const [first, ...others] = sort
  const isByScore = first === undefined || (first.by === '_score' && first.order === 'desc' && others.length === 0)
  if (!isByScore) throw bad('Cannot use [sort] option in conjunction with [rescore].')
  if (given.collapse) throw bad('cannot use `collapse` in conjunction with `rescore`.')
  if (cursor !== undefined) throw bad('using [rescore] is not allowed with a scroll or a point in time.')
  if (kinds.length > 1) throw bad('[rescore] is supported for one entity at a time.')
  const beside = [
    ...(size < 0 ? ['"size": -1'] : []),
    ...(['explain', 'search_after', 'slice', 'resume'] as const).filter(
      name => given[name] && given[name].value !== false,
    ),
  ]
  if (beside.length > 0) throw bad(`[rescore] is not supported beside ${beside.join(', ')}: leave one of the two out.`)
}
