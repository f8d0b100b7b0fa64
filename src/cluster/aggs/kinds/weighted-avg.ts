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
    // What means are made of follows from them and the weights, where these do not cancel out.
    const there = [value, weight].filter(({ missing }) => missing === undefined)
    const made = { mean, weights: { sum: sourceOf(weight) } }
    return {
      filter: { bool: { filter: there.map(existsIn) } },
      aggs: Object.fromEntries(SIGNS.map(sign => [sign, { filter: hasSign(sign, weight), aggs: made }])),
    }
  },
  read({ format }, found) {
    const value = numberIn(found?.value)
    return single('weighted_avg', value !== null && Number.isFinite(value) ? value : null, format)
  },
}

/** Weights on either side of 0. */
export const SIGNS = ['gt', 'lt'] as const

const hasSign = (sign: (typeof SIGNS)[number], weight: Values): object => {
  const { type, missing } = weight
  const format = type === 'date' ? { format: 'epoch_millis' } : {}
  const has =
    type === 'boolean'
      ? { terms: { [fieldOf(weight)]: sign === 'gt' ? [true] : [] } }
      : { range: { [fieldOf(weight)]: { [sign]: 0, ...format } } }
  const counts = missing !== undefined && (sign === 'gt' ? Number(missing) > 0 : Number(missing) < 0)
  return counts ? { bool: { should: [has, { bool: { must_not: existsIn(weight) } }] } } : has
}

const existsIn = (values: Values): object => ({ exists: { field: fieldOf(values) } })

const part = (values: Values): object => {
  if (mayRepeat(values)) throw notInCluster('a [weighted_avg] of a list', 'use [avg]')
  const { field, missing } = sourceOf(values)
  return { field, ...(missing !== undefined && { missing: Number(missing) }) }
}
