import type { AggregationType } from '../../query/aggs/ast.ts'
import * as buckets from './buckets.ts'
import type { ClusterAggregation } from './kind.ts'
import * as metrics from './metrics.ts'

export const CLUSTER_AGGREGATIONS = {
  terms: buckets.terms,
  multi_terms: buckets.multiTerms,
  rare_terms: buckets.rareTerms,
  histogram: buckets.histogram,
  date_histogram: buckets.dateHistogram,
  auto_date_histogram: buckets.autoDateHistogram,
  range: buckets.range,
  date_range: buckets.range,
  filter: buckets.filter,
  filters: buckets.filters,
  missing: buckets.missingValues,
  global: buckets.global,
  nested: buckets.nested,
  reverse_nested: buckets.reverseNested,
  children: metrics.relatives,
  parent: metrics.relatives,
  composite: buckets.composite,
  top_hits: buckets.topHits,
  top_metrics: metrics.topMetrics,
  avg: metrics.avg,
  sum: metrics.sum,
  min: metrics.min,
  max: metrics.max,
  stats: metrics.stats,
  extended_stats: metrics.extendedStats,
  value_count: metrics.valueCount,
  cardinality: metrics.cardinality,
  percentiles: metrics.percentiles,
  percentile_ranks: metrics.percentileRanks,
  median_absolute_deviation: metrics.medianAbsoluteDeviation,
  boxplot: metrics.boxplot,
  weighted_avg: metrics.weightedAvg,
} satisfies { [K in AggregationType]: ClusterAggregation<K> }
