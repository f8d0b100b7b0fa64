import { upperBound } from '../../lib/arrays.ts'
import { MISSING } from '../index/column-codec.ts'
import type { Batch } from './batch.ts'
import { upTo } from './rows.ts'
import { codesIn, type RawNumbers } from './values.ts'

/** Distinct ascending values. */
export interface Sorted {
  values: Float64Array<ArrayBuffer>
  /** Cumulative counts. */
  ends: Float64Array
  total: number
}

/** Turns `counts` into the ends, in place. */
const sortedFrom = (values: Float64Array<ArrayBuffer>, counts: Float64Array): Sorted => {
  const ends = counts
  let total = 0
  for (let i = 0; i < counts.length; i++) {
    total += counts[i]!
    ends[i] = total
  }
  return { values, ends, total }
}

export const countsFrom = (ends: Float64Array): Float64Array => {
  const counts = ends.slice()
  for (let i = counts.length - 1; i > 0; i--) counts[i]! -= counts[i - 1]!
  return counts
}

/** Joins equal neighbours of ascending values, in place. */
const withoutTwins = (values: Float64Array<ArrayBuffer>, counts: Float64Array<ArrayBuffer>): Sorted => {
  let kept = 0
  for (let i = 0; i < values.length; i++) {
    if (i > 0 && values[i] === values[kept - 1]) counts[kept - 1]! += counts[i]!
    else {
      values[kept] = values[i]!
      counts[kept] = counts[i]!
      kept++
    }
  }
  return sortedFrom(values.slice(0, kept), counts.slice(0, kept))
}

/** Sorts values; without `counts` each counts once. */
export const sortedOf = (values: Float64Array, counts?: Float64Array): Sorted => {
  const places = sortedPlaces(values)
  const ordered = [new Float64Array(values.length), new Float64Array(values.length)] as const
  for (let i = 0; i < places.length; i++) {
    ordered[0][i] = values[places[i]!]!
    ordered[1][i] = counts ? counts[places[i]!]! : 1
  }
  return withoutTwins(...ordered)
}

export const areWords = (values: Float64Array): boolean => {
  for (let i = 0; i < values.length; i++) if (values[i]! >>> 0 !== values[i]) return false
  return true
}

/** Fewer values are sorted by comparison. */
const MIN_BY_DIGITS = 512
const DIGIT_BITS = 11
const DIGITS = 2 ** DIGIT_BITS

/** The places of values in ascending order, by a radix sort. */
const sortedPlaces = (values: Float64Array): Uint32Array => {
  const size = values.length
  let places = upTo(size)
  if (size < MIN_BY_DIGITS) return places.sort((a, b) => values[a]! - values[b]!)
  let [otherWords, otherPlaces] = [new Uint32Array(size), new Uint32Array(size)]
  const next = new Uint32Array(DIGITS)
  for (const part of areWords(values) ? [Uint32Array.from(values)] : orderedBits(values)) {
    let words = new Uint32Array(size)
    for (let i = 0; i < size; i++) words[i] = part[places[i]!]!
    for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
      next.fill(0)
      for (let i = 0; i < size; i++) next[(words[i]! >>> shift) & (DIGITS - 1)]!++
      if (next[(words[0]! >>> shift) & (DIGITS - 1)] === size) continue
      for (let digit = 0, sum = 0; digit < DIGITS; digit++) {
        const count = next[digit]!
        next[digit] = sum
        sum += count
      }
      for (let i = 0; i < size; i++) {
        const place = next[(words[i]! >>> shift) & (DIGITS - 1)]!++
        otherWords[place] = words[i]!
        otherPlaces[place] = places[i]!
      }
      ;[words, otherWords] = [otherWords, words]
      ;[places, otherPlaces] = [otherPlaces, places]
    }
  }
  return places
}

