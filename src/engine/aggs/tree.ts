import { overLimit } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation, AggregationType, SpecOf } from '../../query/aggs/ast.ts'
import { bytesOfResult } from '../../query/aggs/result.ts'
import type { AggregationContext, Aggregator, InnerAggregators } from './aggregator.ts'
import { emptyBatch, filterBatch } from './batch.ts'
import { createCardinality } from './cardinality.ts'
import { createFilters, createRange, createSingle } from './choices.ts'
import { createComposite } from './composite.ts'
import { type Role, toDocuments, toElements } from './elements.ts'
import { createExactTotal } from './exact-sum.ts'
import { createAutoDateHistogram, createHistogram } from './histogram.ts'
import { sharedKeys } from './keys.ts'
import { createNumbersOf, createRate, createValueCount, createWeightedAvg } from './metrics.ts'
import { toChildren, toParents } from './parent-child.ts'
import { createPercentiles } from './percentiles.ts'
import { createMultiTerms, createRareTerms, createTerms } from './terms.ts'
import { createTopElements, createTopHits, createTopMetrics } from './top-hits.ts'
import { createSource } from './value-source.ts'
import { presence } from './values.ts'

/** Creates the aggregators of a tree of aggregations. */
export const createInner = (aggregations: readonly Aggregation[], context: AggregationContext): InnerAggregators =>
  aggregations.map(aggregation => {
    const create = CREATE[aggregation.spec.kind] as Create<AggregationType>
    const { spec } = aggregation
    const within = spec.kind === 'children' || spec.kind === 'parent' ? context.of(spec.of) : context
    const inner = createInner(aggregation.aggs, within)
    return { aggregation, aggregator: bounded(create(spec, inner, context), context), inner }
  })

/** Checks time and memory: documents with several values multiply from level to level. */
const bounded = (aggregator: Aggregator, { reader, limits, hold }: AggregationContext): Aggregator => ({
  ...aggregator,
  collect(at, batch) {
    reader.check()
    if (batch.count * BATCH_DOCUMENT_BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    return aggregator.collect(at, batch)
  },
  merge(state, owners) {
    reader.check()
    aggregator.merge(state, owners)
  },
  result(owner) {
    reader.check()
    const result = aggregator.result(owner)
    hold(bytesOfResult(result))
    return result
  },
})

const BATCH_DOCUMENT_BYTES = 32

type Create<K extends AggregationType> = (
  spec: SpecOf<K>,
  inner: InnerAggregators,
  context: AggregationContext,
) => Aggregator

const numbers: Create<'avg' | 'sum' | 'min' | 'max' | 'stats' | 'extended_stats'> = (spec, _, context) =>
  createNumbersOf(spec, context)
const createPercentilesOf: Create<'percentiles' | 'percentile_ranks' | 'median_absolute_deviation' | 'boxplot'> = (
  spec,
  _,
  context,
) => createPercentiles(spec, context)

const CREATE = {
  terms: createTerms,
  multi_terms: createMultiTerms,
  rare_terms: createRareTerms,
  histogram: createHistogram,
  date_histogram: createHistogram,
  auto_date_histogram: createAutoDateHistogram,
  range: createRange,
  date_range: createRange,
  filter: (spec, inner, context) =>
    createSingle('filter', inner, context, (at, batch) => ({
      at,
      batch: context.matching.filter(spec.query, at, batch),
    })),
  filters: createFilters,
  missing({ values }, inner, context) {
    const keys = values.type === 'keyword' ? sharedKeys(values, context) : undefined
    const source = createSource(values, keys, context)
    return createSingle('missing', inner, context, (at, batch) => {
      const has = presence(source.read(at, batch), batch)
      return { at, batch: filterBatch(batch, (_, i) => has[i] === 0) }
    })
  },
  // `collectParts` passes all documents.
  global: (_, inner, context) => createSingle('global', inner, context, (at, batch) => ({ at, batch })),
  nested: (_, inner, context) => {
    // Arguments that no inner filter can match are skipped.
    const filters = inner.map(({ aggregation: { spec } }) => (spec.kind === 'filter' ? spec.query : undefined))
    const onlyFilters = filters.length > 0 && !filters.includes(undefined)
    const looksAt = (role: Role, kind: Kind) => filters.some(query => context.matching.mayMatch(query!, kind, role))
    return createSingle('nested', inner, context, (at, batch) =>
      at.kind === 'event' || at.kind === 'call'
        ? toElements(at, batch, context, onlyFilters ? looksAt : undefined)
        : { at, batch: emptyBatch(batch) },
    )
  },
  reverse_nested: (_, inner, context) => createSingle('reverse_nested', inner, context, toDocuments),
  children: (spec, inner, context) =>
    createSingle('children', inner, context, toChildren(spec as SpecOf<'children'>, context)),
  parent: (spec, inner, context) =>
    createSingle('parent', inner, context, toParents(spec as SpecOf<'parent'>, context)),
  composite: createComposite,
  top_hits: (spec, _, context) => (spec.elements ? createTopElements(spec, context) : createTopHits(spec, context)),
  top_metrics: (spec, _, context) => createTopMetrics(spec, context),
  avg: numbers,
  sum: (spec, inner, context) =>
    spec.exact ? createExactTotal(spec as SpecOf<'sum'>, context) : numbers(spec, inner, context),
  min: numbers,
  max: numbers,
  stats: numbers,
  extended_stats: numbers,
  value_count: (spec, _, context) => createValueCount(spec, context),
  cardinality: (spec, _, context) => createCardinality(spec, context),
  percentiles: createPercentilesOf,
  percentile_ranks: createPercentilesOf,
  median_absolute_deviation: createPercentilesOf,
  boxplot: createPercentilesOf,
  rate: (spec, _, context) => createRate(spec, context),
  weighted_avg: (spec, _, context) => createWeightedAvg(spec, context),
} satisfies { [K in AggregationType]: Create<K> }
