import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createDistinct, createNumberHash } from '../../../src/engine/aggs/cardinality.ts'
import { createExactSum } from '../../../src/engine/aggs/exact-sum.ts'
import { addCompensated } from '../../../src/engine/aggs/metrics.ts'
import { rankOfValue, shorter, sortedOf, valueAtQuantile } from '../../../src/engine/aggs/sorted-values.ts'
import {
  counting,
  extendedStatsOf,
  type MetricTotals,
  percentileRanksOf,
  percentilesOf,
  simpleOf,
  statsOf,
} from '../../../src/query/aggs/metric-results.ts'
import { type Metric, renderResults } from '../../../src/query/aggs/result.ts'
import { randomFrom } from '../../support/random.ts'

const sorted = (values: readonly number[]) => sortedOf(Float64Array.from(values))
const quantiles = (values: readonly number[]) => ({
  quantile: (part: number) => valueAtQuantile(sorted(values), part),
  rank: (value: number) => rankOfValue(sorted(values), value),
})
const rendered = (metric: Metric): string => renderResults(new Map([['m', metric]]), { typedKeys: true }).slice(1, -1)
const compensated = (values: readonly number[]): number => {
  const [sum, lost] = [new Float64Array(1), new Float64Array(1)]
  for (const value of values) addCompensated(sum, lost, 0, value)
  return sum[0]!
}
const totalsOf = (...values: number[]): MetricTotals => ({
  count: values.length,
  sum: compensated(values),
  sumOfSquares: compensated(values.map(value => value * value)),
  min: Math.min(...values),
  max: Math.max(...values),
})
const two = (value: number) => value.toFixed(2)

/** As Elasticsearch 7.17.29 answers. */
test('metrics of nothing, of one value and of some', () => {
  const none = totalsOf()
  assert.equal(rendered(simpleOf('avg', none, two)), '"avg#m":{"value":null}')
  assert.equal(rendered(simpleOf('sum', none, two)), '"sum#m":{"value":0.0,"value_as_string":"0.00"}')
  assert.equal(rendered(simpleOf('min', none, two)), '"min#m":{"value":null}')
  assert.equal(rendered(simpleOf('max', none, two)), '"max#m":{"value":null}')
  assert.equal(rendered(counting('value_count', 0)), '"value_count#m":{"value":0}')
  assert.equal(rendered(statsOf(none, two)), '"stats#m":{"count":0,"min":null,"max":null,"avg":null,"sum":0.0}')
  assert.equal(
    rendered(extendedStatsOf(none, 2, two)),
    '"extended_stats#m":{"count":0,"min":null,"max":null,"avg":null,"sum":0.0,"sum_of_squares":null,"variance":null,"variance_population":null,"variance_sampling":null,"std_deviation":null,"std_deviation_population":null,"std_deviation_sampling":null,"std_deviation_bounds":{"upper":null,"lower":null,"upper_population":null,"lower_population":null,"upper_sampling":null,"lower_sampling":null}}',
  )
  assert.equal(
    rendered(extendedStatsOf(totalsOf(-3), 3, two)),
    '"extended_stats#m":{"count":1,"min":-3.0,"max":-3.0,"avg":-3.0,"sum":-3.0,"min_as_string":"-3.00","max_as_string":"-3.00","avg_as_string":"-3.00","sum_as_string":"-3.00","sum_of_squares":9.0,"variance":0.0,"variance_population":0.0,"variance_sampling":"NaN","std_deviation":0.0,"std_deviation_population":0.0,"std_deviation_sampling":"NaN","std_deviation_bounds":{"upper":-3.0,"lower":-3.0,"upper_population":-3.0,"lower_population":-3.0,"upper_sampling":"NaN","lower_sampling":"NaN"},"sum_of_squares_as_string":"9.00","variance_as_string":"0.00","variance_population_as_string":"0.00","variance_sampling_as_string":"NaN","std_deviation_as_string":"0.00","std_deviation_population_as_string":"0.00","std_deviation_sampling_as_string":"NaN","std_deviation_bounds_as_string":{"upper":"-3.00","lower":"-3.00","upper_population":"-3.00","lower_population":"-3.00","upper_sampling":"NaN","lower_sampling":"NaN"}}',
  )
  const some = extendedStatsOf(totalsOf(1.5, 2.25, -3, 1e10, 0.001, 0.1, 0.2, 123456789.125), 2, undefined)
  assert.equal(
    rendered(some),
    '"extended_stats#m":{"count":8,"min":-3.0,"max":1.0E10,"avg":1.265432098772E9,"sum":1.0123456790176E10,"sum_of_squares":1.0001524157878105E20,"variance":1.0900586800745122E19,"variance_population":1.0900586800745122E19,"variance_sampling":1.2457813486565853E19,"std_deviation":3.301603671058221E9,"std_deviation_population":3.301603671058221E9,"std_deviation_sampling":3.5295627897185583E9,"std_deviation_bounds":{"upper":7.868639440888442E9,"lower":-5.337775243344441E9,"upper_population":7.868639440888442E9,"lower_population":-5.337775243344441E9,"upper_sampling":8.324557678209117E9,"lower_sampling":-5.793693480665116E9}}',
  )
  assert.equal(some.number('std_upper'), 7.868639440888442e9)
  assert.equal(some.number('avg'), 1.265432098772e9)
  assert.deepEqual([some.number(undefined), some.number('value')], [undefined, undefined])
  const mean = simpleOf('avg', totalsOf(2, 3), undefined)
  assert.deepEqual([mean.number(undefined), mean.number('avg')], [2.5, undefined])
})

