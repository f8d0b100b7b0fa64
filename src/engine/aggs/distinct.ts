import type { SpecOf } from '../../query/aggs/ast.ts'
import { createDistinct, createNumberHash, type Distinct } from '../../query/aggs/metrics/cardinality.ts'
import { counting } from '../../query/aggs/metrics/numbers.ts'
import { type Aggregator, bytesOf, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import { group, type Rows } from './group.ts'
import { sharedKeys } from './keys.ts'
import { mergeRows, type Part } from './merging.ts'
import { createPairs, type Pairs } from './pairs.ts'
import { createSource } from './sources.ts'

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
    result: owner => counting('cardinality', distinct.count(owner)),
    number: distinct.count,
    bytes: () => distinct.bytes() + keys.bytes(),
  }
}

const NO_COUNTS = new Float64Array(0)
/** The part of the memory of a search that one aggregation takes before it sketches. */
const KEPT = 8

/** Counts different keys in each bucket above: exactly, unless there are too many for all to be kept. */
export interface DistinctKeys {
  /** `bytes`: what the rows take. */
  merge(rows: Rows, owners: Uint32Array, bytes: number): void
  /** Once all are there. */
  finish(): void
  count(owner: number): number
  bytes(): number
}

/** `most`: bytes up to which all keys are kept. Sketches of few keys are exact up to `precision`. */
export const createDistinctKeys = (precision: number, most: number, check: () => void): DistinctKeys => {
  let waiting: Part[] = []
  let waitingBytes = 0
  /** Once too many have waited: they are counted as they come. */
  let joined: ReturnType<typeof createJoined> | undefined
  let starts: Uint32Array = new Uint32Array(1)
  return {
    merge(rows, owners, bytes) {
      if (joined) return joined.merge(rows, owners)
      waiting.push({ rows, owners })
      waitingBytes += bytes
      if (waitingBytes <= most) return
      joined = createJoined(precision, most)
      for (const part of waiting) {
        check()
        joined.merge(part.rows, part.owners)
      }
      waiting = []
      waitingBytes = 0
    },
    finish() {
      if (!joined) starts = mergeRows(waiting, check).starts
      waiting = []
      waitingBytes = 0
    },
    count(owner) {
      if (joined) return joined.count(owner)
      return owner < 0 || owner + 1 >= starts.length ? 0 : starts[owner + 1]! - starts[owner]!
    },
    bytes: () => joined?.bytes() ?? waitingBytes + starts.byteLength,
  }
}

const createJoined = (precision: number, most: number) => {
  const counts = createNumbers()
  let above = 0
  /** Undefined once keys are counted by sketches. */
  let pairs: Pairs | undefined = createPairs()
  const sketches: Distinct[] = []
  let target: Distinct
  const addHash = createNumberHash((high, low) => target.add(high, low))
  const addTo = (owner: number, key: number) => {
    target = sketches[owner] ??= createDistinct(Math.min(precision, MOST_PRECISE))
    addHash(key)
  }
  const sketch = ({ size, owners, keys }: Pairs) => {
    for (let i = 0; i < size; i++) addTo(owners[i]!, keys[i]!)
    pairs = undefined
  }
  return {
    merge({ owners: rowOwners, keys }: Rows, owners: Uint32Array) {
      above = Math.max(above, lengthFor(owners))
      counts.reserve(above)
      for (let i = 0; i < keys.length; i++) {
        const owner = owners[rowOwners[i]!]!
        if (!pairs) {
          addTo(owner, keys[i]!)
          continue
        }
        const before = pairs.size
        if (pairs.of(owner, keys[i]!) === before) counts.values[owner]!++
      }
      // Sketches of few keys each would take more than these.
      if (pairs && pairs.bytes() > most && pairs.size >= above * MANY) sketch(pairs)
    },
    count: (owner: number) => (pairs ? (counts.values[owner] ?? 0) : (sketches[owner]?.count() ?? 0)),
    bytes: () => (pairs?.bytes() ?? sketches.reduce((sum, one) => sum + (one?.bytes() ?? 0), 0)) + counts.bytes(),
  }
}

/** Keys of a bucket from which on a sketch is smaller. */
const MANY = 5000
/** As in Elasticsearch. */
const MOST_PRECISE = 40_000
