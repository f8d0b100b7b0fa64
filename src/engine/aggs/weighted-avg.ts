import type { SpecOf } from '../../query/aggs/ast.ts'
import { single } from '../../query/aggs/metrics/metric.ts'
import { type Aggregator, bytesOf, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { addTo } from './numbers.ts'
import { createSource } from './sources.ts'
import { gathered } from './values.ts'

export interface Weighted extends State {
  sums: Float64Array
  weights: Float64Array
}

export const createWeightedAvg = ({ value, weight, format }: SpecOf<'weighted_avg'>, context: Context): Aggregator => {
  const [values, weights] = [createSource(value, undefined, context), createSource(weight, undefined, context)]
  const all = { sums: createNumbers(), lost: createNumbers(), weights: createNumbers(), lostWeights: createNumbers() }
  const every = Object.values(all)
  const meanOf = (owner: number): number | null => {
    const total = all.weights.values[owner] ?? 0
    return total === 0 ? null : all.sums.values[owner]! / total
  }
  return {
    collect(at, batch): Weighted {
      const [left, right] = [values, weights].map(source => gathered(source.read(at, batch), batch)) as [
        Float64Array,
        Float64Array,
      ]
      const { owners, buckets, count } = batch
      const [sums, lost] = [new Float64Array(buckets), new Float64Array(buckets)]
      const [sumsOfWeights, lostWeights] = [new Float64Array(buckets), new Float64Array(buckets)]
      for (let i = 0; i < count; i++) {
        const [one, by] = [left[i]!, right[i]!]
        if (Number.isNaN(one) || Number.isNaN(by)) continue
        addTo(sums, lost, owners ? owners[i]! : 0, one * by)
        addTo(sumsOfWeights, lostWeights, owners ? owners[i]! : 0, by)
      }
      return { sums, weights: sumsOfWeights, bytes: bytesOf([], sums, sumsOfWeights) }
    },
    merge(state, owners) {
      const part = state as Weighted
      for (const one of every) one.reserve(lengthFor(owners))
      for (let i = 0; i < owners.length; i++) {
        addTo(all.sums.values, all.lost.values, owners[i]!, part.sums[i]!)
        addTo(all.weights.values, all.lostWeights.values, owners[i]!, part.weights[i]!)
      }
    },
    finish() {},
    result: owner => single('weighted_avg', meanOf(owner), format),
    number: meanOf,
    bytes: () => every.reduce((sum, one) => sum + one.bytes(), 0),
  }
}
