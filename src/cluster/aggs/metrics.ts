import type { FieldPath } from '../../mapping/index.ts'
import type { AggregationType, FieldValues, Format, SpecOf } from '../../query/aggs/ast.ts'
import {
  counting,
  extendedStatsOf,
  type MetricTotals,
  percentileRanksOf,
  percentilesOf,
  singleMetric,
  statsOf,
  withBooleans,
} from '../../query/aggs/metric-results.ts'
import type { Metric } from '../../query/aggs/result.ts'
import { notInCluster } from '../deviations.ts'
import { inMilliseconds, valueSource } from './fields.ts'
import { type AggregationAnswer, answerCount, answerList, answerNumber, type ClusterAggregation } from './kind.ts'

const source = (values: FieldValues): object => ({ ...valueSource(values), ...inMilliseconds(values) })

type OfOneNumber = 'avg' | 'min' | 'max' | 'median_absolute_deviation' | 'weighted_avg'

/** Null if there are no values. */
const oneNumber = <K extends OfOneNumber>(kind: K, ask: (spec: SpecOf<K>) => object): ClusterAggregation<K> => ({
  ask: spec => ({ [kind]: ask(spec) }),
  read: (spec, found) => {
    const value = answerNumber(found?.value)
    return singleMetric(
      kind,
      value !== null && Number.isFinite(value) ? value : null,
      (spec as { format: Format }).format,
    )
  },
})

/** OpenSearch has no rates: it gives the total, which `divideRates` divides. */
export const rateTotal: ClusterAggregation<'rate'> = {
  ask: ({ values, counts }) =>
    !values ? { filter: { match_all: {} } } : counts ? { value_count: valueSource(values) } : { sum: source(values) },
  read: ({ values }, found) =>
    singleMetric('rate', (values ? answerNumber(found?.value) : answerCount(found)) ?? 0, undefined),
}

export const avg = oneNumber('avg', ({ values }) => source(values))
export const min = oneNumber('min', ({ values }) => source(values))
export const max = oneNumber('max', ({ values }) => source(values))
export const medianAbsoluteDeviation = oneNumber('median_absolute_deviation', ({ values, compression }) => ({
  ...source(values),
  compression,
}))
export const weightedAvg = oneNumber('weighted_avg', ({ value, weight }) => ({
  value: weighted(value),
  weight: weighted(weight),
}))

const weighted = (values: FieldValues): object => {
  if (Object.values(values.fields).some(({ kind, list }) => kind === 'integers' || (list && !list.nested)))
    throw notInCluster('a [weighted_avg] of a list', 'use [avg]')
  const { field, missing } = valueSource(values)
  return { field, ...(missing !== undefined && { missing: Number(missing) }) }
}

const totalsIn = (found: AggregationAnswer | undefined): MetricTotals => ({
  count: answerCount(found, 'count'),
  sum: answerCount(found, 'sum'),
  sumOfSquares: answerCount(found, 'sum_of_squares'),
  min: answerNumber(found?.min) ?? Number.POSITIVE_INFINITY,
  max: answerNumber(found?.max) ?? Number.NEGATIVE_INFINITY,
})

const totals = <K extends 'stats' | 'extended_stats'>(
  write: (spec: SpecOf<K>, totals: MetricTotals) => Metric,
): ClusterAggregation<K> => ({
  ask: ({ kind, values }) => ({ [kind]: source(values) }),
  read(spec, found) {
    const metric = write(spec, totalsIn(found))
    return spec.values.type === 'boolean' ? withBooleans(metric) : metric
  },
})

export const stats = totals<'stats'>(({ format }, totals) => statsOf(totals, format))
export const extendedStats = totals<'extended_stats'>(({ format, sigma }, totals) =>
  extendedStatsOf(totals, sigma, format),
)

/** Maximum distinct values per answer; a cluster limits buckets to 65,535. */
const MOST_VALUES = 50_000

/** With `exact`, sums distinct hex values, which also exist for integers beyond a long. */
export const sum: ClusterAggregation<'sum'> = {
  ask(spec) {
    if (!spec.exact) return { sum: source(spec.values) }
    const all = { size: MOST_VALUES, shard_size: MOST_VALUES, order: { _key: 'asc' } }
    return { terms: { ...source(asHex(spec)), ...all } }
  },
  read({ exact, format }, found) {
    if (!exact) return singleMetric('sum', answerCount(found, 'value'), format)
    if (answerCount(found, 'sum_other_doc_count') > 0)
      throw notInCluster(`an exact sum of more than ${MOST_VALUES} different values`, 'narrow the query')
    let total = 0n
    for (const bucket of answerList(found, 'buckets')) total += BigInt(String(bucket.key)) * BigInt(answerCount(bucket))
    const metric = singleMetric('sum', Number(total), format)
    return { ...metric, body: [...metric.body, ['exact_value', String(total)]] }
  },
}

