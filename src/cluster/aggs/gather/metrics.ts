import type { State } from '../../../engine/aggs/aggregator.ts'
import type { Rows } from '../../../engine/aggs/group.ts'
import { countState, exactState, numbersState, valuesState, weightedState } from '../../../engine/aggs/told.ts'
import type { AggregationType, SpecOf } from '../../../query/aggs/ast.ts'
import { type Answered, countIn, listIn, numberIn, objectIn } from '../answer.ts'
import { valueFrom } from '../fields.ts'
import { mayRepeat, totalsOf } from '../kinds/distinct.ts'
import { totalsIn } from '../kinds/numbers.ts'
import { SIGNS } from '../kinds/weighted-avg.ts'
import { refuseMore } from '../most.ts'
import type { Gather, Gathering, Told } from './kind.ts'

interface Metric {
  name: string
  spec: { kind: AggregationType }
}

/** All different values of a bucket above: where the cluster does not tell all, numbers would be estimates. */
const valuesIn = (found: Answered | undefined, { name, spec }: Metric): readonly Answered[] => {
  if (countIn(found, 'sum_other_doc_count') > 0) throw refuseMore({ aggregation: { name, spec } })
  return listIn(found, 'buckets')
}

const rowsOf = (told: Told, metric: Metric, keyOf: (key: unknown) => number): Rows => {
  const all = told.flatMap((found, owner) =>
    valuesIn(found, metric).map(bucket => ({ owner, key: keyOf(bucket.key) + 0, count: countIn(bucket) })),
  )
  return {
    owners: Uint32Array.from(all, ({ owner }) => owner),
    keys: Float64Array.from(all, ({ key }) => key),
    counts: Float64Array.from(all, ({ count }) => count),
  }
}

type Numbers = SpecOf<'avg' | 'sum' | 'stats' | 'extended_stats'>

const numbersOf = (spec: Numbers, told: Told, { name }: Pick<Gathering, 'name'>): State =>
  numbersState(
    told.map(found => {
      if (!mayRepeat(spec.values)) return totalsIn(found)
      const { keys, counts } = rowsOf([found], { name, spec }, key => numberIn(key)!)
      return totalsOf({ values: keys as Float64Array<ArrayBuffer>, counts: counts as Float64Array<ArrayBuffer> })
    }),
  )

export const numbers: Gather<'avg' | 'stats' | 'extended_stats'> = (spec: Numbers, told, gathering) =>
  numbersOf(spec, told, gathering)

export const sum: Gather<'sum'> = (spec, told, gathering) => {
  if (!spec.exact) return numbersOf(spec, told, gathering)
  return exactState(
    told.map(found =>
      valuesIn(found, { name: gathering.name, spec }).reduce(
        (total, bucket) => total + BigInt(String(bucket.key)) * BigInt(countIn(bucket)),
        0n,
      ),
    ),
  )
}

export const weightedAvg: Gather<'weighted_avg'> = ({ value, weight }, told) => {
  const isWhole = value.type === 'long' && weight.type === 'long'
  const [sums, weights] = [new Float64Array(told.length), new Float64Array(told.length)]
  for (const [i, found] of told.entries())
    for (const sign of SIGNS) {
      const made = objectIn(found, sign)
      const of = countIn(objectIn(made, 'weights'), 'value')
      const sum = of === 0 ? 0 : countIn(objectIn(made, 'mean'), 'value') * of
      // Below that, the mean tells the sum to the last digit.
      sums[i]! += isWhole && Math.abs(sum) < 2 ** 50 ? Math.round(sum) : sum
      weights[i]! += of
    }
  return weightedState({ sums, weights })
}

export const ends: Gather<'min' | 'max'> = (_, told) =>
  numbersState(
    told.map(found => {
      const value = numberIn(found?.value)
      return {
        ...{ count: 0, sum: 0, sumOfSquares: 0 },
        ...{ min: value ?? Number.POSITIVE_INFINITY, max: value ?? Number.NEGATIVE_INFINITY },
      }
    }),
  )

export const valueCount: Gather<'value_count'> = (spec, told, { name }) =>
  countState(
    Float64Array.from(told, found =>
      mayRepeat(spec.values)
        ? valuesIn(found, { name, spec }).reduce((count, bucket) => count + countIn(bucket), 0)
        : countIn(found, 'value'),
    ),
  )

export const cardinality: Gather<'cardinality'> = (spec, told, { name, keyOf }) => {
  const rows = rowsOf(told, { name, spec }, key => keyOf([valueFrom(key, spec.values)]))
  return valuesState({ ...rows, counts: new Float64Array(0) })
}

export const percentiles: Gather<AggregationType> = (spec, told, { name }) =>
  valuesState(rowsOf(told, { name, spec }, key => numberIn(key)!))
