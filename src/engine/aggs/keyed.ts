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
import { type Merged, mergeRows, upTo } from './merging.ts'
import { createPairs, type Pairs } from './pairs.ts'

/** Buckets by keys, of all buckets of the level above. */
export interface Keyed {
  collect(at: At, batch: Batch): State
  merge(state: State, owners: Uint32Array): void
  /** Adds a bucket without documents, where there is none. */
  add(owner: number, key: number): void
  finish(): void
  /** Numbers of the buckets that lie in one above. From here on: once all is finished. */
  in(owner: number): Uint32Array
  readonly keys: Float64Array
  readonly counts: Float64Array
  bytes(): number
}

export interface KeyedState extends State, Rows {
  inner: State[]
}

/** Bytes of states that wait until all are there, so that they are joined bucket by bucket. */
const WAITING = 64 * 2 ** 20

export const createKeyed = (
  groupOf: (at: At, batch: Batch, wantsInner: boolean) => Grouped,
  inner: Inner,
  check: () => void,
  most = WAITING,
): Keyed => {
  let waiting: { rows: KeyedState; owners: Uint32Array }[] = []
  let waitingBytes = 0
  /** Once too many have waited: all are joined as they come. */
  let joined: Joined | undefined
  let merged: Omit<Merged, 'numbers'> = NOTHING
  let order: Uint32Array = NONE

  const joinAll = (): Joined => {
    if (joined) return joined
    joined = createJoined(inner)
    for (const { rows, owners } of waiting) {
      check()
      joined.merge(rows, owners)
    }
    waiting = []
    waitingBytes = 0
    return joined
  }

  return {
    collect(at, batch): KeyedState {
      const { rows, inner: documents } = groupOf(at, batch, inner.length > 0)
      const states = documents ? collectAll(inner, at, documents) : []
      return { ...rows, inner: states, bytes: bytesOf(states, rows.owners, rows.keys, rows.counts) }
    },
    merge(state, owners) {
      const rows = state as KeyedState
      if (joined) return joined.merge(rows, owners)
      waiting.push({ rows, owners })
      waitingBytes += rows.bytes
      if (waitingBytes > most) joinAll()
    },
    add: (owner, key) => joinAll().add(owner, key),
    finish() {
      if (joined) merged = joined.all()
      else {
        const { numbers, ...all } = mergeRows(waiting, check)
        merged = all
        for (const [i, { rows }] of waiting.entries()) mergeAll(inner, rows.inner, numbers[i]!)
        waiting = []
        waitingBytes = 0
      }
      order = joined ? joined.order(merged.starts) : upTo(merged.keys.length)
      finishAll(inner, merged.keys.length)
    },
    in(owner) {
      const { starts } = merged
      return owner < 0 || owner + 1 >= starts.length ? NONE : order.subarray(starts[owner]!, starts[owner + 1]!)
    },
    get keys() {
      return merged.keys
    },
    get counts() {
      return merged.counts
    },
    bytes() {
      const own = joined ? joined.bytes() : waitingBytes + merged.keys.byteLength * 3
      return own + bytesOfAll(inner)
    },
  }
}

const NONE = new Uint32Array(0)
const NOTHING = { keys: new Float64Array(0), counts: new Float64Array(0), starts: new Uint32Array(1) }

interface Joined {
  merge(state: KeyedState, owners: Uint32Array): void
  add(owner: number, key: number): void
  all(): Omit<Merged, 'numbers'>
  /** Numbers of buckets, those of one above side by side. */
  order(starts: Uint32Array): Uint32Array
  bytes(): number
}

/** Each bucket has a number as soon as it comes. */
const createJoined = (inner: Inner): Joined => {
  const pairs = createPairs(true)
  const counts = createNumbers()
  return {
    merge({ owners: rowOwners, keys, counts: more, inner: states }, owners) {
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
    all: () => ({ keys: pairs.keys, counts: counts.values, starts: startsOf(pairs) }),
    order(starts) {
      const { owners, size } = pairs
      const next = starts.slice()
      const order = new Uint32Array(size)
      for (let i = 0; i < size; i++) order[next[owners[i]!]!++] = i
      return order
    },
    bytes: () => pairs.bytes() + counts.bytes(),
  }
}

const startsOf = ({ owners, size }: Pairs): Uint32Array => {
  let most = 0
  for (let i = 0; i < size; i++) if (owners[i]! >= most) most = owners[i]! + 1
  const starts = new Uint32Array(most + 1)
  for (let i = 0; i < size; i++) starts[owners[i]! + 1]!++
  for (let i = 0; i < most; i++) starts[i + 1]! += starts[i]!
  return starts
}
