import type { Aggregation } from './ast.ts'
import { singleMetric } from './metric-results.ts'
import type { AggregationResults } from './result.ts'

/** Divides the totals of rates by the time of the bucket of dates around them. */
export const divideRates = (results: AggregationResults, aggs: readonly Aggregation[], start = 0): void => {
  for (const agg of aggs) {
    const { name, spec, aggs: inner } = agg
    const result = results.get(name)
    if (result === undefined || !hasRates(agg)) continue
    if (result.is === 'metric' && spec.kind === 'rate') {
      const rate = singleMetric('rate', result.number(undefined)! / spec.unitsFrom(start), spec.format)
      results.set(name, result.meta === undefined ? rate : { ...rate, meta: result.meta })
    } else if (result.is === 'bucket') divideRates(result.results, inner, start)
    else if (result.is === 'buckets')
      for (const bucket of result.buckets)
        divideRates(bucket.results, inner, spec.kind === 'date_histogram' ? bucket.number : start)
  }
}

const hasRates = ({ spec, aggs }: Aggregation): boolean => spec.kind === 'rate' || aggs.some(hasRates)
