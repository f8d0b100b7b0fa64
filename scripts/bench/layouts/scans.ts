import type { SegmentHeader } from '../../../src/engine/index/segment.ts'
import { type StoredColumn, valueAt } from './columns.ts'

/** What columns are asked for. All results are exact. */

/** Ordinals of the values within bounds, segment by segment. */
export const scan = (columns: readonly StoredColumn[], low: number, high: number): Uint32Array[] =>
  columns.map(({ values, base, dictionary, count }) => {
    const found = new Uint32Array(count)
    let size = 0
    const from = dictionary ? lowerBound(dictionary, low) : low - base
    const to = dictionary ? lowerBound(dictionary, high + 1) - 1 : high - base
    if (!values) return from <= 0 && to >= 0 ? found.map((_, i) => i) : found.subarray(0, 0)
    for (let i = 0; i < count; i++) {
      const value = values[i]!
      if (value >= from && value <= to) found[size++] = i
    }
    return found.subarray(0, size)
  })

const lowerBound = (sorted: Float64Array, value: number): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

export type Bucket = [key: number, count: number]

/**
 * Counts by key. Keys are ids of a dictionary: small integers, so that counting is an array's work and no map's. Keys that were counted are
 * listed, so that an hour's counts are cleared without a walk over all keys.
 */
const createCounts = (columns: readonly StoredColumn[]) => {
  const counts = new Uint32Array(1 + columns.reduce((most, column) => Math.max(most, greatestKey(column)), 0))
  let touched = new Uint32Array(1 << 12)
  let size = 0
  const add = (key: number, count: number) => {
    if (counts[key] === 0) {
      if (size === touched.length) {
        const larger = new Uint32Array(size * 2)
        larger.set(touched)
        touched = larger
      }
      touched[size++] = key
    }
    counts[key]! += count
  }
  return {
    /** Counts some values of a column. */
    column({ values, base, dictionary, largest }: StoredColumn, from: number, to: number) {
      if (!values) return add(base, to - from)
      // Few values: each is counted by itself.
      if (to - from < largest) {
        for (let i = from; i < to; i++) add(dictionary ? dictionary[values[i]!]! : base + values[i]!, 1)
        return
      }
      const seen = new Uint32Array(largest + 1)
      for (let i = from; i < to; i++) seen[values[i]!]!++
      for (let place = 0; place <= largest; place++)
        if (seen[place]! > 0) add(dictionary ? dictionary[place]! : base + place, seen[place]!)
    },
    /** The most frequent keys; all counts are zero again afterwards. */
    take(most: number): Bucket[] {
      const best: Bucket[] = []
      let least = 0
      for (let i = 0; i < size; i++) {
        const key = touched[i]!
        const count = counts[key]!
        counts[key] = 0
        if (best.length === most && count < least) continue
        best.push([key, count])
        best.sort(byCount)
        if (best.length > most) best.pop()
        least = best.at(-1)![1]
      }
      size = 0
      return best
    },
  }
}

const byCount = (a: Bucket, b: Bucket): number => b[1] - a[1] || a[0] - b[0]

const greatestKey = ({ base, largest, dictionary }: StoredColumn): number =>
  dictionary ? dictionary[dictionary.length - 1]! : base + largest

/** The most frequent values with their counts. */
export const terms = (columns: readonly StoredColumn[], size: number): Bucket[] => {
  const counts = createCounts(columns)
  for (const column of columns) counts.column(column, 0, column.count)
  return counts.take(size)
}

const HOUR = 3600

/** Hours with the most frequent values of each: blocks are in the order of time, so that an hour is a run of ordinals. */
export const hourly = (
  columns: readonly StoredColumn[],
  headers: readonly Pick<SegmentHeader, 'times' | 'logEnds'>[],
  size: number,
): { hour: number; count: number; top: Bucket[] }[] => {
  const hours: { hour: number; count: number; top: Bucket[] }[] = []
  const counts = createCounts(columns)
  let hour = -1
  let count = 0
  const finish = () => {
    if (count > 0) hours.push({ hour, count, top: counts.take(size) })
    count = 0
  }
  for (const [s, column] of columns.entries()) {
    const { times, logEnds } = headers[s]!
    for (let block = 0, from = 0; block < times.length; ) {
      const own = Math.floor(times[block]! / HOUR)
      if (own !== hour) finish()
      hour = own
      while (block < times.length && Math.floor(times[block]! / HOUR) === own) block++
      const to = logEnds[block - 1]!
      counts.column(column, from, to)
      count += to - from
      from = to
    }
  }
  finish()
  return hours
}

/** Segment and ordinal of the greatest values among the matches of each segment. */
export const greatest = (
  columns: readonly StoredColumn[],
  matches: readonly Uint32Array[],
  size: number,
): [segment: number, ordinal: number, value: number][] => {
  const best: [number, number, number][] = []
  let least = Number.NEGATIVE_INFINITY
  for (const [s, column] of columns.entries())
    for (const ordinal of matches[s]!) {
      const value = valueAt(column, ordinal)
      if (best.length === size && value < least) continue
      best.push([s, ordinal, value])
      // Of equal values the later one goes before.
      best.sort((a, b) => b[2] - a[2] || b[0] - a[0] || b[1] - a[1])
      if (best.length > size) best.pop()
      if (best.length === size) least = best.at(-1)![2]
    }
  return best
}
