import type { AggregationType } from '../../../query/aggs/ast.ts'
import type { ClusterAggregation } from '../kind.ts'
import { autoDateHistogram } from './auto-date-histogram.ts'
import { composite } from './composite.ts'
import { cardinality, valueCount } from './counts.ts'
import { filters } from './filters.ts'
import { dateHistogram, histogram } from './histogram.ts'
import { avg, extendedStats, max, min, stats } from './numbers.ts'
import { boxplot, medianAbsoluteDeviation, percentileRanks, percentiles } from './percentiles.ts'
import { range } from './range.ts'
import { rareTerms } from './rare-terms.ts'
import { related } from './related.ts'
import { filter, global, missing, nested, reverseNested } from './single.ts'
import { sum } from './sum.ts'
import { terms } from './terms.ts'
import { topHits } from './top-hits.ts'
import { topMetrics } from './top-metrics.ts'
import { weightedAvg } from './weighted-avg.ts'

export const CLUSTER_AGGREGATIONS = {
  terms,
  rare_terms: rareTerms,
  histogram,
  date_histogram: dateHistogram,
  auto_date_histogram: autoDateHistogram,
  range,
  date_range: range,
  filter,
  filters,
  missing,
  global,
  nested,
  reverse_nested: reverseNested,
  children: related,
  parent: related,
  composite,
  top_hits: topHits,
  top_metrics: topMetrics,
  avg,
  sum,
  min,
  max,
  stats,
  extended_stats: extendedStats,
  value_count: valueCount,
  cardinality,
  percentiles,
  percentile_ranks: percentileRanks,
  median_absolute_deviation: medianAbsoluteDeviation,
  boxplot,
  weighted_avg: weightedAvg,
} satisfies { [K in AggregationType]: ClusterAggregation<K> }
