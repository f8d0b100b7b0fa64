import type { SpecOf } from '../../query/aggs/ast.ts'
import { boxplotOf } from '../../query/aggs/metrics/boxplot.ts'
import { single } from '../../query/aggs/metrics/metric.ts'
import { percentileRanksOf, percentilesOf } from '../../query/aggs/metrics/percentiles.ts'
import type { Metric } from '../../query/aggs/result.ts'
import type { Aggregator, Context } from './aggregator.ts'
import { createQuantiles, type Quantiles } from './quantiles.ts'
import { medianDeviationOf } from './sorted.ts'
import { createSource } from './sources.ts'

type Spec = SpecOf<'percentiles' | 'percentile_ranks' | 'median_absolute_deviation' | 'boxplot'>

/** What follows from where values lie: exact, unless there are too many different ones. */
export const createPercentiles = (spec: Spec, context: Context): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const { of, ...store } = createQuantiles(source.read, {
    compression: spec.compression,
    // As they are written: see `percentilesOf`.
    parts: spec.kind === 'percentiles' ? spec.of.map(percent => percent / 100) : undefined,
    most: context.limits.aggregationMemory / KEPT,
    check: context.reader.check,
  })
  const metricOf = (owner: number): Metric => write(spec, of(owner))
  return { ...store, result: metricOf, number: (owner, _, rest) => metricOf(owner).number(rest) ?? null }
}

/** The part of the memory of a search that one aggregation takes before it sketches. */
const KEPT = 8

const write = (spec: Spec, quantiles: Quantiles): Metric => {
  const { format } = spec
  switch (spec.kind) {
    case 'median_absolute_deviation': {
      const value = medianDeviationOf(quantiles.sorted)
      return single(spec.kind, Number.isNaN(value) ? null : value, format)
    }
    case 'boxplot':
      return boxplotOf({ values: quantiles.sorted.values, quantile: quantiles.quantile }, format)
    default: {
      const { keyed } = spec
      const metric =
        spec.kind === 'percentiles'
          ? percentilesOf(quantiles, spec.of, { keyed, format })
          : percentileRanksOf(quantiles, spec.of, { keyed, format })
      return spec.hdrDigits === undefined ? metric : { ...metric, type: `hdr_${spec.kind}` }
    }
  }
}