test('exact sums of integers of any size', () => {
  const numbers = fc.array(fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n })))
  fc.assert(
    fc.property(numbers, all => {
      const sum = createExactSum()
      for (const one of all) sum.add(one)
      assert.equal(
        sum.total(),
        all.reduce((total: bigint, one) => total + BigInt(one), 0n),
      )
    }),
  )
})

/** By the t-digest 3.2 that Elasticsearch 7 uses. */
test('percentiles of few values are those of Hazen', () => {
  const cases: [values: number[], percents: Record<number, number>][] = [
    [[1, 2, 3, 4], { 25: 1.5, 35: 1.9, 50: 2.5, 60: 2.9, 75: 3.5, 90: 4, 100: 4, 0: 1 }],
    [[10, 9, 8, 7, 6, 5, 4, 3, 2, 1], { 25: 3, 35: 4, 60: 6.5, 90: 9.5, 95: 10 }],
    [[9, 1, 5, 1, 5, 1], { 35: 1, 50: 3, 60: 5, 90: 8.6 }],
    [Array.from({ length: 100 }, (_, i) => i + 1), { 1: 1.5, 99: 99.5 }],
    [[1, 1, 1, 5, 5, 9, 9, 9, 12], { 30: 1.799999999999999, 35: 3.5999999999999996, 60: 8.599999999999998, 95: 12 }],
  ]
  for (const [values, percents] of cases) {
    for (const [percent, expected] of Object.entries(percents)) {
      const found = quantiles(values).quantile(Number(percent) / 100)
      assert.ok(Math.abs(found - expected) < 1e-12, `${percent} of ${values}: ${found}`)
    }
  }
})

test('ranks of few values', () => {
  const ranks = (values: number[], of: number[]) =>
    of.map(value => Number((quantiles(values).rank(value) * 100).toFixed(10)))
  assert.deepEqual(
    ranks([1, 1, 1, 5, 5, 9, 9, 9, 12], [0, 0.5, 1, 1.5, 5, 6, 9, 10, 10.4, 10.6, 13]),
    [0, 0, 22.2222222222, 25, 44.4444444444, 50, 77.7777777778, 85.1851851852, 88.1481481481, 100, 100],
  )
  assert.deepEqual(ranks([-3], [0, -3, -4]), [100, 100, 0])
  assert.deepEqual(
    ranks([1, 5, 7, 2, 9, 3, 4, 8], [0.5, 1, 2, 5, 8, 8.4, 8.6]),
    [0, 6.25, 18.75, 54.1666666667, 81.25, 86.25, 100],
  )
  // Above the middle of the two greatest values all lies below.
  assert.deepEqual(
    ranks([10, 20, 40, 80], [10, 25, 59, 60, 61, 80]),
    [12.5, 41.6666666667, 74.1666666667, 100, 100, 100],
  )
  assert.deepEqual(ranks([1, 5, 5], [2, 4, 5]), [25, 50, 100])
})

