import type { AggregationType } from '../ast.ts'
import { autoDateHistogram } from './auto-date-histogram.ts'
import { cardinality } from './cardinality.ts'
import { composite } from './composite.ts'
import { dateHistogram } from './date-histogram.ts'
import { dateRange } from './date-range.ts'
import { extendedStats } from './extended-stats.ts'
import { filter } from './filter.ts'
import { filters } from './filters.ts'
import { global } from './global.ts'
import { histogram } from './histogram.ts'
import type { AggregationKind } from './kind.ts'
import { avg, max, min, stats, sum } from './metrics.ts'
import { missing } from './missing.ts'
import { nested } from './nested.ts'
import { percentileRanks, percentiles } from './percentiles.ts'
import { range } from './range.ts'
import { reverseNested } from './reverse-nested.ts'
import { terms } from './terms.ts'
import { topHits } from './top-hits.ts'
import { valueCount } from './value-count.ts'
import { weightedAvg } from './weighted-avg.ts'

/** Every aggregation by its name in the body. */
export const AGGREGATIONS = {
  terms,
  date_histogram: dateHistogram,
  auto_date_histogram: autoDateHistogram,
  histogram,
  range,
  date_range: dateRange,
  filter,
  filters,
  missing,
  global,
  nested,
  reverse_nested: reverseNested,
  composite,
  top_hits: topHits,
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
  weighted_avg: weightedAvg,
} satisfies Record<AggregationType, AggregationKind>

/** Aggregations of Elasticsearch that are refused, and what does instead. */
export const REFUSED: Readonly<Record<string, string>> = {
  adjacency_matrix: 'Use filters, with a bool for each pair.',
  boxplot: 'Use percentiles.',
  categorize_text: 'Use terms.',
  children: 'Search the child entity, with has_parent.',
  diversified_sampler: 'Aggregations are exact and need no sample: leave it out.',
  geo_bounds: 'Documents have no geographic fields.',
  geo_centroid: 'Documents have no geographic fields.',
  geo_distance: 'Documents have no geographic fields.',
  geohash_grid: 'Documents have no geographic fields.',
  geotile_grid: 'Documents have no geographic fields.',
  ip_range: 'Documents have no IP addresses.',
  matrix_stats: 'Use extended_stats for each field.',
  median_absolute_deviation: 'Use percentiles.',
  multi_terms: 'Use composite, or terms inside of terms.',
  parent: 'Search the parent entity, with has_child.',
  random_sampler: 'Aggregations are exact and need no sample: leave it out.',
  rare_terms: 'Use terms with {"order": {"_count": "asc"}}, whose counts are exact.',
  rate: 'Use date_histogram.',
  sampler: 'Aggregations are exact and need no sample: leave it out.',
  scripted_metric: 'There are no scripts.',
  significant_terms: 'Use terms for both sets, and compare.',
  significant_text: 'Use terms for both sets, and compare.',
  string_stats: 'Use value_count and cardinality.',
  t_test: 'Use extended_stats, and compute it from them.',
  top_metrics: 'Use top_hits with size 1 and a sort.',
  variable_width_histogram: 'Use histogram or percentiles.',
}
