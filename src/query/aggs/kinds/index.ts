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
import { rareTerms } from './rare-terms.ts'
import { children, parent } from './relatives.ts'
import { reverseNested } from './reverse-nested.ts'
import { boxplot, medianAbsoluteDeviation } from './spread.ts'
import { terms } from './terms.ts'
import { topHits } from './top-hits.ts'
import { topMetrics } from './top-metrics.ts'
import { valueCount } from './value-count.ts'
import { weightedAvg } from './weighted-avg.ts'

/** Every aggregation by its name in the body. */
export const AGGREGATIONS = {
  terms,
  rare_terms: rareTerms,
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
  children,
  parent,
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
} satisfies Record<AggregationType, AggregationKind>
