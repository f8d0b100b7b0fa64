import { lowerBound } from '../../lib/bounds.ts'
import { orderOf } from './sorted.ts'

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
export const unpackAt = ({ low, high, mark, places, others }: Packed, wanted: Uint32Array): Float64Array => {
  const numbers = new Float64Array(wanted.length)
  for (let i = 0; i < wanted.length; i++) {
    const place = wanted[i]!
    const word = high ? low[place]! + high[place]! * 0x10000 : low[place]!
    numbers[i] = word === mark ? others[lowerBound(places, place)]! : word
  }
  return numbers
}

/** Different keys that ascend. */
export interface PackedKeys {
  /** How much each is greater than the one before it; the keys themselves where sums of these would be rounded. */
  steps: Packed
  isSummed: boolean
}

/** `order`: the places of the keys in their order; undefined where they ascend. */
export const packKeys = (keys: Float64Array): { packed: PackedKeys; order: Uint32Array | undefined } => {
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

export const unpackKeys = ({ steps, isSummed }: PackedKeys): Float64Array<ArrayBuffer> => {
  const keys = unpack(steps)
  if (isSummed) for (let i = 1; i < keys.length; i++) keys[i]! += keys[i - 1]!
  return keys
}

/** Those of some ascending keys that are there, and their places. */
export const findKeys = (
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
export interface PackedData<T> {
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
