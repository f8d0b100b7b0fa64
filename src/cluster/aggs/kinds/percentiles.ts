import { medianDeviationOf, quantileOf, rankOf, type Sorted, sortedOf } from '../../../engine/aggs/sorted.ts'
import type { SpecOf } from '../../../query/aggs/ast.ts'
import { boxplotOf } from '../../../query/aggs/metrics/boxplot.ts'
import { single } from '../../../query/aggs/metrics/metric.ts'
import { percentileRanksOf, percentilesOf } from '../../../query/aggs/metrics/percentiles.ts'
import type { Metric } from '../../../query/aggs/result.ts'
import type { ClusterAggregation } from '../kind.ts'
import { askDistinct, distinctIn, numbersIn } from './distinct.ts'

type Name = 'percentiles' | 'percentile_ranks' | 'median_absolute_deviation' | 'boxplot'

/** What follows from where values lie. The cluster estimates it; from all values it is exact. */
const quantiles = <K extends Name>(write: (spec: SpecOf<K>, sorted: Sorted) => Metric): ClusterAggregation<K> => ({
  ask: ({ values }, asking) => askDistinct(values, asking),
  read(spec, found, reading) {
    const { values, counts } = numbersIn(distinctIn(found, reading))
    return write(spec, sortedOf(values, counts))
  },
})

const quantile = (sorted: Sorted) => ({ quantile: (part: number) => quantileOf(sorted, part) })

export const percentiles = quantiles<'percentiles'>(({ of, hdrDigits, ...options }, sorted) =>
  ofType(hdrDigits, percentilesOf(quantile(sorted), of, options)),
)
export const percentileRanks = quantiles<'percentile_ranks'>(({ of, hdrDigits, ...options }, sorted) =>
  ofType(hdrDigits, percentileRanksOf({ rank: value => rankOf(sorted, value) }, of, options)),
)
export const boxplot = quantiles<'boxplot'>(({ format }, sorted) =>
  boxplotOf({ values: sorted.values, ...quantile(sorted) }, format),
)
export const medianAbsoluteDeviation = quantiles<'median_absolute_deviation'>(({ kind, format }, sorted) => {
  const value = medianDeviationOf(sorted)
  return single(kind, Number.isNaN(value) ? null : value, format)
})

const ofType = (hdrDigits: number | undefined, metric: Metric): Metric =>
  hdrDigits === undefined ? metric : { ...metric, type: metric.type.replace('tdigest', 'hdr') }
