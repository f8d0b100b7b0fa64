import type { SpecOf } from '../../../query/aggs/ast.ts'
import { avgOf } from '../../../query/aggs/metrics/avg.ts'
import { extendedStatsOf } from '../../../query/aggs/metrics/extended-stats.ts'
import { maxOf } from '../../../query/aggs/metrics/max.ts'
import { minOf } from '../../../query/aggs/metrics/min.ts'
import type { Totals } from '../../../query/aggs/metrics/moments.ts'
import { statsOf, withBooleans } from '../../../query/aggs/metrics/stats.ts'
import { sumOf } from '../../../query/aggs/metrics/sum.ts'
import type { Metric } from '../../../query/aggs/result.ts'
import { type Answered, countIn, numberIn } from '../answer.ts'
import { inMilliseconds, sourceOf } from '../fields.ts'
import type { ClusterAggregation } from '../kind.ts'
import { askDistinct, distinctIn, mayRepeat, numbersIn, totalsOf } from './distinct.ts'

type Name = 'avg' | 'sum' | 'stats' | 'extended_stats'

/** What follows from count, sum, least, greatest and sum of squares. */
const numbers = <K extends Name>(
  asked: string,
  write: (spec: SpecOf<K>, totals: Totals) => Metric,
): ClusterAggregation<K> => ({
  ask: ({ values }, asking) =>
    mayRepeat(values) ? askDistinct(values, asking) : { [asked]: { ...sourceOf(values), ...inMilliseconds(values) } },
  read: (spec, found, reading) =>
    write(spec, mayRepeat(spec.values) ? totalsOf(numbersIn(distinctIn(found, reading))) : totalsIn(found)),
})

export const totalsIn = (found: Answered | undefined): Totals => ({
  count: countIn(found, 'count'),
  sum: countIn(found, 'sum'),
  sumOfSquares: countIn(found, 'sum_of_squares'),
  min: numberIn(found?.min) ?? Number.POSITIVE_INFINITY,
  max: numberIn(found?.max) ?? Number.NEGATIVE_INFINITY,
})

export const avg = numbers<'avg'>('stats', ({ format }, totals) => avgOf(totals, format))
export const stats = numbers<'stats'>('stats', ({ format, values }, totals) => {
  const metric = statsOf(totals, format)
  return values.type === 'boolean' ? withBooleans(metric) : metric
})
export const extendedStats = numbers<'extended_stats'>('extended_stats', ({ format, sigma, values }, totals) => {
  const metric = extendedStatsOf(totals, sigma, format)
  return values.type === 'boolean' ? withBooleans(metric) : metric
})

/** Of one number, which is null where there are no values. */
const end = <K extends 'min' | 'max'>(
  kind: K,
  write: (value: number | undefined, format: SpecOf<K>['format']) => Metric,
): ClusterAggregation<K> => ({
  ask: ({ values }) => ({ [kind]: { ...sourceOf(values), ...inMilliseconds(values) } }),
  read: ({ format }, found) => write(numberIn(found?.value) ?? undefined, format),
})

export const min = end('min', (value = Number.POSITIVE_INFINITY, format) => minOf({ min: value }, format))
export const max = end('max', (value = Number.NEGATIVE_INFINITY, format) => maxOf({ max: value }, format))

export const plainSum = numbers<'sum'>('stats', ({ format }, { sum }) => sumOf({ sum }, format))
