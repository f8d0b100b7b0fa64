import { refuse } from '../lib/errors.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { ALL, type Node } from './ast.ts'
import { type Budget, type BudgetOptions, createBudget } from './budget.ts'
import { lowerClause } from './dsl/index.ts'
import { parseJson } from './json.ts'
import {
  bodyNode,
  boolean,
  elements,
  integer,
  isObject,
  type JsonNode,
  known,
  string,
  unexpected,
  where,
} from './json-node.ts'
import { PAGING_KEYS, parsePaging } from './paging.ts'
import type { SearchRequest, SourceFilter } from './request.ts'
import type { Scope } from './scope.ts'
import { parseSort } from './sort.ts'

/**
 * Reads the body of a search over these kinds. `now` is the moment that date math counts from, in milliseconds since 1970.
 * Whatever is no search of these kinds is refused by the name of its place, with Elasticsearch's type of error as the code.
 */
export const parseSearch = (
  body: string | undefined,
  kinds: readonly Kind[],
  now: number,
  options: ParseOptions = {},
): SearchRequest => {
  const budget = createBudget(options)
  const { limits } = budget
  const root = bodyNode(body === undefined || body.trim() === '' ? new Map() : parseJson(body, limits))
  const keys = known(root, 'an object such as {"query": {"match_all": {}}}', KEYS, IGNORED_KEYS)
  const size = keys.size ? parseSize(keys.size) : DEFAULT_SIZE
  const from = keys.from ? parseFrom(keys.from) : 0
  if (keys.pit !== undefined && options.cursor === undefined)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: [indices] cannot be used with point in time. Do not specify any index with point in time.;',
    )
  if (size >= 0 && from + size > MAX_WINDOW) {
    throw refuse(
      'illegal_argument_exception',
      `Result window is too large, from + size must be less than or equal to: [${MAX_WINDOW}] but was [${from + size}]. For all hits of a query ask for "size": -1, or narrow the query.`,
    )
  }
  const scope = { kinds, now, budget }
  const sort = parseSort(keys.sort, scope)
  return {
    // Each kind reads the same clauses, which count once.
    parts: kinds.map(kind => ({ kind, query: parseQuery(keys.query, { kind, kinds, now }, createBudget(options)) })),
    sort,
    from,
    size,
    source: keys._source ? parseSource(keys._source, limits) : true,
    trackTotal: keys.track_total_hits ? parseTrackTotal(keys.track_total_hits) : true,
    ...parsePaging(keys, { ...scope, sort, from, size, cursor: options.cursor }),
  }
}

export interface ParseOptions extends BudgetOptions {
  /** Of a search within a scroll or a point in time: see `SearchRequest.tiebreak`. */
  cursor?: SearchRequest['tiebreak']
}

const KEYS = ['query', 'sort', 'size', 'from', '_source', 'track_total_hits', 'pit', ...PAGING_KEYS] as const

/**
 * Keys that clients send along and that neither choose nor order the hits. They are accepted and have no effect; `explain`,
 * `highlight` and the further ones that would add something to a hit add nothing.
 */
export const IGNORED_KEYS = [
  'docvalue_fields',
  'explain',
  'fields',
  'highlight',
  'profile',
  'script_fields',
  'seq_no_primary_term',
  'stats',
  'stored_fields',
  'version',
] as const

const DEFAULT_SIZE = 10
const MAX_WINDOW = 10_000

const parseQuery = (
  place: JsonNode | undefined,
  scope: Pick<Scope, 'kind' | 'kinds' | 'now'>,
  budget: Budget,
): Node => {
  if (place === undefined || (isObject(place.value) && place.value.size === 0)) return ALL
  return lowerClause(place, { ...scope, nested: undefined, budget })
}

const parseSize = (place: JsonNode): number => {
  const size = integer(place, 'an integer: the number of hits, or -1 for all')
  if (size >= -1) return size
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: [size] parameter cannot be negative but was [${size}]. Only -1 has a meaning: all hits.`,
  )
}

const parseFrom = (place: JsonNode): number => {
  const from = integer(place, 'an integer: the number of hits to skip')
  if (from >= 0) return from
  throw refuse('illegal_argument_exception', `${where(place)}: [from] parameter cannot be negative but was [${from}].`)
}

const parseTrackTotal = (place: JsonNode): boolean | number => {
  if (typeof place.value !== 'number') return boolean(place)
  if (place.value < 0) throw unexpected(place, 'true, false or a number from 0 on')
  return place.value
}

/** `true`, `"pattern"`, `["pattern"]` or `{"includes": …, "excludes": …}`. */
const parseSource = (place: JsonNode, limits: Limits): SourceFilter => {
  const { value } = place
  if (typeof value === 'boolean') return value
  if (!isObject(value)) return checkedPatterns({ includes: elements(place), excludes: [] }, limits)
  const { includes, include, excludes, exclude } = known(
    place,
    'an object such as {"includes": ["event", "args"]}',
    ['includes', 'excludes', 'include', 'exclude'],
    [],
  )
  const all = (...places: (JsonNode | undefined)[]) => places.flatMap(at => (at === undefined ? [] : elements(at)))
  return checkedPatterns({ includes: all(includes, include), excludes: all(excludes, exclude) }, limits)
}

const checkedPatterns = (
  { includes, excludes }: { includes: JsonNode[]; excludes: JsonNode[] },
  limits: Limits,
): SourceFilter => {
  if (includes.length + excludes.length > limits.sourcePatterns) throw overLimit('sourcePatterns', limits)
  const read = (at: JsonNode) => {
    const pattern = string(at, 'the name of a field, or a list of names')
    if (pattern.length > limits.text) throw overLimit('text', limits, where(at))
    return pattern
  }
  return { includes: includes.map(read), excludes: excludes.map(read) }
}
