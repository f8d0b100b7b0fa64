import type { SpecOf } from '../../query/aggs/ast.ts'
import { cardinalityOf } from '../../query/aggs/metrics/cardinality.ts'
import { valueCountOf } from '../../query/aggs/metrics/value-count.ts'
import { type Aggregator, bytesOf, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { createDistinctKeys } from './distinct.ts'
import { group, type Rows } from './group.ts'
import { sharedKeys } from './keys.ts'
import { packArrays, taken } from './packed.ts'
import { createSource } from './sources.ts'
import { eachValue } from './values.ts'

export interface CountState extends State {
  counts: Float64Array
}

export const createValueCount = ({ values, format }: SpecOf<'value_count'>, context: Context): Aggregator => {
  // Texts are counted without telling them apart.
  const keys = values.type === 'keyword' ? sharedKeys(values, context) : undefined
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
    pick(state, buckets): CountState {
      const { counts, bytes } = state as CountState
      return { counts: taken(counts, buckets), bytes }
    },
    pack(state, order) {
      const { counts, bytes } = state as CountState
      const packed = packArrays({ counts }, order)
      return { ...packed, of: (places): CountState => ({ ...packed.of(places), bytes }) }
    },
    summands: (state, rest) => (rest === undefined || rest === 'value' ? (state as CountState).counts : undefined),
    finish() {},
    result(owner) {
      const count = counts.values[owner] ?? 0
      const metric = valueCountOf(count)
      const hasText = format && values.type !== 'date' && values.type !== 'boolean'
      return hasText ? { ...metric, body: [...metric.body, ['value_as_string', format(count)]] } : metric
    },
    number: owner => counts.values[owner] ?? 0,
    bytes: () => counts.bytes(),
  }
}

export const createCardinality = ({ values, precision }: SpecOf<'cardinality'>, context: Context): Aggregator => {
  const keys = sharedKeys(values, context)
  const source = createSource(values, keys, context)
  const distinct = createDistinctKeys(precision, context.limits.aggregationMemory / KEPT, context.reader.check)
  return {
    collect(at, batch): Rows & State {
      const { rows } = group(source.read(at, batch), batch, false)
      const plain = { ...rows, counts: NO_COUNTS }
      return { ...plain, bytes: bytesOf([], rows.owners, rows.keys) }
    },
    merge: (state, owners) => distinct.merge(state as Rows & State, owners, state.bytes),
    finish: distinct.finish,
    result: owner => cardinalityOf(distinct.count(owner)),
    number: distinct.count,
    keyOf: ([value]) => keys.of(value!),
    bytes: () => distinct.bytes() + keys.bytes(),
  }
}

const NO_COUNTS = new Float64Array(0)
/** The part of the memory of a search that one aggregation takes before it sketches. */
const KEPT = 8
