import type { AggregationType } from '../ast.ts'
import { composite } from './composite.ts'
import { autoDateHistogram, dateHistogram, dateRange, histogram, range } from './histograms.ts'
import type { AggregationKind } from './kind.ts'
import {
  avg,
  boxplot,
  cardinality,
  extendedStats,
  max,
  medianAbsoluteDeviation,
  min,
  percentileRanks,
  percentiles,
  stats,
  sum,
  valueCount,
  weightedAvg,
} from './metrics.ts'
import { children, filter, filters, global, missing, nested, parent, reverseNested } from './single.ts'
import { rareTerms, terms } from './terms.ts'
import { topHits, topMetrics } from './top-hits.ts'

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
