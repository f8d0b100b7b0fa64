import { requestOf } from '../../engine/aggs/top-hits.ts'
import { hidesScores } from '../../engine/show/envelope.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation, Aggregations } from '../../query/aggs/ast.ts'
import { runPipelines } from '../../query/aggs/pipelines/run.ts'
import { renderResults } from '../../query/aggs/render.ts'
import { bytesOfResult, type Results, type SingleBucket } from '../../query/aggs/result.ts'
import type { Node } from '../../query/ast.ts'
import type { SearchRequest } from '../../query/request.ts'
import { type Answered, readAnswer } from './answer.ts'
import { type HitsInBuckets, INNER } from './kind.ts'
import { MOST, type Most } from './most.ts'
import { queryOfKinds } from './queries.ts'
import { relatedRequest } from './related.ts'
import { askAll, type Known, readAll } from './tree.ts'

export interface ClusterAggregating {
  request: SearchRequest
  aggregations: Aggregations
  /** A node of the tree in the cluster's language. */
  compileNode(node: Node, kind: Kind): object
  /** Finds all documents of the searched kinds that may be seen, whatever the search asks for: what `global` looks at. */
  everything: object
  hits: HitsInBuckets
  limits: Limits
  most?: Most | undefined
  /** Whether what is told is added to what other networks tell. */
  isJoined?: boolean
  /** Whether names of aggregations stand behind their types. */
  typedKeys: boolean
  /** Called now and then: throws where the search is to be given up. */
  check(): void
  /**
   * Asks the cluster for what a request finds, without hits. All that is asked for one answer is to see the same documents. `scored`: matches
   * need their scores.
   */
  ask(request: SearchRequest, aggs: AskedBy, scored: boolean): Promise<ClusterFound>
}

/** What stands under `aggs` in a search, all of whose matches have this score; undefined where they tell theirs. */
export type AskedBy = (uniform: number | undefined) => Record<string, object>

export interface ClusterFound {
  /** Exact. */
  total: number
  /** What stands under `aggregations`, as it was sent; undefined where none were asked for. */
  aggregations: string | undefined
  uniform: number | undefined
}

/** What stands under `aggs` in the first search, which may ask for hits, too. It needs scores where `wantsScores` tells so. */
export const firstAggregations = (asked: ClusterAggregating): AskedBy => compiledBy(asked, NOTHING)

export const wantsScores = ({ request, aggregations }: Pick<ClusterAggregating, 'request' | 'aggregations'>): boolean =>
  request.parts.some(({ score }) => score) && aggregations.aggs.some(one => isScored(one, request))

const isScored = ({ spec, aggs }: Aggregation, request: SearchRequest): boolean =>
  (spec.kind === 'top_hits' && spec.scored && !hidesScores(requestOf(spec, request))) ||
  (spec.kind === 'top_metrics' && spec.sort.by === '_score') ||
  (spec.kind !== 'children' && spec.kind !== 'parent' && aggs.some(one => isScored(one, request)))

const NOTHING: Known = new Map()

/** What `aggregations` holds in our answer, as JSON text. `first`: what was answered to the first search, where it was asked. */
export const answerAggregations = async (asked: ClusterAggregating, first?: ClusterFound): Promise<string> => {
  const { aggregations, limits, check, typedKeys } = asked
  const results = await resultsOf(asked, first)
  let held = 0
  runPipelines(results, aggregations.aggs, aggregations.pipelines, {
    check,
    hold(metric) {
      held += bytesOfResult(metric)
      if (held > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    },
  })
  return renderResults(results, { typedKeys, limits, check })
}

/** Asks as often as it takes: each answer tells what is to be asked next. */
const resultsOf = async (asked: ClusterAggregating, first?: ClusterFound): Promise<Results> => {
  const { request, ask } = asked
  const related = await relatedOf(asked)
  let known = NOTHING
  for (let found = first; ; found = undefined) {
    found ??= await ask(request, compiledBy(asked, known), wantsScores(asked))
    const again = new Map<string, unknown>()
    const results = read(asked, readAnswer(found.aggregations ?? '{}'), {
      ...{ known, again, related, uniform: found.uniform },
    })
    if (again.size === 0) return results
    known = new Map([...known, ...again])
  }
}

/** The same, where something is known of an answer before. */
export const compiledBy =
  (
    { request, aggregations, compileNode, everything, hits, most = MOST, isJoined = false }: ClusterAggregating,
    known: Known,
  ): AskedBy =>
  uniform => {
    const kinds = request.parts.map(({ kind }) => kind)
    const all = new Map<string, object>()
    const aggs = askAll(aggregations.aggs, {
      ...{ kinds, everything, hits, request, all, known, most, isJoined, uniform },
      query: queries => queryOfKinds(queries, kinds, kind => compileNode(queries[kind]!, kind)),
    })
    if (all.size === 0) return aggs
    const own = { [INNER]: { filter: everything, aggs: Object.fromEntries(all) } }
    return { ...aggs, [ALL]: { global: {}, aggs: own } }
  }

/** Beside those of the request: aggregations of all documents that may be seen. */
const ALL = 'all'

interface Round {
  known: Known
  again: Map<string, unknown>
  related: ReadonlyMap<Aggregation, SingleBucket>
  uniform: number | undefined
}

const read = (
  { request, aggregations, hits, limits, check, most = MOST }: ClusterAggregating,
  found: Answered,
  round: Round,
): Results => {
  let left = limits.buckets
  const room = (buckets: number) => {
    if (!(buckets <= left)) throw overLimit('buckets', limits)
  }
  const { [INNER]: all } = (found[ALL] ?? {}) as { [INNER]?: Answered }
  return readAll(aggregations.aggs, found, {
    ...{ ...round, request, hits, limits, most, room, all, learnt: new Map() },
    count(buckets) {
      check()
      room(buckets)
      left -= buckets
    },
  })
}

/** Related documents, with what aggregations find in them. */
const relatedOf = async (asked: ClusterAggregating): Promise<ReadonlyMap<Aggregation, SingleBucket>> => {
  const all = new Map<Aggregation, SingleBucket>()
  for (const aggregation of asked.aggregations.aggs) {
    const related = await askRelated(asked, aggregation)
    if (!related) continue
    const { type, inner, found } = related
    const bucket = { is: 'bucket', type, docCount: found.total } as const
    all.set(aggregation, { ...bucket, results: await resultsOf(inner, found) })
  }
  return all
}

interface Related {
  type: 'children' | 'parent'
  inner: ClusterAggregating
  found: ClusterFound
}

/** A search of its own for related documents, with the aggregations inside; undefined of other aggregations. */
export const askRelated = async (
  asked: ClusterAggregating,
  { spec, aggs }: Aggregation,
): Promise<Related | undefined> => {
  if (spec.kind !== 'children' && spec.kind !== 'parent') return undefined
  const inner = { ...asked, request: relatedRequest(asked.request, spec), aggregations: { aggs, pipelines: [] } }
  return { type: spec.kind, inner, found: await asked.ask(inner.request, compiledBy(inner, NOTHING), false) }
}
