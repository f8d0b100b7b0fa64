import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import {
  type AggregationContext,
  type AggregationState,
  type Aggregator,
  bytesOfAll,
  bytesOfStates,
  collectAll,
  finishAll,
  type InnerAggregators,
  mergeAll,
  resultsOf,
} from './aggregator.ts'
import type { Batch, BatchView } from './batch.ts'
import { type Groups, groupByValue } from './group-by.ts'
import { mergeRows, type RowsPart, rowsOf, upTo, type ValuesByBucket } from './rows.ts'
import {
  fullBytesOf,
  isNarrow,
  type KeyedState,
  leadingKeys,
  leadsOf,
  type NarrowState,
  narrowed,
  rowCountOf,
  rowsIn,
} from './top-terms-pruning.ts'
import type { FoundValues } from './values.ts'

/** Grouping and output of a multi-bucket aggregation. */
export interface Bucketing {
  type: string
  isNamed?: boolean
  group(at: BatchView, batch: Batch, wantsInner: boolean): Groups
  /** Set if only the first buckets by a number are shown. */
  wanted?: FirstBuckets | undefined
  /** Adds buckets without documents, after all segments. */
  complete?(keyed: Keyed, owners: number): void
  /** The shown buckets below one bucket; bucket number -1 has no documents. */
  show(owner: number, keyed: Keyed): BucketPage
  describe(key: number): Pick<Bucket, 'name' | 'key' | 'number'>
  bytes?(): number
}

export type BucketEntry = readonly [key: number, bucket: number]
interface BucketPage extends Partial<Pick<Buckets, 'members' | 'after'>> {
  entries: readonly BucketEntry[]
}

export const createBuckets = (kind: Bucketing, inner: InnerAggregators, context: AggregationContext): Aggregator => {
  const keyed = createKeyed(kind.group, inner, context.reader.check, kind.wanted)
  return {
    collect: keyed.collect,
    ...(kind.wanted && { shrink: keyed.shrink }),
    merge: keyed.merge,
    finish(owners) {
      kind.complete?.(keyed, owners)
      keyed.finish()
    },
    result(owner): Buckets {
      const { entries, ...others } = kind.show(owner, keyed)
      context.count(entries.length)
      return {
        ...{ is: 'buckets', type: kind.type, members: [], keyed: kind.isNamed ?? false, ...others },
        buckets: entries.map(
          ([key, bucket]): Bucket => ({
            ...kind.describe(key),
            docCount: keyed.counts[bucket] ?? 0,
            results: resultsOf(inner, bucket),
          }),
        ),
      }
    },
    number: () => null,
    bytes: () => keyed.bytes() + (kind.bytes?.() ?? 0),
  }
}

export const groupBy =
  (read: (at: BatchView, batch: Batch) => FoundValues): Bucketing['group'] =>
  (at, batch, wantsInner) =>
    groupByValue(read(at, batch), batch, wantsInner)

export const bucketEntries = ({ keys }: Keyed, buckets: readonly number[]): BucketEntry[] =>
  buckets.map(bucket => [keys[bucket]!, bucket])

