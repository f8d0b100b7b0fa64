import type { AggregationType } from '../ast.ts'
import { compositeKind } from './composite.ts'
import { autoDateHistogramKind, dateHistogramKind, dateRangeKind, histogramKind, rangeKind } from './histograms.ts'
import type { AggregationKind } from './kind.ts'
import {
  avgKind,
  boxplotKind,
  cardinalityKind,
  extendedStatsKind,
  maxKind,
  medianAbsoluteDeviationKind,
  minKind,
  percentileRanksKind,
  percentilesKind,
  statsKind,
  sumKind,
  valueCountKind,
  weightedAvgKind,
} from './metrics.ts'
import { rateKind } from './rate.ts'
import {
  childrenKind,
  filterKind,
  filtersKind,
  globalKind,
  missingKind,
  nestedKind,
  parentKind,
  reverseNestedKind,
} from './single.ts'
import { multiTermsKind, rareTermsKind, termsKind } from './terms.ts'
import { topHitsKind, topMetricsKind } from './top-hits.ts'

export const AGGREGATIONS = {
  terms: termsKind,
  multi_terms: multiTermsKind,
  rare_terms: rareTermsKind,
  date_histogram: dateHistogramKind,
  auto_date_histogram: autoDateHistogramKind,
  histogram: histogramKind,
  range: rangeKind,
  date_range: dateRangeKind,
  filter: filterKind,
  filters: filtersKind,
  missing: missingKind,
  global: globalKind,
  nested: nestedKind,
  reverse_nested: reverseNestedKind,
  children: childrenKind,
  parent: parentKind,
  composite: compositeKind,
  top_hits: topHitsKind,
  top_metrics: topMetricsKind,
  avg: avgKind,
  sum: sumKind,
  min: minKind,
  max: maxKind,
  stats: statsKind,
  extended_stats: extendedStatsKind,
  value_count: valueCountKind,
  cardinality: cardinalityKind,
  percentiles: percentilesKind,
  percentile_ranks: percentileRanksKind,
  median_absolute_deviation: medianAbsoluteDeviationKind,
  boxplot: boxplotKind,
  weighted_avg: weightedAvgKind,
  rate: rateKind,
} satisfies Record<AggregationType, AggregationKind>