const asHex = ({ values }: SpecOf<'sum'>): FieldValues => {
  const { fields, missing } = values
  const all = Object.entries(fields)
  if (all.every(([, { kind, list }]) => kind === 'long' && !list)) return values
  if (typeof missing === 'bigint' && missing < 0n)
    throw notInCluster('a [missing] below 0 of an exact sum', 'leave it out, and subtract it for each document without')
  return {
    fields: Object.fromEntries(all.map(([kind, field]) => [kind, hexField(field)])),
    type: 'keyword',
    missing: missing === undefined ? undefined : `0x${BigInt(missing).toString(16)}`,
  }
}

const hexField = (field: FieldPath): FieldPath => {
  // The hex of event arguments does not show their sign.
  if ((field.kind !== 'quantity' && field.kind !== 'amount') || field.list)
    throw notInCluster(`an exact sum of [${field.path}]`, 'leave [exact] out')
  return { ...field, path: `${field.field}.raw`, encoding: 'raw', compare: 'hex', es: 'keyword' }
}

export const valueCount: ClusterAggregation<'value_count'> = {
  ask: ({ values }) => ({ value_count: valueSource(values) }),
  read({ values, format }, found) {
    const count = answerCount(found, 'value')
    const metric = counting('value_count', count)
    const hasText = format && values.type !== 'date' && values.type !== 'boolean'
    return hasText ? { ...metric, body: [...metric.body, ['value_as_string', format(count)]] } : metric
  },
}

/** Maximum of clusters. */
const MOST_PRECISE = 40_000

export const cardinality: ClusterAggregation<'cardinality'> = {
  ask: ({ values, precision }) =>
    // Each document has a unique id.
    values.meta === '_id'
      ? { value_count: valueSource(values) }
      : { cardinality: { ...source(values), precision_threshold: Math.min(precision, MOST_PRECISE) } },
  read: (_, found) => counting('cardinality', answerCount(found, 'value')),
}

type Percentiles = 'percentiles' | 'percentile_ranks'

const percentilesBy = <K extends Percentiles>(
  of: string,
  write: (at: (key: number) => number, spec: SpecOf<K>) => Metric,
): ClusterAggregation<K> => ({
  ask: (spec: SpecOf<Percentiles>) => ({
    [spec.kind]: {
      ...source(spec.values),
      ...{ [of]: spec.of, keyed: false },
      ...(spec.hdrDigits === undefined
        ? { tdigest: { compression: spec.compression } }
        : { hdr: { number_of_significant_value_digits: spec.hdrDigits } }),
    },
  }),
  read(spec, found) {
    const values = answerList(found, 'values').map(({ key, value }) => [Number(key), answerNumber(value)] as const)
    const at = (wanted: number) => {
      const [, value] = values.find(([key]) => Math.abs(key - wanted) <= 1e-9 * Math.abs(wanted)) ?? []
      return value ?? Number.NaN
    }
    const metric = write(at, spec)
    return spec.hdrDigits === undefined ? metric : { ...metric, type: metric.type.replace('tdigest', 'hdr') }
  },
})

export const percentiles = percentilesBy<'percentiles'>('percents', (at, { of, ...options }) =>
  percentilesOf({ quantile: part => at(part * 100) }, of, options),
)
export const percentileRanks = percentilesBy<'percentile_ranks'>('values', (at, { of, ...options }) =>
  percentileRanksOf({ rank: value => at(value) / 100 }, of, options),
)

const refusedAggregation = <K extends AggregationType>(remedy: string): ClusterAggregation<K> => ({
  ask: ({ kind }) => {
    throw notInCluster(`the aggregation [${kind}]`, remedy)
  },
  read: ({ kind }) => {
    throw new Error(`[${kind}] was not asked for`)
  },
})

export const boxplot = refusedAggregation<'boxplot'>('use [percentiles]')
export const topMetrics = refusedAggregation<'top_metrics'>('use [top_hits] with [_source]')
export const relatives = refusedAggregation<'children' | 'parent'>(
  'search the related documents by has_parent or has_child',
)
