import type { State } from './aggregator.ts'
import type { Rows } from './group.ts'
import { mergeRows } from './merging.ts'
import { edgeOf } from './order.ts'
import { findKeys, type PackedData, type PackedKeys, packData, packKeys, picked, taken, unpackKeys } from './packed.ts'

/** What of a segment's buckets is needed to tell which ones come first in all segments together. */
export interface Leads {
  /** Of the buckets with the greatest numbers. */
  keys: Float64Array
  numbers: Float64Array
  /** No other bucket has more. */
  rest: number
  /** Of all buckets. */
  total: number
  documents: number
}

/** Buckets of a segment that are looked at, for each one that is shown, and at least. */
const TIMES = 8
const LEAST = 256
/** More than these are not told apart in this way. */
const MOST_WANTED = 1000

/** `numbers` are whole and not below 0, and those of a key in all segments add up. */
export const leadsOf = (
  { keys, counts }: Pick<Rows, 'keys' | 'counts'>,
  numbers: Float64Array,
  wanted: number,
): Leads | undefined => {
  if (wanted < 1 || wanted > MOST_WANTED) return undefined
  let total = 0
  let documents = 0
  for (let i = 0; i < counts.length; i++) {
    total += numbers[i]!
    documents += counts[i]!
  }
  const depth = Math.max(LEAST, TIMES * wanted)
  if (numbers.length <= 2 * depth) return { keys, numbers, rest: 0, total, documents }
  const rest = edgeOf(numbers, depth, false)
  const rows = new Uint32Array(depth)
  let size = 0
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! > rest) rows[size++] = i
  const leading = rows.subarray(0, size)
  return { keys: taken(keys, leading), numbers: taken(numbers, leading), rest, total, documents }
}

/**
 * The keys of the first buckets, ascending, and perhaps of some more: those with the greatest numbers, and all that are equal to
 * the last of these. Undefined where the leading buckets of the segments do not tell: where a key that leads nowhere may come first.
 */
export const leadingKeys = (
  parts: readonly Leads[],
  wanted: number,
  check: () => void,
): Float64Array<ArrayBuffer> | undefined => {
  const sum = (of: (leads: Leads) => number) => parts.reduce((sum, leads) => sum + of(leads), 0)
  if (sum(({ total }) => total) > Number.MAX_SAFE_INTEGER) return undefined
  const merged = mergeRows(
    parts.map(({ keys, numbers }) => ({
      rows: { keys, counts: numbers, owners: new Uint32Array(keys.length) },
      owners: ONLY,
    })),
    check,
  )
  // A key has at least what it has where it leads, and at most what is left over everywhere else besides.
  const { keys, counts: least } = merged
  const most = new Float64Array(least.length).fill(sum(({ rest }) => rest))
  for (const [part, { rest }] of parts.entries()) for (const number of merged.numbers[part]!) most[number]! -= rest
  if (keys.length < wanted) return undefined
  const edge = edgeOf(least, wanted, false)
  if (sum(({ rest }) => rest) >= edge) return undefined
  return Float64Array.from(keys.filter((_, i) => least[i]! + most[i]! >= edge)).sort()
}

const ONLY = Uint32Array.of(0)

/** Those of some keys that are there, and their places. */
const placesOf = (wanted: Float64Array, all: Float64Array): { keys: Float64Array; places: Uint32Array } => {
  const known = new Set(wanted)
  for (const key of wanted) marks[key & MASK] = 1
  const places: number[] = []
  for (let i = 0; i < all.length; i++) if (marks[all[i]! & MASK] === 1 && known.has(all[i]!)) places.push(i)
  for (const key of wanted) marks[key & MASK] = 0
  const found = Uint32Array.from(places)
  return { keys: taken(all, found), places: found }
}

/** By the last bits of a key; zeros between two uses. */
const marks = new Uint8Array(2 ** 16)
const MASK = marks.length - 1

/** Buckets by keys in a segment. */
export interface KeyedState extends State, Rows {
  /** Buckets above. */
  above: number
  inner: State[]
}

/** Of one bucket above, where the first few buckets in an order are wanted: most of these are never looked at again. */
export interface LedState extends State {
  leads: Leads
  keys: PackedKeys
  data: PackedData<Pick<KeyedState, 'counts' | 'inner'>>
  /** Bytes of the same as it was. */
  whole: number
}

export const isLed = (state: KeyedState | LedState): state is LedState => 'leads' in state

const rowsOf = (keys: Float64Array, data: Pick<KeyedState, 'counts' | 'inner'>, bytes: number): KeyedState => ({
  ...{ keys, owners: new Uint32Array(keys.length), above: 1, bytes },
  ...data,
})

/** Of all buckets. */
export const rowsIn = (state: KeyedState | LedState): KeyedState =>
  isLed(state) ? rowsOf(unpackKeys(state.keys), state.data.of(), state.whole) : state

/** Of buckets with some ascending keys. */
export const someRowsIn = (state: KeyedState | LedState, wanted: Float64Array): KeyedState => {
  const { keys, places } = isLed(state) ? findKeys(state.keys, wanted) : placesOf(wanted, state.keys)
  if (isLed(state)) return rowsOf(keys, state.data.of(places), state.whole)
  const { counts, inner, bytes } = state
  return rowsOf(keys, picked({ counts, inner }, places), bytes)
}

/** States of aggregations inside of these are columnar. */
export const ledOf = ({ keys: given, counts, inner, bytes: whole }: KeyedState, leads: Leads): LedState => {
  const { packed: keys, order } = packKeys(given)
  const data = packData({ counts, inner }, order)
  const bytes = keys.steps.bytes + leads.keys.byteLength + leads.numbers.byteLength + data.bytes
  return { leads, keys, data, whole, bytes }
}

export const wholeOf = (state: KeyedState | LedState): number => (isLed(state) ? state.whole : state.bytes)

export const sizeOf = (state: KeyedState | LedState): number =>
  isLed(state) ? state.keys.steps.low.length : state.keys.length
