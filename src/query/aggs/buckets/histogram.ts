import type { Edges, Format } from '../ast.ts'
import { javaDouble } from '../java-double.ts'
import type { Bucket } from '../result.ts'

/** The steps of a histogram, from bucket to bucket. */
export interface Steps {
  round(value: number): number
  next(key: number): number
  /** At least as many as lie between two keys. */
  count(first: number, last: number): number
}

/** Steps of a number. */
export const evenSteps = (interval: number, offset: number): Steps => {
  const keyOf = (index: number) => index * interval + offset
  const indexOf = (value: number) => Math.floor((value - offset) / interval)
  return {
    round: value => keyOf(indexOf(value)),
    next: key => keyOf(Math.round((key - offset) / interval) + 1),
    count: (first, last) => Math.round((last - first) / interval) + 1,
  }
}

export interface Filling {
  steps: Steps
  extended: Edges | undefined
  /** Buckets that an answer may have. */
  most: number
  /** Refuses too many before they are made. */
  room(buckets: number): void
}

/** Places of buckets, with -1 for those without documents, from the first key to the last, or as far as the bounds go. `keys` ascend. */
export const filledPlaces = (
  keys: ArrayLike<number>,
  { steps, extended, most, room }: Filling,
): [key: number, place: number][] => {
  const size = keys.length
  const bounded = (edge: number | undefined) => (edge === undefined ? undefined : steps.round(edge))
  const ends = [bounded(extended?.min), bounded(extended?.max), keys[0], keys[size - 1]]
  const known = ends.filter(end => end !== undefined)
  // Without documents, both bounds are needed.
  if (known.length === 0 || (size === 0 && (extended?.min === undefined || extended.max === undefined))) return []
  const [first, last] = [Math.min(...known), Math.max(...known)]
  room(countOf(steps, [first, last], most))
  const all: [number, number][] = []
  let at = 0
  for (const key of walkOf(steps, first, last)) {
    while (at < size && keys[at]! < key) all.push([keys[at]!, at++])
    if (at < size && keys[at] === key) all.push([key, at++])
    else all.push([key, -1])
  }
  while (at < size) all.push([keys[at]!, at++])
  return all
}

/** Where the estimate alone cannot tell whether they are too many, they are counted. */
const countOf = (steps: Steps, [first, last]: [number, number], most: number): number => {
  const estimate = steps.count(first, last)
  if (estimate <= most || estimate > 2 * most) return estimate
  let size = 0
  for (const _ of walkOf(steps, first, last)) size++
  return size
}

/** Of numbers so large that a step changes nothing there is no next one. */
function* walkOf(steps: Steps, first: number, last: number): Generator<number> {
  for (let key = first; key <= last; ) {
    yield key
    const next = steps.next(key)
    if (!(next > key)) return
    key = next
  }
}

/** What tells the bucket of a key. */
export const histogramKey = (
  key: number,
  { isDate, format }: { isDate: boolean; format: Format | undefined },
): Required<Pick<Bucket, 'name' | 'key' | 'number'>> => {
  const text = format?.(key)
  return {
    name: text ?? javaDouble(key),
    key: [
      ...(text === undefined ? [] : [['key_as_string', text] as [string, string]]),
      ['key', isDate ? BigInt(key) : key],
    ],
    number: key,
  }
}