/** Halves of doubles whose bits compare as the numbers do. */
const orderedBits = (values: Float64Array): [low: Uint32Array, high: Uint32Array] => {
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length)
  const [low, high] = [new Uint32Array(values.length), new Uint32Array(values.length)]
  for (let i = 0; i < values.length; i++) {
    const isNegative = words[2 * i + 1]! >>> 31 === 1
    low[i] = isNegative ? ~words[2 * i]! : words[2 * i]!
    high[i] = isNegative ? ~words[2 * i + 1]! : words[2 * i + 1]! | 0x80000000
  }
  return [low, high]
}

/** Joins neighbours into at most `most` means like a t-digest: fewer near the ends, which stay. */
export const shorter = (sorted: Sorted, most: number): Sorted => {
  const { ends, total } = sorted
  const last = ends.length - 1
  if (last < most) return sorted
  const step = (2 * Math.PI) / most
  const limitFrom = (part: number) => {
    const angle = Math.asin(2 * part - 1) + step
    return angle >= Math.PI / 2 ? total : ((Math.sin(angle) + 1) / 2) * total
  }
  const means = sorted.values.slice()
  const counts = countsFrom(ends)
  let to = 0
  let limit = 0
  for (let i = 1; i <= last; i++) {
    if (to > 0 && i < last && ends[i]! <= limit) {
      means[to]! += ((means[i]! - means[to]!) * counts[i]!) / (counts[to]! + counts[i]!)
      counts[to]! += counts[i]!
      continue
    }
    limit = limitFrom(Math.min(1, ends[i - 1]! / total))
    to++
    means[to] = means[i]!
    counts[to] = counts[i]!
  }
  return sortedFrom(means.slice(0, to + 1), counts.slice(0, to + 1))
}

/** Hazen's rule, as of a t-digest whose centroids are single values. */
const hazen = (total: number, part: number, at: (place: number) => number): number => {
  const place = part * total - 0.5
  const below = Math.floor(place)
  const [low, high] = [below, below + 1].map(one => at(Math.max(0, Math.min(total - 1, one)))) as [number, number]
  const share = place - below
  return low === high ? low : low + (high - low) * share
}

export const valueAtQuantile = (sorted: Sorted, part: number): number =>
  sorted.total === 0 ? Number.NaN : hazen(sorted.total, part, place => sorted.values[upperBound(sorted.ends, place)]!)

/** The share of values below one, as a t-digest of single values computes it. */
export const rankOfValue = ({ values, ends, total }: Sorted, value: number): number => {
  if (total === 0) return Number.NaN
  if (total === 1 || values.length === 1) return value < values[0]! ? 0 : 1
  if (value < values[0]!) return 0
  let low = 0
  let high = values.length - 1
  // The first value above the middle between the previous one and it.
  while (low < high) {
    const middle = (low + high) >>> 1
    if (value < (values[middle]! + values[middle + 1]!) / 2) high = middle
    else low = middle + 1
  }
  const own = values[low]!
  const before = low === 0 ? 0 : ends[low - 1]!
  const count = ends[low]! - before
  const isLast = low === values.length - 1
  // As in Elasticsearch, everything is below the middle of the two greatest values.
  if (isLast && (count === 1 || value >= own)) return 1
  const right = isLast ? 0 : (values[low + 1]! - own) / 2
  const left = low === 0 ? (count === 1 ? right : 0) : (own - values[low - 1]!) / 2
  const from = own - left
  let below: number
  if (count === 1) below = before + (value - from) / (left + right)
  else if (value < own) below = before + (value - from) / left
  else below = before + count - 1 + (value - own) / right
  return Math.max(0, below) / total
}

export const medianDeviationOf = ({ values, ends, ...rest }: Sorted): number => {
  const median = valueAtQuantile({ values, ends, ...rest }, 0.5)
  const distances = values.map(value => Math.abs(value - median))
  return valueAtQuantile(sortedOf(distances, countsFrom(ends)), 0.5)
}

/** Unsorted whole numbers below 2^32; without `counts` each counts once. */
export interface Words {
  words: Uint32Array
  greatest: number
  counts?: Float64Array | undefined
}

