import { BEST_FIRST } from '../../engine/query/scores/scoring.ts'
import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Aggregation } from '../../query/aggs/ast.ts'
import type { RequestPart, SearchRequest } from '../../query/request.ts'
import type { Score } from '../../query/score.ts'
import { andNode } from '../../query/simplify.ts'
import { unsupported } from '../deviations.ts'
import { META_FIELDS } from '../indices/names.ts'
import { compileCollapse } from './collapse.ts'
import {
  between,
  checkClauses,
  type Dsl,
  every,
  hiddenClauses,
  inSlice,
  MATCH_NONE,
  some,
  termIn,
  withinRuns,
} from './dsl.ts'
import { type JoinLookup, resolveJoins } from './joins.ts'
import { compileNode, type Joins } from './node.ts'
import { compileScore, scoreConditions } from './scoring.ts'
import { planSort, type SortPlan } from './sort.ts'

/** A search in the cluster's language. */
export interface Compiled {
  /** Kinds to search; others cannot match. */
  kinds: Kind[]
  /** Has no `from` and `size` if all hits are wanted. `_source` is as stored. */
  body: Record<string, unknown>
  /** Query string parameters. */
  parameters: { search_type?: 'dfs_query_then_fetch' }
  /** Score of all hits; undefined if each hit has its own. */
  uniform: number | undefined
  /** Whether a search that may end early did. */
  isEarly?: boolean
  /** Sort keys; by default the best score first if scores differ. */
  sort: SearchRequest['sort']
  /** Parses a hit's `sort`. */
  read: SortPlan['read']
}

/** Results of the lookups before the search. */
interface SearchLookups {
  joins: Joins
  /** Last counted matches of a search that ends early. */
  ends: Ends
}

/** Does the lookups of a search, and compiles it. */
export const prepareSearch = async (request: SearchRequest, looking: JoinLookup): Promise<Compiled> => {
  const about = { ...looking, within: request.within }
  const isScored = needsScores(request)
  const queries = request.parts.flatMap(({ kind, query, postFilter, score }) => {
    const nodes = [query, ...(postFilter ? [postFilter] : []), ...(isScored ? scoreConditions(score) : [])]
    return nodes.map(node => ({ kind, node }))
  })
  const joins = await resolveJoins(queries, about)
  const filterOf = (part: RequestPart) => every([matchesOf(part, joins), ...aroundOf(request)])
  const ends = await resolveEnds(request, filterOf, about)
  return compileSearch(request, looking.visible, { joins, ends })
}

export const compileSearch = (
  asked: SearchRequest,
  visible: Pick<Visible, 'hidden'>,
  { joins, ends }: SearchLookups,
): Compiled => {
  const scores = scoresOf(asked)
  const uniform = uniformOf(scores)
  const request = uniform === undefined && isUnordered(asked) ? { ...asked, sort: BEST_FIRST } : asked
  const { from, size, trackTotal, minScore, collapse } = request
  const plan = planSort(request, uniform, joins)
  const isNone = uniform !== undefined && minScore !== undefined && Math.fround(uniform) < minScore
  const parts = isNone ? [] : request.parts.filter(({ query }) => query.op !== 'none')
  const query = queryOf({ ...request, parts }, visible, part => {
    const end = ends.get(part.kind)
    const matches = compileNode(part.query, part.kind, joins)
    const filter = end === undefined ? matches : every([matches, between(META_FIELDS.position, { lte: end })])
    if (uniform !== undefined) return { filter }
    return { filter, score: compileScore(scores.get(part.kind), { kind: part.kind, joins }) }
  })
  checkClauses(query)
  // With nested sort keys, OpenSearch finds all matches only if it counts them all.
  const countsAll = request.sort.some(({ nested }) => nested)
  const postFilter = postFilterOf(parts, joins)
  return {
    kinds: parts.map(({ kind }) => kind),
    body: {
      query,
      ...(postFilter && { post_filter: postFilter }),
      sort: plan.sort,
      ...(plan.after && { search_after: plan.after }),
      ...(plan.isOver ? { size: 0 } : size >= 0 && { from, size }),
      track_total_hits: countsAll || trackTotal,
      ...(uniform === undefined && minScore !== undefined && { min_score: minScore }),
      ...(uniform === undefined && { track_scores: true, ...(asked.shown?.explain && { explain: true }) }),
      ...(collapse && { collapse: compileCollapse(collapse, request) }),
    },
    // Shards combine their word frequencies, which makes scores comparable.
    parameters: uniform === undefined ? { search_type: 'dfs_query_then_fetch' } : {},
    uniform,
    ...(asked.terminateAfter !== undefined && { isEarly: ends.size > 0 }),
    sort: request.sort,
    read: plan.read,
  }
}

/** A listing of all hits has the order of the chain. */
const isUnordered = ({ sort, size, after }: SearchRequest): boolean =>
  sort.length === 0 && size >= 0 && after?.values.length !== 0