test('percentiles and ranks as Elasticsearch shows them', () => {
  const of = quantiles([-3])
  assert.equal(
    rendered(percentilesOf(of, [50, 99.9], { keyed: true, format: two })),
    '"tdigest_percentiles#m":{"values":{"50.0":-3.0,"50.0_as_string":"-3.00","99.9":-3.0,"99.9_as_string":"-3.00"}}',
  )
  assert.equal(
    rendered(percentilesOf(of, [50], { keyed: false, format: two })),
    '"tdigest_percentiles#m":{"values":[{"key":50.0,"value":-3.0,"value_as_string":"-3.00"}]}',
  )
  assert.equal(
    rendered(percentileRanksOf(of, [-4, 0], { keyed: true, format: undefined })),
    '"tdigest_percentile_ranks#m":{"values":{"-4.0":0.0,"0.0":100.0}}',
  )
  const none = percentilesOf(quantiles([]), [1], { keyed: true, format: two })
  assert.equal(rendered(none), '"tdigest_percentiles#m":{"values":{"1.0":null}}')
  assert.deepEqual([none.number('1'), none.number('avg'), none.number(undefined)], [null, undefined, undefined])
  assert.equal(percentilesOf(quantiles([1, 2, 3, 4]), [1], { keyed: true, format: two }).number('75.0'), 3.5)
})

/** All values side by side. */
const naive = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = Math.min(sorted.length - 1, Math.max(0, part * sorted.length - 0.5))
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!]
  return low + (high - low) * (at - Math.floor(at))
}

test('quantiles are those of all values side by side', () => {
  const values = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.double({ min: -1e6, max: 1e6, noNaN: true })))
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (values, part) => {
      const found = quantiles(values).quantile(part)
      if (values.length === 0) return assert.ok(Number.isNaN(found))
      assert.ok(Math.abs(found - naive(values, part)) <= 1e-6, `${found} is not ${naive(values, part)}`)
    }),
  )
})

test('of many values a few tell nearly the same', () => {
  const random = randomFrom(7)
  const values = Array.from({ length: 300_000 }, () => Math.exp(3 * random()) * random())
  const [whole, few] = [sorted(values), shorter(sorted(values), 2500)]
  assert.ok(few.values.length <= 2500 && few.total === values.length)
  for (const part of [0, 0.0001, 0.01, 0.25, 0.5, 0.75, 0.99, 0.9999, 1]) {
    const found = valueAtQuantile(few, part)
    assert.ok(
      Math.abs(rankOfValue(whole, found) - part) <= 0.003 * Math.sqrt(part * (1 - part)) + 1e-5,
      `${part}: ${found}`,
    )
    assert.ok(Math.abs(rankOfValue(few, found) - part) < 0.001)
  }
  assert.deepEqual(
    [valueAtQuantile(few, 0), valueAtQuantile(few, 1)],
    [valueAtQuantile(whole, 0), valueAtQuantile(whole, 1)],
  )
})

test('distinct values are counted exactly up to a threshold, and nearly beyond', () => {
  for (const [distinct, exactUpTo] of [
    [0, 10],
    [10, 10],
    [1000, 3000],
    [3000, 3000],
    [3001, 3000],
    [200_000, 3000],
  ] as const) {
    const whole = createDistinct(exactUpTo)
    const add = createNumberHash(whole.add)
    for (let i = 0; i < distinct; i++) {
      add(i * 0.5)
      add(i * 0.5)
    }
    const count = whole.count()
    if (distinct <= exactUpTo) assert.equal(count, distinct)
    else assert.ok(Math.abs(count - distinct) < distinct * 0.012, `${count} of ${distinct}`)
    assert.ok(whole.bytes() <= 70_000)
  }
})