/** Undefined if a value is too large. */
export const wordsInBatch = ({ values, base }: RawNumbers, batch: Batch): Words | undefined => {
  const { count } = batch
  const codes = codesIn(values, batch)
  const words = new Uint32Array(count)
  const none = base === MISSING ? 0 : -1
  let size = 0
  let greatest = 0
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    if (code === none) continue
    words[size++] = base + code
    if (code > greatest) greatest = code
  }
  greatest = Math.max(0, base + greatest)
  if (greatest > MAX_WORD) return undefined
  return { words: size === count ? words : words.slice(0, size), greatest }
}

const MAX_WORD = 2 ** 32 - 1

/** The value at a quantile; undefined if only sorting gives it. */
type Selected = (part: number) => number | undefined

/** The first pass counts values by these leading bits. */
const BITS = 16
/** The most counters of the second pass. */
const MAX_FINE_COUNTS = 2 ** 20

/** Finds quantiles by counting in two passes; undefined if the tables were too large. */
export const selectQuantiles = (
  all: readonly Words[],
  parts: readonly number[],
  check: () => void,
): Selected | undefined => {
  const greatest = all.reduce((most, one) => Math.max(most, one.greatest), 0)
  const shift = Math.max(0, 32 - Math.clz32(greatest) - BITS)
  const ends = countFirst(all, shift, (greatest >>> shift) + 1, check)
  const total = ends.at(-1)!
  if (total === 0) return () => Number.NaN
  const stretchOf = (place: number): number => upperBound(ends, place)
  const slots = slotsOf(stretchOf, parts, total)
  if (slots.size * 2 ** shift > MAX_FINE_COUNTS) return undefined
  const fine = countLast(all, shift, slots, check)
  const valueAt = (place: number): number | undefined => {
    const stretch = stretchOf(place)
    const slot = slots.get(stretch)
    if (slot === undefined) return undefined
    const before = stretch === 0 ? 0 : ends[stretch - 1]!
    const start = slot << shift
    return stretch * 2 ** shift + upperBound(fine.subarray(start, start + 2 ** shift), place - before)
  }
  return part => {
    if (!parts.includes(part)) return undefined
    return hazen(total, part, place => valueAt(place)!)
  }
}

/** Cumulative counts of values by their leading bits. */
const countFirst = (all: readonly Words[], shift: number, stretches: number, check: () => void): Uint32Array => {
  const ends = new Uint32Array(stretches)
  for (const { words, counts } of all) {
    check()
    if (counts) for (let i = 0; i < words.length; i++) ends[words[i]! >>> shift]! += counts[i]!
    else for (let i = 0; i < words.length; i++) ends[words[i]! >>> shift]!++
  }
  for (let i = 1; i < stretches; i++) ends[i]! += ends[i - 1]!
  return ends
}

/** Numbers the leading bits of the quantiles. */
const slotsOf = (stretchOf: (place: number) => number, parts: readonly number[], total: number) => {
  const slots = new Map<number, number>()
  for (const part of parts)
    hazen(total, part, place => {
      const stretch = stretchOf(place)
      if (!slots.has(stretch)) slots.set(stretch, slots.size)
      return 0
    })
  return slots
}

/** Cumulative counts by trailing bits, for these leading bits. */
const countLast = (
  all: readonly Words[],
  shift: number,
  slots: ReadonlyMap<number, number>,
  check: () => void,
): Uint32Array => {
  const mask = 2 ** shift - 1
  const fine = new Uint32Array(slots.size * 2 ** shift)
  /** The first counter of each slot, plus 1. */
  const startOf = new Uint32Array(2 ** BITS)
  for (const [stretch, slot] of slots) startOf[stretch] = (slot << shift) + 1
  for (const { words, counts } of all) {
    check()
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      const start = startOf[word >>> shift]!
      if (start !== 0) fine[start - 1 + (word & mask)]! += counts ? counts[i]! : 1
    }
  }
  for (let i = 1; i < fine.length; i++) if ((i & mask) !== 0) fine[i]! += fine[i - 1]!
  return fine
}
