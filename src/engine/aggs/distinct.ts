import type { SpecOf } from '../../query/aggs/ast.ts'
import { createDistinct, createNumberHash, type Distinct } from '../../query/aggs/metrics/cardinality.ts'
import { counting } from '../../query/aggs/metrics/numbers.ts'
import { type Aggregator, bytesOf, type Context, type State } from './aggregator.ts'
import { group } from './group.ts'
import { sharedKeys } from './keys.ts'
import { mergeRows, type Rows, type ValuesByBucket } from './merging.ts'
import { createSource } from './sources.ts'
import { createValueStore } from './value-store.ts'

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
    merge: (state, owners) => distinct.merge(state as Rows & State, owners),
    finish: distinct.finish,
    result: owner => counting('cardinality', distinct.count(owner)),
    number: distinct.count,
    bytes: () => distinct.bytes() + keys.bytes(),
  }
}

const NO_COUNTS = new Float64Array(0)
/** The part of the memory of a search that one aggregation takes before it sketches. */
export const KEPT = 8

/**
 * Counts different keys in each bucket above: exactly, unless these take more than `most` bytes. Sketches of few keys are exact
 * up to `precision`.
 */
export const createDistinctKeys = (precision: number, most: number, check: () => void) => {
  /** Empty as long as all keys are kept. */
  const sketches: Distinct[] = []
  let target: Distinct
  const addHash = createNumberHash((high, low) => target.add(high, low))
  const sketch = ({ starts, keys }: ValuesByBucket): undefined => {
    for (let owner = 0; owner + 1 < starts.length; owner++) {
      if (starts[owner] === starts[owner + 1]) continue
      target = sketches[owner] ??= createDistinct(Math.min(precision, MOST_PRECISE))
      for (let i = starts[owner]!; i < starts[owner + 1]!; i++) addHash(keys[i]!)
    }
  }
  const store = createValueStore(sketch, { most, least: 5000, check })
  let starts: Uint32Array | undefined
  return {
    merge: (rows: Rows & State, owners: Uint32Array) => store.add({ rows, owners }, rows.bytes),
    finish() {
      const all = mergeRows(store.all(), check)
      store.clear()
      if (sketches.length > 0) sketch(all)
      else starts = all.starts
    },
    count(owner: number): number {
      if (!starts) return sketches[owner]?.count() ?? 0
      return owner < 0 || owner + 1 >= starts.length ? 0 : starts[owner + 1]! - starts[owner]!
    },
    bytes: () => sketches.reduce((sum, one) => sum + (one?.bytes() ?? 0), store.bytes()),
  }
}

/** As in Elasticsearch. */
const MOST_PRECISE = 40_000
