import { BEST_FIRST } from '../../engine/query/scores/scoring.ts'
import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Aggregation, AggregationSpec, Aggregations, AggregationType, Queries } from '../../query/aggs/ast.ts'
import { runPipelines } from '../../query/aggs/pipelines/tree.ts'
import { divideRates } from '../../query/aggs/rates.ts'
import {
  type AggregationResult,
  type AggregationResults,
  bytesOfResult,
  renderResults,
} from '../../query/aggs/result.ts'
import { ALL_NODE, type Node } from '../../query/ast.ts'
import type { SearchRequest } from '../../query/request.ts'
import { notInCluster } from '../deviations.ts'
import { META_FIELDS } from '../indices/names.ts'
import { type AskCluster, resolveJoins } from '../query/joins.ts'
import { compileNode, type Joins } from '../query/node.ts'
import { compileSearch } from '../query/search.ts'
import { planSort } from '../query/sort.ts'
import type { AskOptions, Page, Paging, QueryClient } from '../query-client.ts'
import {
  type AggregationAnswer,
  type AggregationAsking,
  answerObject,
  askedName,
  type BucketReading,
  type ClusterAggregation,
  type HitsInBuckets,
  INNER,
  readAggregations,
} from './kind.ts'
import { CLUSTER_AGGREGATIONS } from './kinds.ts'

export interface AggregatedSearch {
  request: SearchRequest & { aggregations: Aggregations }
  /** Writes hits in buckets; `text` is a JSON list of hits. */
  write: HitsInBuckets['write']
  /** Formats a hit count. */
  total: HitsInBuckets['total']
  /** Whether names of aggregations are prefixed with their types. */
  typedKeys: boolean
  limits: Limits
  /** Called periodically; throws if the search is to be aborted. */
  check(): void
}

interface AskingAggregated {
  asker: QueryClient
  options: AskOptions
  visible: Visible
  paging?: Paging | undefined
}

/** A page and the JSON text under `aggregations`; numbers are the cluster's own. */
export const aggregatedPage = async (
  aggregated: AggregatedSearch,
  { asker, options, visible, paging }: AskingAggregated,
): Promise<Page> => {
  const { request } = aggregated
  const ask: AskCluster = async (kinds, body) =>
    JSON.parse(
      await asker.send(
        { method: 'POST', path: `/${asker.target(kinds)}/_search`, query: WHOLE, body: JSON.stringify(body) },
        options,
      ),
    )
  const joins = await resolveJoins(queriesIn(request.aggregations.aggs), { ask, visible, within: request.within })
  const everything = compileSearch(everythingOf(request), visible, { joins, ends: new Map() }).body.query as object
  const hits = { ...hitsBy(joins), write: aggregated.write, total: aggregated.total }
  const kinds = request.parts.map(({ kind }) => kind)
  const query = (queries: Queries) => queryOfKinds(queries, kinds, kind => compileNode(queries[kind]!, kind, joins))
  const aggs: Paging['aggs'] = uniform =>
    askAll(request.aggregations.aggs, { request, hits, uniform, query, everything })
  const answer = ({ aggregations, uniform }: Page): string =>
    renderAnswer(aggregated, readAggregations(aggregations ?? '{}'), { request, hits, uniform })
  if (!request.after) {
    const page = await asker.page(request, options, visible, { ...paging, aggs })
    return { ...page, aggregations: answer(page) }
  }
  // Pages after a cursor aggregate all matches, too.
  const { after: _, collapse: _c, ...all } = request
  const page = await asker.page(request, options, visible, paging)
  const whole = await asker.page({ ...all, sort: [], trackTotal: true }, options, visible, { size: 0, aggs })
  return { ...page, aggregations: answer(whole) }
}

/** Partial answers are errors; the index may not exist yet. */
const WHOLE = { allow_partial_search_results: false, ignore_unavailable: true }

const everythingOf = ({ parts, within, slice }: SearchRequest): SearchRequest => ({
  parts: parts.map(({ kind }) => ({ kind, query: ALL_NODE })),
  ...{ sort: [], from: 0, size: 0, source: false, trackTotal: false, within, slice },
})

const aggregationKind = ({ spec }: Aggregation) =>
  CLUSTER_AGGREGATIONS[spec.kind] as ClusterAggregation<AggregationType>

