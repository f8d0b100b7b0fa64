import { type AggregationState, sumIn } from './aggregator.ts'
import { edgeOf } from './order.ts'
import { type BucketRows, mergeRows } from './rows.ts'

/** A segment's greatest buckets, which may decide the first buckets of all segments. */
interface Leads {
  keys: Float64Array
  numbers: Float64Array
  /** The upper bound of all other buckets. */
  rest: number
  total: number
  documents: number
}

const LEADS_PER_BUCKET = 8
const MIN_LEADS = 256
/** Pruning does not pay for more shown buckets. */
const MAX_SHOWN_BUCKETS = 1000

/** `numbers` are whole, not negative and additive over segments. */
export const leadsOf = (
  { keys, counts }: Pick<BucketRows, 'keys' | 'counts'>,
  numbers: Float64Array,
  wanted: number,
): Leads | undefined => {
  if (wanted < 1 || wanted > MAX_SHOWN_BUCKETS) return undefined
  const documents = sumIn(counts)
  const total = numbers === counts ? documents : sumIn(numbers)
  const depth = Math.max(MIN_LEADS, LEADS_PER_BUCKET * wanted)
  if (numbers.length <= 2 * depth) return { keys, numbers, rest: 0, total, documents }
  const rest = edgeOf(numbers, depth, false)
  const places = new Uint32Array(depth)
  let size = 0
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! > rest) places[size++] = i
  const leading = places.subarray(0, size)
  return { keys: pickNumbers(keys, leading), numbers: pickNumbers(numbers, leading), rest, total, documents }
}

/** Keys of the first buckets and of possible ties; undefined if unlisted keys may come first. */
export const leadingKeys = (parts: readonly Leads[], wanted: number, check: () => void): Set<number> | undefined => {
  const sum = (of: (leads: Leads) => number) => parts.reduce((sum, leads) => sum + of(leads), 0)
  if (sum(({ total }) => total) > Number.MAX_SAFE_INTEGER) return undefined
  const merged = mergeRows(
    parts.map(({ keys, numbers }) => ({
      rows: { keys, counts: numbers, owners: new Uint32Array(keys.length) },
      owners: ONLY,
    })),
    check,
  )
  // Lower bound: the key's leading numbers. Upper bound: plus the rest of every other segment.
  const { keys, counts: least } = merged
  const most = new Float64Array(least.length).fill(sum(({ rest }) => rest))
  for (const [part, { rest }] of parts.entries()) for (const number of merged.numbers[part]!) most[number]! -= rest
  if (keys.length < wanted) return undefined
  const edge = edgeOf(least, wanted, false)
  if (sum(({ rest }) => rest) >= edge) return undefined
  return new Set(keys.filter((_, i) => least[i]! + most[i]! >= edge))
}

const ONLY = Uint32Array.of(0)

export interface KeyedState extends AggregationState, BucketRows {
  /** Number of owners. */
  above: number
  inner: AggregationState[]
}

/** Buckets of a single owner in narrow arrays, of which mostly the first few are needed. */
export interface NarrowState extends AggregationState {
  leads: Leads
  data: NarrowData
  fullBytes: number
}

/** Arrays indexed by bucket, also those of columnar inner states. */
type StateData = Pick<KeyedState, 'keys' | 'counts' | 'inner'>
type Narrow = Float64Array | Uint32Array | Uint16Array | Uint8Array
type NarrowData = { keys: Narrow; counts: Narrow; inner: unknown }

export const isNarrow = (state: KeyedState | NarrowState): state is NarrowState => 'leads' in state

export const narrowed = ({ keys, counts, inner, bytes: fullBytes }: KeyedState, leads: Leads): NarrowState => {
  let bytes = 200 + leads.keys.byteLength + leads.numbers.byteLength
  const data = mapArrays({ keys, counts, inner }, numbers => {
    const narrow = narrowNumbers(numbers)
    bytes += narrow.byteLength
    return narrow
  }) as NarrowData
  return { leads, data, fullBytes, bytes }
}

/** The same numbers in the smallest possible array. */
const narrowNumbers = (numbers: Narrow): Narrow => {
  let most = 0
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!
    // Minus zero does not fit either.
    if (number >>> 0 !== number || Object.is(number, -0)) return numbers
    if (number > most) most = number
  }
  return most < 2 ** 8
    ? Uint8Array.from(numbers)
    : most < 2 ** 16
      ? Uint16Array.from(numbers)
      : Uint32Array.from(numbers)
}

const dataOf = (state: KeyedState | NarrowState): NarrowData => (isNarrow(state) ? state.data : state)

export const rowsIn = (state: KeyedState | NarrowState, wanted?: ReadonlySet<number>): KeyedState => {
  if (!isNarrow(state) && !wanted) return state
  const { keys, counts, inner } = dataOf(state)
  const places = wanted && placesOfKeys(wanted, keys)
  const full = mapArrays({ keys, counts, inner }, numbers =>
    places ? pickNumbers(numbers, places) : Float64Array.from(numbers),
  ) as StateData
  return { ...full, owners: new Uint32Array(full.keys.length), above: 1, bytes: fullBytesOf(state) }
}

export const fullBytesOf = (state: KeyedState | NarrowState): number =>
  isNarrow(state) ? state.fullBytes : state.bytes
export const rowCountOf = (state: KeyedState | NarrowState): number => dataOf(state).keys.length

const placesOfKeys = (wanted: ReadonlySet<number>, all: Narrow): Uint32Array => {
  for (const key of wanted) marks[key & MASK] = 1
  const places: number[] = []
  for (let i = 0; i < all.length; i++) if (marks[all[i]! & MASK] === 1 && wanted.has(all[i]!)) places.push(i)
  for (const key of wanted) marks[key & MASK] = 0
  return Uint32Array.from(places)
}

/** A filter by the last bits of keys; zeros between two uses. */
const marks = new Uint8Array(2 ** 16)
const MASK = marks.length - 1

const pickNumbers = (all: Narrow, places: Uint32Array): Float64Array<ArrayBuffer> => {
  const picked = new Float64Array(places.length)
  for (let i = 0; i < places.length; i++) picked[i] = all[places[i]!]!
  return picked
}

/** Maps all arrays of numbers in a state. */
const mapArrays = (data: unknown, map: (numbers: Narrow) => Narrow): unknown => {
  if (typeof data !== 'object' || data === null) return data
  if (ArrayBuffer.isView(data)) return map(data as Narrow)
  if (Array.isArray(data)) return data.map(one => mapArrays(one, map))
  return Object.fromEntries(Object.entries(data).map(([name, one]) => [name, mapArrays(one, map)]))
}
