import type { FieldPath } from '../../../mapping/index.ts'
import type { SpecOf } from '../../../query/aggs/ast.ts'
import { sumOf } from '../../../query/aggs/metrics/sum.ts'
import { notInCluster } from '../../refused.ts'
import type { ClusterAggregation } from '../kind.ts'
import { askDistinct, distinctIn } from './distinct.ts'
import { plainSum } from './numbers.ts'

/** With `exact`, from all different values as hex, which also are there of integers that a long does not hold. */
export const sum: ClusterAggregation<'sum'> = {
  ask: (spec, asking) => (spec.exact ? askDistinct(asHex(spec), asking) : plainSum.ask(spec, asking)),
  read(spec, found, reading) {
    if (!spec.exact) return plainSum.read(spec, found, reading)
    let total = 0n
    const { keys, counts } = distinctIn(found, reading)
    for (const [i, key] of keys.entries()) total += BigInt(String(key)) * BigInt(counts[i]!)
    const metric = sumOf({ sum: Number(total) }, spec.format)
    return { ...metric, body: [...metric.body, ['exact_value', String(total)]] }
  },
}

export const asHex = ({ values }: SpecOf<'sum'>): SpecOf<'sum'>['values'] => {
  const { fields, missing } = values
  const all = Object.entries(fields)
  if (all.every(([, { kind, list }]) => kind === 'long' && !list)) return values
  if (typeof missing === 'bigint' && missing < 0n)
    throw notInCluster('a [missing] below 0 of an exact sum', 'leave it out, and subtract it for each document without')
  return {
    fields: Object.fromEntries(all.map(([kind, field]) => [kind, hexOf(field)])),
    type: 'keyword',
    missing: missing === undefined ? undefined : `0x${BigInt(missing).toString(16)}`,
  }
}

const hexOf = (field: FieldPath): FieldPath => {
  // Of arguments it says nothing of the sign.
  if ((field.kind !== 'quantity' && field.kind !== 'amount') || field.list)
    throw notInCluster(`an exact sum of [${field.path}]`, 'leave [exact] out')
  return { ...field, path: `${field.field}.raw`, encoding: 'raw', compare: 'hex', es: 'keyword' }
}
