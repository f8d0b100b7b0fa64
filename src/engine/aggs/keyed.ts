import {
  bytesOf,
  bytesOfAll,
  collectAll,
  createNumbers,
  finishAll,
  type Inner,
  mergeAll,
  type State,
} from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import type { Grouped, Rows } from './group.ts'
import { createPairs } from './pairs.ts'

/** Buckets by keys, of all buckets of the level above. */
export interface Keyed {
  collect(at: At, batch: Batch): State
  merge(state: State, owners: Uint32Array): void
  /** Adds a bucket without documents, where there is none. */
  add(owner: number, key: number): void
  finish(): void
  /** Numbers of the buckets that lie in one above. */
  in(owner: number): Uint32Array
  readonly keys: Float64Array
  readonly counts: Float64Array
  bytes(): number
}

interface KeyedState extends State, Rows {
  inner: State[]
}

export const createKeyed = (groupOf: (at: At, batch: Batch, wantsInner: boolean) => Grouped, inner: Inner): Keyed => {
  const pairs = createPairs(true)
  const counts = createNumbers()
  let order = new Uint32Array(0)
  let starts = new Uint32Array(1)

  return {
    collect(at, batch): KeyedState {
      const { rows, inner: documents } = groupOf(at, batch, inner.length > 0)
      const states = documents ? collectAll(inner, at, documents) : []
      return { ...rows, inner: states, bytes: bytesOf(states, rows.owners, rows.keys, rows.counts) }
    },
    merge(state, owners) {
      const { owners: rowOwners, keys, counts: more, inner: states } = state as KeyedState
      const numbers = pairs.all(owners, rowOwners, keys)
      counts.reserve(pairs.size)
      const { values } = counts
      for (let i = 0; i < keys.length; i++) values[numbers[i]!]! += more[i]!
      mergeAll(inner, states, numbers)
    },
    add(owner, key) {
      pairs.of(owner, key)
      counts.reserve(pairs.size)
    },
    finish() {
      const { owners, size } = pairs
      let most = 0
      for (let i = 0; i < size; i++) if (owners[i]! >= most) most = owners[i]! + 1
      starts = new Uint32Array(most + 1)
      for (let i = 0; i < size; i++) starts[owners[i]! + 1]!++
      for (let i = 0; i < most; i++) starts[i + 1]! += starts[i]!
      const places = starts.slice()
      order = new Uint32Array(size)
      for (let i = 0; i < size; i++) order[places[owners[i]!]!++] = i
      finishAll(inner, size)
    },
    in: owner => (owner < 0 || owner + 1 >= starts.length ? NONE : order.subarray(starts[owner]!, starts[owner + 1]!)),
    get keys() {
      return pairs.keys
    },
    get counts() {
      return counts.values
    },
    bytes: () => pairs.bytes() + counts.bytes() + bytesOfAll(inner),
  }
}

const NONE = new Uint32Array(0)
