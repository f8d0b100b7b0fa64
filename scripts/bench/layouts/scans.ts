import type { SegmentHeader } from '../../../src/store/segment.ts'
import type { StoredColumn } from './columns.ts'

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

const top = (counts: ReadonlyMap<number, number>, size: number): Bucket[] =>
  [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, size)

/** The most frequent values with their counts. Counting is an array's work, not a map's: stored values are small. */
export const terms = (columns: readonly StoredColumn[], size: number): Bucket[] => {
  const counts = new Map<number, number>()
  for (const column of columns) addCounts(counts, column, 0, column.count, new Uint32Array(column.largest + 1))
  return top(counts, size)
}

const addCounts = (
  counts: Map<number, number>,
  { values, base, dictionary }: StoredColumn,
  from: number,
  to: number,
  seen: Uint32Array,
) => {
  if (!values) {
    counts.set(base, (counts.get(base) ?? 0) + to - from)
    return
  }
  for (let i = from; i < to; i++) seen[values[i]!]!++
  for (let place = 0; place < seen.length; place++) {
    const count = seen[place]!
    if (count === 0) continue
    const key = dictionary ? dictionary[place]! : base + place
    counts.set(key, (counts.get(key) ?? 0) + count)
    seen[place] = 0
  }
}

const HOUR = 3600

/** Hours with the most frequent values of each: blocks are in the order of time, so that an hour is a run of ordinals. */
export const hourly = (
  columns: readonly StoredColumn[],
  headers: readonly SegmentHeader[],
  size: number,
): { hour: number; count: number; top: Bucket[] }[] => {
  const hours = new Map<number, { count: number; counts: Map<number, number> }>()
  for (const [s, column] of columns.entries()) {
    const { times, logEnds } = headers[s]!
    const seen = new Uint32Array(column.largest + 1)
    for (let block = 0, from = 0; block < times.length; ) {
      const hour = Math.floor(times[block]! / HOUR)
      while (block < times.length && Math.floor(times[block]! / HOUR) === hour) block++
      const to = logEnds[block - 1]!
      let bucket = hours.get(hour)
      if (!bucket) {
        bucket = { count: 0, counts: new Map() }
        hours.set(hour, bucket)
      }
      bucket.count += to - from
      addCounts(bucket.counts, column, from, to, seen)
      from = to
    }
  }
  return [...hours].map(([hour, { count, counts }]) => ({ hour, count, top: top(counts, size) }))
}

/** Segment and ordinal of the greatest values among the matches of each segment. */
export const greatest = (
  columns: readonly StoredColumn[],
  matches: readonly Uint32Array[],
  size: number,
): [segment: number, ordinal: number, value: number][] => {
  const best: [number, number, number][] = []
  let least = Number.NEGATIVE_INFINITY
  for (const [s, { values, base, dictionary }] of columns.entries())
    for (const ordinal of matches[s]!) {
      const stored = values ? values[ordinal]! : 0
      const value = dictionary ? dictionary[stored]! : base + stored
      if (best.length === size && value < least) continue
      best.push([s, ordinal, value])
      // Of equal values the later one goes before.
      best.sort((a, b) => b[2] - a[2] || b[0] - a[0] || b[1] - a[1])
      if (best.length > size) best.pop()
      if (best.length === size) least = best.at(-1)![2]
    }
  return best
}
