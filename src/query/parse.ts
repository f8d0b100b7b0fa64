import { refuse } from '../lib/errors.ts'
import type { Kind } from '../mapping/index.ts'
import { aggregationCacheKeys, aggregationsIn, parseAggregations } from './aggs/parse.ts'
import type { Node } from './ast.ts'
import { BODY_KEYS, checkRefused, IGNORED_KEYS } from './body-keys.ts'
import { createMoment } from './dates/reader.ts'
import { lowerClause, lowerScored } from './dsl/index.ts'
import { parseCollapse } from './hits/collapse.ts'
import { type HitScope, parseHitOptions } from './hits/hit-options.ts'
import { parsePaging, parseTerminateAfter } from './hits/paging.ts'
import { parseSort, type SortScope } from './hits/sort.ts'
import { parseExactJson } from './json.ts'
import { bodyNode, isJsonMap, type JsonNode, memberNode, unexpected } from './json-node.ts'
import { readBodyKeys } from './keys.ts'
import { type Parameters, sourceShape, withParameters } from './parameters.ts'
import { REFUSED_KEYS } from './refused.ts'
import type { InnerHits, SearchRequest } from './request.ts'
import {
  type CollectedNames,
  createQueryBudget,
  type QueryBudget,
  type QueryBudgetOptions,
  type QueryScope,
} from './scope.ts'
import { SCORED_ALL, type Score, type ScoredQuery } from './score.ts'

/**
 * Parses a search body over these kinds. `now` (ms since 1970) is the base of date math.
 * Refusals name the place in the body, with Elasticsearch's error type as their code.
 */
export const parseSearch = (
  body: string | undefined,
  kinds: readonly Kind[],
  now: number,
  options: ParseOptions = {},
): SearchRequest => {
  const budget = createQueryBudget(options)
  const { limits } = budget
  const moment = createMoment(now)
  const aggregatedAt = createMoment(now)
  const lower = (
    place: JsonNode | undefined,
    kind: Kind,
    taken: Pick<QueryScope, 'innerHits' | 'marks' | 'collected'> = {},
  ): ScoredQuery =>
    // Each kind reads the same clauses, which count once.
    parseQuery(
      place,
      { kind, kinds, now: moment.now, index: options.index, shape, ...taken },
      createQueryBudget(options),
    )
  const given = body === undefined || body.trim() === '' ? new Map() : parseExactJson(body, limits)
  const root = bodyNode(withParameters(given, options.parameters ?? []))
  checkRefused(root, EXPECTED_SEARCH)
  const keys = readBodyKeys(root, EXPECTED_SEARCH, BODY_KEYS, IGNORED_OR_REFUSED)
  const { size, from } = keys
  const shape = sourceShape(options.parameters ?? [])
  if (keys.pit !== undefined && options.cursor === undefined)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: [indices] cannot be used with point in time. Do not specify any index with point in time.;',
    )
  if (size >= 0 && from + size > MAX_RESULT_WINDOW) {
    throw refuse(
      'illegal_argument_exception',
      `Result window is too large, from + size must be less than or equal to: [${MAX_RESULT_WINDOW}] but was [${from + size}]. For all hits of a query ask for "size": -1, or narrow the query.`,
    )
  }
  const scope: HitScope & SortScope = {
    ...{ kinds, now: moment.now, limits, budget, lower: lowerClause, shape },
    queries: place =>
      Object.fromEntries(
        kinds.map(kind => {
          const marks: Node[] = []
          lower(place, kind, { marks })
          return [kind, marks]
        }),
      ),
  }
  if (keys.collapse && size < 0)
    throw unexpected(keys.collapse, 'no [collapse] beside "size": -1: give a size from 0 on')
  const collected: CollectedNames = { names: [] }
  const aggregated = aggregationsIn(keys)
  const lasting = aggregated && aggregationCacheKeys(aggregated.value)
  if (aggregated && size < 0)
    throw unexpected(
      memberNode(root, 'size'),
      'a size from 0 on, beside aggregations: ask for all hits in another search',
    )
  if (aggregated && keys.min_score !== undefined)
    throw unexpected(
      memberNode(root, 'min_score'),
      'no [min_score] beside aggregations: ask for them in another search',
    )
  const sort = parseSort(keys.sort, scope)
  const collapse = keys.collapse && parseCollapse(keys.collapse, scope)
  const beside = { size, sort, collapse, cursor: options.cursor, given: keys }
  const terminateAfter = keys.terminate_after && parseTerminateAfter(keys.terminate_after, beside)
  return {
    parts: kinds.map(kind => {
      const innerHits: InnerHits[] = []
      // Aggregations without cache keys may show hits.
      const mayMark = keys.highlight || keys.collapse || (aggregated && lasting === undefined)
      const marks: Node[] | undefined = mayMark ? [] : undefined
      const { node: query, score } = lower(keys.query, kind, { innerHits, marks, collected })
      return {
        ...{ kind, query },
        ...(score && !isOne(score) && { score }),
        ...(keys.post_filter && { postFilter: lower(keys.post_filter, kind).node }),
        ...(marks && { marks }),
        ...(innerHits.length > 0 && { innerHits }),
      }
    }),
    sort,
    from,
    size,
    trackTotal: keys.track_total_hits,
    ...parseHitOptions(keys, scope),
    ...(collapse && { collapse }),
    ...(keys.min_score !== undefined && { minScore: keys.min_score }),
    ...(collected.names.length > 0 && { names: collected.names }),
    ...(aggregated && {
      aggregations: parseAggregations(aggregated, {
        ...{ kinds, now: aggregatedAt.now, nested: undefined, index: options.index, shape },
        budget: createQueryBudget(options),
      }),
      // Early termination depends on more than one segment.
      aggregated: terminateAfter === undefined && !aggregatedAt.isRead() ? lasting : undefined,
    }),
    ...(terminateAfter !== undefined && { terminateAfter }),
    ...(keys.timeout !== undefined && { timeout: keys.timeout }),
    ...parsePaging(keys, { ...scope, sort, from, size, collapse, cursor: options.cursor }),
    ...((moment.isRead() || aggregatedAt.isRead()) && { readsNow: true }),
  }
}

export interface ParseOptions extends QueryBudgetOptions {
  parameters?: Parameters | undefined
  /** The network's name as it stands in `_index`. */
  index?: string | undefined
  /** Set for searches within a scroll or a point in time: see `SearchRequest.tiebreak`. */
  cursor?: SearchRequest['tiebreak']
}

const EXPECTED_SEARCH = 'an object such as {"query": {"match_all": {}}}'
const IGNORED_OR_REFUSED = [...Object.keys(IGNORED_KEYS), ...REFUSED_KEYS.keys()]
const MAX_RESULT_WINDOW = 10_000

const isOne = (score: Score): boolean => score.by === 'same' && score.value === 1

const parseQuery = (
  place: JsonNode | undefined,
  scope: Omit<QueryScope, 'nested' | 'budget'>,
  budget: QueryBudget,
): ScoredQuery => {
  if (place === undefined || (isJsonMap(place.value) && place.value.size === 0)) return SCORED_ALL
  return lowerScored(place, { ...scope, nested: undefined, budget })
}