/** The first buckets by descending numbers. */
export interface FirstBuckets {
  size: number
  /** Numbers by bucket of a segment, if they add up over segments. */
  numbers(state: KeyedState): Float64Array | undefined
}
interface WaitingState {
  state: KeyedState | NarrowState
  owners: Uint32Array
}
/** States up to this size are joined together, bucket by bucket. */
const MAX_WAITING_BYTES = 64 * 2 ** 20
/** Fewer rows are not pruned. */
const MIN_ROWS = 4000
/** Collects buckets by owner and key over all segments. */
export const createKeyed = (
  groupOf: (at: BatchView, batch: Batch, wantsInner: boolean) => Groups,
  inner: InnerAggregators,
  check: () => void,
  wanted?: FirstBuckets,
) => {
  let waiting: WaitingState[] = []
  let waitingBytes = 0
  let merged: ValuesByBucket = NO_BUCKETS
  /** The stable number of each merged bucket. */
  let numberOf: Uint32Array = NO_NUMBERS
  let isJoined = false
  /** All documents, if buckets were pruned. */
  let documents: number | undefined

  const isPicking = inner.every(({ aggregator }) => aggregator.isColumnar)
  const leadsIn = (state: KeyedState | NarrowState) => {
    if (isNarrow(state)) return state.leads
    const numbers = wanted && isPicking && state.above === 1 ? wanted.numbers(state) : undefined
    return numbers && leadsOf(state, numbers, wanted!.size)
  }

  /** The keys of the first buckets below a single owner; undefined if pruning does not pay. */
  const findLeading = () => {
    if (!wanted || isJoined) return undefined
    if (waiting.some(({ owners }) => owners.length !== 1 || owners[0] !== 0)) return undefined
    if (waiting.reduce((sum, { state }) => sum + rowCountOf(state), 0) < MIN_ROWS) return undefined
    const parts = []
    for (const { state } of waiting) {
      check()
      const leads = leadsIn(state)
      if (!leads) return undefined
      parts.push(leads)
    }
    const keys = leadingKeys(parts, wanted.size, check)
    return keys && { keys, documents: parts.reduce((sum, { documents }) => sum + documents, 0) }
  }

  const join = (states: readonly WaitingState[], keys: ReadonlySet<number> | undefined) => {
    const parts = states.map(({ state, owners }) => {
      check()
      return { rows: rowsIn(state, keys), owners }
    })
    if (isJoined) {
      const known: RowsPart = { rows: rowsOf(merged), owners: upTo(merged.starts.length - 1) }
      const { numbers, ...all } = mergeRows([known, ...parts], check)
      numberOf = renumbered(numberOf, numbers.shift()!, all.keys.length)
      merged = all
      for (const [i, { rows }] of parts.entries()) mergeInner(rows, pickWords(numberOf, numbers[i]!))
    } else {
      const { numbers, ...all } = mergeRows(parts, check)
      numberOf = upTo(all.keys.length)
      merged = all
      for (const [i, { rows }] of parts.entries()) mergeInner(rows, numbers[i]!)
    }
    isJoined = true
  }
  const mergeInner = ({ inner: states }: KeyedState, numbers: Uint32Array) => {
    if (states.length > 0) mergeAll(inner, states, numbers)
  }

  /** Joins in chunks, since narrow states expand. */
  const joinWaiting = (keys?: ReadonlySet<number>) => {
    for (let from = 0, to = 0; from < waiting.length; from = to) {
      for (let bytes = 0; to < waiting.length && (keys || bytes <= MAX_WAITING_BYTES); to++)
        bytes += fullBytesOf(waiting[to]!.state)
      join(waiting.slice(from, to), keys)
    }
    waiting = []
    waitingBytes = 0
  }

  const inOne = (owner: number): Uint32Array => {
    const { starts } = merged
    return owner < 0 || owner + 1 >= starts.length ? NO_NUMBERS : numberOf.subarray(starts[owner]!, starts[owner + 1]!)
  }

  return {
    collect(at: BatchView, batch: Batch): KeyedState {
      const { rows, inner: documents } = groupOf(at, batch, inner.length > 0)
      const states = documents ? collectAll(inner, at, documents) : []
      const bytes = bytesOfStates(states, rows.owners, rows.keys, rows.counts)
      return { ...rows, inner: states, above: batch.buckets, bytes }
    },
    shrink(given: AggregationState): AggregationState {
      const state = given as KeyedState | NarrowState
      const leads = isNarrow(state) ? undefined : leadsIn(state)
      return leads ? narrowed(state as KeyedState, leads) : state
    },
    merge(given: AggregationState, owners: Uint32Array) {
      const state = given as KeyedState | NarrowState
      waiting.push({ state, owners })
      waitingBytes += state.bytes
      if (waitingBytes > MAX_WAITING_BYTES) joinWaiting()
    },
    /** Adds empty buckets to all owners. */
    add(keys: Float64Array, above: number) {
      const size = keys.length * above
      const rows = {
        owners: Uint32Array.from({ length: size }, (_, i) => Math.floor(i / keys.length)),
        keys: Float64Array.from({ length: size }, (_, i) => keys[i % keys.length]!),
        counts: new Float64Array(size),
      }
      waiting.push({
        state: { ...rows, inner: [], above, bytes: bytesOfStates([], ...Object.values(rows)) },
        owners: upTo(above),
      })
    },
    finish() {
      const leading = findLeading()
      documents = leading?.documents
      joinWaiting(leading?.keys)
      merged = byNumber(merged, numberOf)
      finishAll(inner, merged.keys.length)
    },
    /** The bucket numbers of an owner, after `finish`, without pruned ones. */
    in: inOne,
    get keys() {
      return merged.keys
    },
    get counts() {
      return merged.counts
    },
    /** The documents of an owner, including those in pruned buckets. */
    documents(owner: number): number {
      if (documents !== undefined) return owner === 0 ? documents : 0
      const buckets = inOne(owner)
      let sum = 0
      for (let i = 0; i < buckets.length; i++) sum += merged.counts[buckets[i]!]!
      return sum
    },
    bytes: () => waitingBytes + merged.keys.byteLength * 3 + bytesOfAll(inner),
  }
}
export type Keyed = ReturnType<typeof createKeyed>
const NO_NUMBERS = new Uint32Array(0)
const NO_BUCKETS = { keys: new Float64Array(0), counts: new Float64Array(0), starts: new Uint32Array(1) }
/** Bucket numbers after a join; `places` are the new places of the known buckets. */
const renumbered = (known: Uint32Array, places: Uint32Array, size: number): Uint32Array => {
  const numberOf = new Uint32Array(size)
  const isKnown = new Uint8Array(size)
  for (let i = 0; i < known.length; i++) {
    numberOf[places[i]!] = known[i]!
    isKnown[places[i]!] = 1
  }
  for (let place = 0, next = known.length; place < size; place++) if (isKnown[place] === 0) numberOf[place] = next++
  return numberOf
}
const pickWords = (all: Uint32Array, places: Uint32Array): Uint32Array => {
  const picked = new Uint32Array(places.length)
  for (let i = 0; i < places.length; i++) picked[i] = all[places[i]!]!
  return picked
}
const byNumber = ({ keys, counts, starts }: ValuesByBucket, numberOf: Uint32Array): ValuesByBucket => {
  const all = { keys: new Float64Array(keys.length), counts: new Float64Array(keys.length), starts }
  for (let i = 0; i < keys.length; i++) {
    all.keys[numberOf[i]!] = keys[i]!
    all.counts[numberOf[i]!] = counts[i]!
  }
  return all
}
