import type { SpecOf } from '../../query/aggs/ast.ts'
import type { Metric } from '../../query/aggs/result.ts'
import { type Aggregator, bytesOf, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { group, type Rows } from './group.ts'
import { createKeys, spaceOf } from './keys.ts'
import { createPairs } from './pairs.ts'
import { createSource } from './sources.ts'
import { eachValue } from './values.ts'

interface CountState extends State {
  counts: Float64Array
}

const metricOf = (type: string, count: number, body: Metric['body']): Metric => ({
  is: 'metric',
  type,
  body,
  number: rest => (rest === undefined || rest === 'value' ? count : undefined),
})

export const createValueCount = ({ values, format }: SpecOf<'value_count'>, context: Context): Aggregator => {
  // Texts are counted without telling them apart.
  const keys = values.type === 'keyword' ? context.shared(() => createKeys(spaceOf(values), context.reader)) : undefined
  const source = createSource(values, keys, context)
  const counts = createNumbers()
  return {
    collect(at, batch): CountState {
      const here = new Float64Array(batch.buckets)
      const { owners } = batch
      eachValue(source.read(at, batch), batch, i => {
        here[owners ? owners[i]! : 0]!++
      })
      return { counts: here, bytes: bytesOf([], here) }
    },
    merge(state, owners) {
      counts.reserve(lengthFor(owners))
      for (let i = 0; i < owners.length; i++) counts.values[owners[i]!]! += (state as CountState).counts[i]!
    },
    finish() {},
    result(owner) {
      const count = counts.values[owner] ?? 0
      return metricOf('value_count', count, [
        ['value', BigInt(count)],
        ...(format && values.type !== 'date' && values.type !== 'boolean'
          ? [['value_as_string', format(count)] as [string, string]]
          : []),
      ])
    },
    number: owner => counts.values[owner] ?? 0,
    bytes: () => counts.bytes(),
  }
}

/** Exact, so long as memory lasts. */
export const createCardinality = ({ values }: SpecOf<'cardinality'>, context: Context): Aggregator => {
  const keys = context.shared(() => createKeys(spaceOf(values), context.reader))
  const source = createSource(values, keys, context)
  const pairs = createPairs()
  const counts = createNumbers()
  return {
    collect(at, batch): Rows & State {
      const { rows } = group(source.read(at, batch), batch, false)
      const plain = { ...rows, counts: NO_COUNTS }
      return { ...plain, bytes: bytesOf([], rows.owners, rows.keys) }
    },
    merge(state, owners) {
      const { owners: rowOwners, keys: rowKeys } = state as Rows & State
      counts.reserve(lengthFor(owners))
      for (let i = 0; i < rowKeys.length; i++) {
        const owner = owners[rowOwners[i]!]!
        const before = pairs.size
        if (pairs.of(owner, rowKeys[i]!) === before) counts.values[owner]!++
      }
    },
    finish() {},
    result(owner) {
      const count = counts.values[owner] ?? 0
      return metricOf('cardinality', count, [['value', BigInt(count)]])
    },
    number: owner => counts.values[owner] ?? 0,
    bytes: () => pairs.bytes() + counts.bytes() + keys.bytes(),
  }
}

const NO_COUNTS = new Float64Array(0)