const askAll = (aggs: readonly Aggregation[], asking: AggregationAsking): Record<string, object> =>
  Object.fromEntries(
    aggs.map((aggregation): [string, object] => {
      const body = aggregationKind(aggregation).ask(aggregation.spec as never, asking)
      return [askedName(aggregation.name), withInner(body, askAll(aggregation.aggs, asking))]
    }),
  )

const withInner = (body: object, inner: Record<string, object>): object => {
  if (Object.keys(inner).length === 0) return body
  const { aggs } = body as { aggs?: { [INNER]: object } }
  return { ...body, aggs: aggs ? { [INNER]: { ...aggs[INNER], aggs: inner } } : inner }
}

type SharedReading = Omit<BucketReading, 'aggregation' | 'inner'>

const readAll = (
  aggs: readonly Aggregation[],
  found: AggregationAnswer | undefined,
  shared: SharedReading,
): AggregationResults =>
  new Map(
    aggs.map((aggregation): [string, AggregationResult] => {
      const { name, spec, meta } = aggregation
      const result = aggregationKind(aggregation).read(spec as never, answerObject(found, askedName(name)), {
        ...{ ...shared, aggregation },
        inner: bucket => readAll(aggregation.aggs, bucket, shared),
      })
      return [name, meta === undefined ? result : { ...result, meta }]
    }),
  )

const renderAnswer = (
  { request: { aggregations }, limits, typedKeys, check }: AggregatedSearch,
  found: AggregationAnswer,
  shared: Omit<SharedReading, 'count' | 'limits'>,
): string => {
  let left = limits.buckets
  const count = (buckets: number) => {
    check()
    if (buckets > left) throw overLimit('buckets', limits)
    left -= buckets
  }
  const results = readAll(aggregations.aggs, found, { ...shared, limits, count })
  let held = 0
  divideRates(results, aggregations.aggs)
  runPipelines(results, aggregations.aggs, aggregations.pipelines, {
    check,
    hold(metric) {
      held += bytesOfResult(metric)
      if (held > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    },
  })
  return renderResults(results, { typedKeys, limits, check })
}

const hitsBy = (joins: Joins): Pick<HitsInBuckets, 'ask'> => ({
  ask(request, uniform) {
    const isByScore = uniform === undefined && request.sort.length === 0
    const { sort } = planSort(isByScore ? { ...request, sort: BEST_FIRST } : request, uniform, joins)
    return {
      ...{ sort, ...(uniform === undefined && { track_scores: true }) },
      ...(request.shown?.explain && { explain: true }),
    }
  },
})

/** Combines the queries of all kinds into one query that matches the same. */
export const queryOfKinds = (queries: Queries, kinds: readonly Kind[], compile: (kind: Kind) => object): object => {
  const own = kinds.filter(kind => queries[kind] !== undefined)
  const compiled = own.map(compile)
  const [first = { match_none: {} }, ...others] = compiled
  const text = dslText(first)
  if (others.every(other => dslText(other) === text)) return first
  if (text.includes('"args.'))
    throw notInCluster('a filter inside [nested] over several entities', 'search one of them')
  return { bool: { should: own.map((kind, i) => ({ bool: { filter: [kindIs(kind), compiled[i]] } })) } }
}
const dslText = (query: object): string =>
  JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? String(value) : value))
const kindIs = (kind: Kind): object => ({ term: { [META_FIELDS.kind]: KINDS.indexOf(kind) } })
/** Queries of aggregations by kind; their conditions on related documents are resolved first. */
export const queriesIn = (aggs: readonly Aggregation[]): { kind: Kind; node: Node }[] =>
  aggs.flatMap(({ spec, aggs }) => [...ownQueries(spec).flatMap(byKinds), ...queriesIn(aggs)])
const ownQueries = (spec: AggregationSpec): Queries[] => {
  switch (spec.kind) {
    case 'filter':
      return [spec.query]
    case 'filters':
      return spec.filters.map(({ query }) => query)
    default:
      return []
  }
}
const byKinds = (queries: Queries) =>
  (Object.entries(queries) as [Kind, Node][]).map(([kind, node]) => ({ kind, node }))
