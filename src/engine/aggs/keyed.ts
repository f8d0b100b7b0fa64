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
import type { Grouped } from './group.ts'
import {
  isLed,
  type KeyedState,
  type Leads,
  type LedState,
  leadingKeys,
  leadsOf,
  ledOf,
  rowsIn,
  sizeOf,
  someRowsIn,
  wholeOf,
} from './leading.ts'
import { createPairs, type Merged, mergeRows, type Pairs, upTo } from './merging.ts'

/** Of an order that begins with the greatest numbers, and of which the first few are wanted. */
export interface Wanted {
  size: number
  /** By bucket of a segment, where these add up from segment to segment; undefined where they do not. */
  numbers(state: KeyedState): Float64Array | undefined
}

interface Waiting {
  state: KeyedState | LedState
  owners: Uint32Array
}

/** Bytes of states that wait until all are there, so that they are joined bucket by bucket. */
const WAITING = 64 * 2 ** 20

/** Collects buckets by keys, of all buckets of the level above. */
export const createKeyed = (
  groupOf: (at: At, batch: Batch, wantsInner: boolean) => Grouped,
  inner: Inner,
  check: () => void,
  wanted?: Wanted,
) => {
  let waiting: Waiting[] = []
  let waitingBytes = 0
  /** Once too many have waited: all are joined as they come. */
  let joined: ReturnType<typeof createJoined> | undefined
  let merged: Omit<Merged, 'numbers'> = NOTHING
  let order: Uint32Array = NONE
  /** Where buckets were left out: there is one above. */
  let documents: number | undefined

  const joinAll = () => {
    if (joined) return joined
    joined = createJoined(inner)
    for (const { state, owners } of waiting) {
      check()
      joined.merge(rowsIn(state), owners)
    }
    waiting = []
    waitingBytes = 0
    return joined
  }

  const isPicking = inner.every(({ aggregator }) => aggregator.isColumnar)
  const leadsIn = (state: KeyedState | LedState): Leads | undefined => {
    if (isLed(state)) return state.leads
    const numbers = wanted && isPicking && state.above === 1 ? wanted.numbers(state) : undefined
    return numbers && leadsOf(state, numbers, wanted!.size)
  }
  const inOne = (owner: number): Uint32Array => {
    const { starts } = merged
    return owner < 0 || owner + 1 >= starts.length ? NONE : order.subarray(starts[owner]!, starts[owner + 1]!)
  }

  return {
    collect(at: At, batch: Batch): KeyedState {
      const { rows, inner: documents } = groupOf(at, batch, inner.length > 0)
      const states = documents ? collectAll(inner, at, documents) : []
      const bytes = bytesOf(states, rows.owners, rows.keys, rows.counts)
      return { ...rows, inner: states, above: batch.buckets, bytes }
    },
    /** The same in fewer bytes, where only the first few buckets are wanted. */
    shrink(given: State): State {
      const state = given as KeyedState | LedState
      const leads = isLed(state) ? undefined : leadsIn(state)
      return leads ? ledOf(state as KeyedState, leads) : state
    },
    merge(given: State, owners: Uint32Array) {
      const state = given as KeyedState | LedState
      if (joined) return joined.merge(rowsIn(state), owners)
      waiting.push({ state, owners })
      waitingBytes += state.bytes
      if (waitingBytes > WAITING) joinAll()
    },
    /** Adds a bucket without documents, where there is none. */
    add: (owner: number, key: number) => joinAll().add(owner, key),
    finish() {
      const leading = wanted && !joined ? leadingOf(waiting, { size: wanted.size, leadsIn }, check) : undefined
      documents = leading?.documents
      if (!leading && waiting.reduce((sum, { state }) => sum + wholeOf(state), 0) > WAITING) joinAll()
      if (joined) merged = joined.all()
      else {
        const parts = waiting.map(({ state, owners }) => {
          check()
          return { rows: leading ? someRowsIn(state, leading.keys) : rowsIn(state), owners }
        })
        waiting = []
        waitingBytes = 0
        const { numbers, ...all } = mergeRows(parts, check)
        merged = all
        for (const [i, { rows }] of parts.entries()) mergeAll(inner, rows.inner, numbers[i]!)
      }
      order = joined ? joined.order(merged.starts) : upTo(merged.keys.length)
      finishAll(inner, merged.keys.length)
    },
    /** Numbers of the buckets that lie in one above, once all is finished. Those that nobody wants are left out. */
    in: inOne,
    get keys() {
      return merged.keys
    },
    get counts() {
      return merged.counts
    },
    /** Documents in all buckets that lie in one above, also in those that are left out. */
    documents(owner: number): number {
      if (documents !== undefined) return owner === 0 ? documents : 0
      const buckets = inOne(owner)
      let sum = 0
      for (let i = 0; i < buckets.length; i++) sum += merged.counts[buckets[i]!]!
      return sum
    },
    bytes(): number {
      const own = joined ? joined.bytes() : waitingBytes + merged.keys.byteLength * 3
      return own + bytesOfAll(inner)
    },
  }
}

export type Keyed = ReturnType<typeof createKeyed>

/** The keys of the buckets that come first, where only one bucket lies above; undefined where leaving out the others does not pay. */
const leadingOf = (
  waiting: readonly Waiting[],
  { size, leadsIn }: { size: number; leadsIn(state: KeyedState | LedState): Leads | undefined },
  check: () => void,
): { keys: Float64Array; documents: number } | undefined => {
  if (waiting.some(({ owners }) => owners.length !== 1 || owners[0] !== 0)) return undefined
  if (waiting.reduce((sum, { state }) => sum + sizeOf(state), 0) < FEW) return undefined
  const parts: Leads[] = []
  for (const { state } of waiting) {
    check()
    const leads = leadsIn(state)
    if (!leads) return undefined
    parts.push(leads)
  }
  const keys = leadingKeys(parts, size, check)
  return keys && { keys, documents: parts.reduce((sum, { documents }) => sum + documents, 0) }
}

const FEW = 4000

const NONE = new Uint32Array(0)
const NOTHING = { keys: new Float64Array(0), counts: new Float64Array(0), starts: new Uint32Array(1) }

/** Each bucket has a number as soon as it comes. */
const createJoined = (inner: Inner) => {
  const pairs = createPairs()
  const counts = createNumbers()
  return {
    merge({ owners: rowOwners, keys, counts: more, inner: states }: KeyedState, owners: Uint32Array) {
      const numbers = pairs.all(owners, rowOwners, keys)
      counts.reserve(pairs.size)
      const { values } = counts
      for (let i = 0; i < keys.length; i++) values[numbers[i]!]! += more[i]!
      mergeAll(inner, states, numbers)
    },
    add(owner: number, key: number) {
      pairs.of(owner, key)
      counts.reserve(pairs.size)
    },
    all: () => ({ keys: pairs.keys, counts: counts.values, starts: startsOf(pairs) }),
    /** Numbers of buckets, those of one above side by side. */
    order(starts: Uint32Array): Uint32Array {
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
