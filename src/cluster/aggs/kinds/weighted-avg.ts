import type { Values } from '../../../query/aggs/ast.ts'
import { single } from '../../../query/aggs/metrics/metric.ts'
import { notInCluster } from '../../refused.ts'
import { numberIn } from '../answer.ts'
import { fieldOf, sourceOf } from '../fields.ts'
import type { ClusterAggregation } from '../kind.ts'
import { mayRepeat } from './distinct.ts'

export const weightedAvg: ClusterAggregation<'weighted_avg'> = {
  ask({ value, weight }, { isJoined }) {
    const mean = { weighted_avg: { value: part(value), weight: part(weight) } }
    if (!isJoined) return mean
    // What means are made of follows from them and the weights.
    const there = [value, weight].filter(({ missing }) => missing === undefined)
    return {
      filter: { bool: { filter: there.map(values => ({ exists: { field: fieldOf(values) } })) } },
      aggs: { mean, weights: { sum: sourceOf(weight) } },
    }
  },
  read({ format }, found) {
    const value = numberIn(found?.value)
    return single('weighted_avg', value !== null && Number.isFinite(value) ? value : null, format)
  },
}

const part = (values: Values): object => {
  if (mayRepeat(values)) throw notInCluster('a [weighted_avg] of a list', 'use [avg]')
  const { field, missing } = sourceOf(values)
  return { field, ...(missing !== undefined && { missing: Number(missing) }) }
}
