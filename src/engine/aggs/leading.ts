import { lowerBound } from '../../lib/arrays.ts'
import type { State } from './aggregator.ts'
import type { Rows } from './group.ts'
import { mergeRows } from './merging.ts'
import { edgeOf } from './order.ts'
import { orderOf } from './sorted.ts'

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

/** Numbers in few bytes each, where most are small whole ones from 0 on. Any double comes back as it was. */
export interface Packed {
  /** The lower bits of each, or the numbers themselves. */
  low: Uint8Array | Uint16Array | Float64Array
  /** The upper bits, where 16 are not enough. */
  high: Uint8Array | Uint16Array | undefined
  /** What stands for a number that does not fit; these stand apart, in their order. */
  mark: number
  places: Uint32Array
  others: Float64Array
  bytes: number
}

/** Bytes of a number, and what stands for those that do not fit. */
const WIDTHS = [1, 2, 3, 4].map(width => ({ width, mark: 2 ** (8 * width) - 1 }))
/** Bytes of a number that stands apart. */
const APART = 12

/** Minus zero does not. */
const fits = (number: number, mark: number): boolean =>
  number >>> 0 === number && number < mark && (number !== 0 || 1 / number > 0)

export const pack = (numbers: Float64Array): Packed => {
  const size = numbers.length
  const beyond = [0, 0, 0, 0]
  for (let i = 0; i < size; i++) {
    const number = numbers[i]!
    if (fits(number, 0xff)) continue
    beyond[0]!++
    if (fits(number, 0xffff)) continue
    beyond[1]!++
    if (fits(number, 0xffffff)) continue
    beyond[2]!++
    if (!fits(number, 0xffffffff)) beyond[3]!++
  }
  const costs = WIDTHS.map(({ width }, i) => width * size + APART * beyond[i]!)
  const cost = Math.min(...costs)
  if (cost >= 8 * size) return asGiven(numbers)
  const at = costs.indexOf(cost)
  const { width, mark } = WIDTHS[at]!
  const low = width === 1 ? new Uint8Array(size) : new Uint16Array(size)
  const high = width === 3 ? new Uint8Array(size) : width === 4 ? new Uint16Array(size) : undefined
  const places = new Uint32Array(beyond[at]!)
  const others = new Float64Array(beyond[at]!)
  let apart = 0
  for (let i = 0; i < size; i++) {
    const number = numbers[i]!
    const isApart = !fits(number, mark)
    if (isApart) {
      places[apart] = i
      others[apart++] = number
    }
    const word = isApart ? mark : number
    low[i] = word
    if (high) high[i] = word >>> 16
  }
  return { low, high, mark, places, others, bytes: cost }
}

const asGiven = (low: Float64Array): Packed => ({
  ...{ low, high: undefined, mark: Number.POSITIVE_INFINITY, bytes: low.byteLength },
  ...{ places: new Uint32Array(0), others: new Float64Array(0) },
})

export const unpack = ({ low, high, places, others }: Packed): Float64Array<ArrayBuffer> => {
  const numbers = Float64Array.from(low)
  if (high) for (let i = 0; i < numbers.length; i++) numbers[i]! += high[i]! * 0x10000
  for (let i = 0; i < places.length; i++) numbers[places[i]!] = others[i]!
  return numbers
}

/** What stands at some places. */
const unpackAt = ({ low, high, mark, places, others }: Packed, wanted: Uint32Array): Float64Array => {
  const numbers = new Float64Array(wanted.length)
  for (let i = 0; i < wanted.length; i++) {
    const place = wanted[i]!
    const word = high ? low[place]! + high[place]! * 0x10000 : low[place]!
    numbers[i] = word === mark ? others[lowerBound(places, place)]! : word
  }
  return numbers
}

/** Different keys that ascend. */
interface PackedKeys {
  /** How much each is greater than the one before it; the keys themselves where sums of these would be rounded. */
  steps: Packed
  isSummed: boolean
}

/** `order`: the places of the keys in their order; undefined where they ascend. */
const packKeys = (keys: Float64Array): { packed: PackedKeys; order: Uint32Array | undefined } => {
  const order = orderOf(keys)
  const ordered = order ? taken(keys, order) : keys
  const steps = new Float64Array(keys.length)
  let before = 0
  let isSummed = true
  for (let i = 0; i < steps.length; i++) {
    steps[i] = ordered[i]! - before
    if (before + steps[i]! !== ordered[i]) isSummed = false
    before = ordered[i]!
  }
  return { packed: { steps: pack(isSummed ? steps : ordered), isSummed }, order }
}

const unpackKeys = ({ steps, isSummed }: PackedKeys): Float64Array<ArrayBuffer> => {
  const keys = unpack(steps)
  if (isSummed) for (let i = 1; i < keys.length; i++) keys[i]! += keys[i - 1]!
  return keys
}

/** Those of some ascending keys that are there, and their places. */
const findKeys = (
  { steps: { low, high, mark, others }, isSummed }: PackedKeys,
  wanted: Float64Array,
): { keys: Float64Array; places: Uint32Array } => {
  const keys = new Float64Array(wanted.length)
  const places = new Uint32Array(wanted.length)
  let size = 0
  let apart = 0
  let key = 0
  let next = 0
  for (let i = 0; i < low.length && next < wanted.length; i++) {
    let step = low[i]!
    if (high) step += high[i]! * 0x10000
    if (step === mark) step = others[apart++]!
    key = isSummed ? key + step : step
    while (wanted[next]! < key) next++
    if (wanted[next] !== key) continue
    keys[size] = key
    places[size++] = i
  }
  return { keys: keys.subarray(0, size), places: places.subarray(0, size) }
}

/** What stands at some places. */
export const taken = (all: Float64Array, places: Uint32Array): Float64Array<ArrayBuffer> => {
  const found = new Float64Array(places.length)
  for (let i = 0; i < places.length; i++) found[i] = all[places[i]!]!
  return found
}

/** The same data with other things in place of its arrays of numbers. */
const mapArrays = (data: unknown, map: (one: Float64Array | Packed) => unknown): unknown => {
  if (typeof data !== 'object' || data === null) return data
  if (data instanceof Float64Array || 'low' in data) return map(data as Float64Array | Packed)
  if (Array.isArray(data)) return data.map(one => mapArrays(one, map))
  return Object.fromEntries(Object.entries(data).map(([name, one]) => [name, mapArrays(one, map)]))
}

/** Data whose arrays have a place for each bucket, of some buckets. */
export const picked = <T>(data: T, places: Uint32Array): T =>
  mapArrays(data, all => taken(all as Float64Array, places)) as T

/** Such data in few bytes. */
interface PackedData<T> {
  bytes: number
  /** Of some buckets; without places of all. */
  of(places?: Uint32Array): T
}

/** The buckets are put into an order. */
export const packData = <T>(data: T, order: Uint32Array | undefined): PackedData<T> => {
  let bytes = 200
  const packed = mapArrays(data, all => {
    const one = pack(order ? taken(all as Float64Array, order) : (all as Float64Array))
    bytes += one.bytes
    return one
  })
  const numbersOf = (places: Uint32Array | undefined) => (one: Float64Array | Packed) =>
    places ? unpackAt(one as Packed, places) : unpack(one as Packed)
  return { bytes, of: places => mapArrays(packed, numbersOf(places)) as T }
}