/** Whether scores are shown, or affect which hits match or their order. */
const needsScores = ({ sort, size, trackScores, minScore, aggregations, shown }: SearchRequest): boolean =>
  minScore !== undefined ||
  (size !== 0 &&
    (sort.length === 0 || trackScores === true || shown?.explain === true || sort.some(({ by }) => by === '_score'))) ||
  aggregations?.aggs.some(readsScores) === true

const readsScores = ({ spec, aggs }: Aggregation): boolean =>
  (spec.kind === 'top_hits' && spec.scored) || aggs.some(readsScores)

const ONE: Score = { by: 'same', value: 1 }

const scoresOf = (request: SearchRequest): Map<Kind, Score> => {
  const isNeeded = needsScores(request)
  return new Map(request.parts.map(({ kind, score }) => [kind, isNeeded && score ? score : ONE]))
}

const uniformOf = (scores: ReadonlyMap<Kind, Score>): number | undefined => {
  const values = new Set(Array.from(scores.values(), score => (score.by === 'same' ? score.value : undefined)))
  return values.size === 1 ? [...values][0] : undefined
}

interface PartQuery {
  filter: Dsl
  /** Present if scores differ. */
  score?: Dsl
}

/** Visible matches of the parts. */
const queryOf = (
  { parts, within, slice }: SearchRequest,
  visible: Pick<Visible, 'hidden'>,
  compile: (part: RequestPart) => PartQuery,
): Dsl => {
  if (parts.length === 0) return MATCH_NONE
  const around = aroundOf({ within, slice })
  const hidden = hiddenClauses(visible)
  const mustNot = hidden.length > 0 ? { must_not: hidden } : {}
  if (parts.length === 1) {
    const { filter, score } = compile(parts[0]!)
    return { bool: { filter: [filter, ...around], ...mustNot, ...(score && { must: [score] }) } }
  }
  const compiled = parts.map(part => ({ part, ...compile(part) }))
  const isScored = compiled.some(({ score }) => score)
  const each = some(
    compiled.map(({ part, filter, score }) =>
      score ? { bool: { filter: [ofKind(part.kind), filter], must: [score] } } : every([ofKind(part.kind), filter]),
    ),
  )
  return { bool: { filter: isScored ? around : [each, ...around], ...mustNot, ...(isScored && { must: [each] }) } }
}

/** Conditions on blocks that apply to all parts. */
const aroundOf = ({ within, slice }: Pick<SearchRequest, 'within' | 'slice'>): Dsl[] => [
  ...(within ? [withinRuns(within)] : []),
  ...(slice ? [inSlice(slice)] : []),
]

const matchesOf = ({ kind, query, postFilter }: RequestPart, joins: Joins): Dsl =>
  compileNode(postFilter ? andNode([query, postFilter]) : query, kind, joins)

export const ofKind = (kind: Kind): Dsl => termIn(META_FIELDS.kind, [KINDS.indexOf(kind)])

const postFilterOf = (parts: readonly RequestPart[], joins: Joins): Dsl | undefined => {
  if (parts.every(({ postFilter }) => !postFilter)) return undefined
  const compiled = parts.map(({ kind, postFilter }) =>
    postFilter ? [ofKind(kind), compileNode(postFilter, kind, joins)] : [ofKind(kind)],
  )
  return some(compiled.map(every))
}

/** Position of the last match of each kind that counts; absent if all count. */
export type Ends = ReadonlyMap<Kind, number>
/** Most hits on a page of a cluster. */
const MAX_TERMINATE_AFTER = 10_000
/** Looks up the last match that counts in a search that ends early. */
export const resolveEnds = async (
  { terminateAfter: most, minScore, parts }: SearchRequest,
  compile: (part: SearchRequest['parts'][number]) => Dsl,
  { ask, visible }: JoinLookup,
): Promise<Ends> => {
  const ends = new Map<Kind, number>()
  if (most === undefined) return ends
  if (minScore !== undefined) throw unsupported('terminate_after with min_score', 'leave one of the two out')
  if (most >= MAX_TERMINATE_AFTER)
    throw unsupported(`terminate_after of ${MAX_TERMINATE_AFTER} or more`, 'use track_total_hits to count no further')
  for (const part of parts) {
    if (part.query.op === 'none') continue
    const { hits } = (await ask([part.kind], {
      query: { bool: { filter: [compile(part)], must_not: hiddenClauses(visible) } },
      ...{ sort: [{ [META_FIELDS.position]: 'asc' }], from: most - 1, size: 2 },
      ...{ _source: false, track_total_hits: false },
    })) as { hits: { hits: { sort: [number] }[] } }
    const [last, more] = hits.hits
    if (last && more) ends.set(part.kind, last.sort[0])
  }
  return ends
}
