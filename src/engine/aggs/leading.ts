import type { Rows } from './group.ts'
import { mergeRows } from './merging.ts'
import { edgeOf } from './order.ts'

/** What of a segment's buckets is needed to tell which ones come first in all segments together. */
export interface Leads {
  /** The buckets with the greatest numbers; undefined where these are all. */
  rows: Uint32Array | undefined
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
export const leadsOf = ({ counts }: Pick<Rows, 'counts'>, numbers: Float64Array, wanted: number): Leads | undefined => {
  if (wanted < 1 || wanted > MOST_WANTED) return undefined
  let total = 0
  let documents = 0
  for (let i = 0; i < counts.length; i++) {
    total += numbers[i]!
    documents += counts[i]!
  }
  const depth = Math.max(LEAST, TIMES * wanted)
  if (numbers.length <= 2 * depth) return { rows: undefined, rest: 0, total, documents }
  const rest = edgeOf(numbers, depth, false)
  const rows = new Uint32Array(depth)
  let size = 0
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! > rest) rows[size++] = i
  return { rows: rows.slice(0, size), rest, total, documents }
}

/** The buckets of a segment, by which numbers they are ordered, and which of them lead there. */
export interface Led {
  rows: Rows
  numbers: Float64Array
  leads: Leads
}

/**
 * The keys of the first buckets, and perhaps of some more: those with the greatest numbers, and all that are equal to the last of these.
 * Undefined where the leading buckets of the segments do not tell: where a key that leads nowhere may come first.
 */
export const leadingKeys = (parts: readonly Led[], wanted: number, check: () => void): Set<number> | undefined => {
  const sum = (of: (leads: Leads) => number) => parts.reduce((sum, { leads }) => sum + of(leads), 0)
  if (sum(({ total }) => total) > Number.MAX_SAFE_INTEGER) return undefined
  const leading = parts.map(({ rows: { keys }, numbers, leads: { rows } }) =>
    rows ? { keys: taken(keys, rows), counts: taken(numbers, rows) } : { keys, counts: numbers },
  )
  const merged = mergeRows(
    leading.map(rows => ({ rows: { ...rows, owners: new Uint32Array(rows.keys.length) }, owners: ONLY })),
    check,
  )
  // A key has at least what it has where it leads, and at most what is left over everywhere else besides.
  const { keys, counts: least } = merged
  const most = new Float64Array(least.length).fill(sum(({ rest }) => rest))
  for (const [part, { leads }] of parts.entries())
    for (const number of merged.numbers[part]!) most[number]! -= leads.rest
  if (keys.length < wanted) return undefined
  const edge = edgeOf(least, wanted, false)
  if (sum(({ rest }) => rest) >= edge) return undefined
  const found = new Set<number>()
  for (let i = 0; i < keys.length; i++) if (least[i]! + most[i]! >= edge) found.add(keys[i]!)
  return found
}

const ONLY = Uint32Array.of(0)

/** The places at which one of some keys stands. */
export const placesOf = (wanted: ReadonlySet<number>, all: Float64Array): Uint32Array => {
  for (const key of wanted) marks[key & MASK] = 1
  const places: number[] = []
  for (let i = 0; i < all.length; i++) if (marks[all[i]! & MASK] === 1 && wanted.has(all[i]!)) places.push(i)
  for (const key of wanted) marks[key & MASK] = 0
  return Uint32Array.from(places)
}

/** By the last bits of a key; zeros between two uses. */
const marks = new Uint8Array(2 ** 16)
const MASK = marks.length - 1

/** What stands at some places. */
export const taken = (all: Float64Array, places: Uint32Array): Float64Array<ArrayBuffer> => {
  const found = new Float64Array(places.length)
  for (let i = 0; i < places.length; i++) found[i] = all[places[i]!]!
  return found
}
