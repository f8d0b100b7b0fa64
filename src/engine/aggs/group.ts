import { lowerBound } from '../../lib/bounds.ts'
import { type Batch, cut } from './batch.ts'
import { byBuckets } from './by-buckets.ts'
import { byPairs } from './by-pairs.ts'
import type { Found } from './values.ts'

/** Buckets that a segment gives: each of one bucket above and one key. */
export interface Rows {
  owners: Uint32Array
  keys: Float64Array
  /** Documents. */
  counts: Float64Array
}

export interface Grouped {
  rows: Rows
  /** The documents in these buckets; undefined where nobody asks. */
  inner: Batch | undefined
}

/** Puts each document of a batch into a bucket for each of its values. */
export const group = (found: Found, batch: Batch, wantsInner: boolean): Grouped => {
  if (batch.count === 0) return EMPTY
  if (found.form !== 'few') return byPairs(found, batch, wantsInner)
  if (found.ends && !batch.runs && !batch.owners && !found.keys.some(Number.isNaN))
    return byRuns(found.ends, found.keys, batch, wantsInner)
  const { names, keys } = distinctOf(found)
  const most = 2 * batch.count + FEW_SLOTS
  if (keys.length * batch.buckets <= most) return bySlots(found.at, names, keys, batch, wantsInner)
  if (keys.length <= most) return byBuckets(found.at, names, keys, batch, wantsInner)
  return byPairs(found, batch, wantsInner)
}

const FEW_SLOTS = 1 << 12
const EMPTY: Grouped = {
  rows: { owners: new Uint32Array(0), keys: new Float64Array(0), counts: new Float64Array(0) },
  inner: { count: 0, list: new Uint32Array(0), from: 0, owners: new Uint32Array(0), buckets: 0 },
}

/** The different keys, and which of them each place stands for; one behind the last for none. */
const distinctOf = ({
  keys,
  distinct,
}: Extract<Found, { form: 'few' }>): { names: Uint32Array | undefined; keys: Float64Array } => {
  if (distinct) return { names: undefined, keys }
  const numbers = new Map<number, number>()
  const names = new Uint32Array(keys.length)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]! + 0
    if (i > 0 && key === keys[i - 1]) {
      names[i] = names[i - 1]!
      continue
    }
    let number = numbers.get(key)
    if (number === undefined) {
      number = numbers.size
      numbers.set(key, number)
    }
    names[i] = number
  }
  return { names, keys: Float64Array.from(numbers.keys()) }
}

/** Documents that share a key stand side by side: no one of them is looked at. */
const byRuns = (ends: Uint32Array, keys: Float64Array, batch: Batch, wantsInner: boolean): Grouped => {
  const { count } = batch
  const placeOf = placesIn(batch)
  const runs: number[] = []
  const found: number[] = []
  for (let i = 0, start = 0; start < count; i++) {
    const end = placeOf(ends[i]!)
    if (end <= start) continue
    const key = keys[i]! + 0
    if (key === found.at(-1)) runs[runs.length - 1] = end
    else {
      found.push(key)
      runs.push(end)
    }
    start = end
  }
  const rows: Rows = {
    owners: new Uint32Array(found.length),
    keys: Float64Array.from(found),
    counts: Float64Array.from(runs, (end, i) => end - (runs[i - 1] ?? 0)),
  }
  return { rows, inner: wantsInner ? cut(batch, Uint32Array.from(runs)) : undefined }
}

/** How many of a batch lie below an ordinal; these are asked for in ascending order. */
const placesIn = ({ count, from, except, ...rest }: Batch): ((ordinal: number) => number) => {
  if (except) {
    let left = 0
    return ordinal => {
      while (left < except.length && except[left]! < ordinal) left++
      return ordinal - from - left
    }
  }
  const { list } = rest
  return list ? ordinal => lowerBound(list, ordinal) : ordinal => Math.min(count, Math.max(0, ordinal - from))
}

type Stored = Uint8Array | Uint16Array | Uint32Array

/** How often each name occurs in each bucket, where those of a bucket stand side by side. */
const countRuns = (at: Stored, names: Uint32Array | undefined, stride: number, batch: Batch): Uint32Array => {
  const { count, from, except, buckets, runs } = batch
  const counts = new Uint32Array(stride * buckets)
  const list = except ? undefined : batch.list
  let left = 0
  let next = from
  for (let bucket = 0, start = 0; bucket < buckets; bucket++) {
    const end = runs ? runs[bucket]! : count
    const base = bucket * stride
    if (list) {
      if (names) for (let i = start; i < end; i++) counts[base + names[at[list[i]!]!]!]!++
      else for (let i = start; i < end; i++) counts[base + at[list[i]!]!]!++
    } else {
      const first = left
      let stop = from + end + left
      while (except && left < except.length && except[left]! < stop) {
        left++
        stop++
      }
      if (names) for (let i = next; i < stop; i++) counts[base + names[at[i]!]!]!++
      else for (let i = next; i < stop; i++) counts[base + at[i]!]!++
      for (let i = first; i < left; i++) {
        const stored = at[except![i]!]!
        counts[base + (names ? names[stored]! : stored)]!--
      }
      next = stop
    }
    start = end
  }
  return counts
}

const countSlots = (
  at: Stored | undefined,
  names: Uint32Array | undefined,
  stride: number,
  batch: Batch,
): Uint32Array => {
  const { count, buckets, runs } = batch
  if (at && (runs || !batch.owners)) return countRuns(at, names, stride, batch)
  const counts = new Uint32Array(stride * buckets)
  const { owners } = batch
  if (!at) {
    const name = names ? names[0]! : 0
    if (owners) for (let i = 0; i < count; i++) counts[owners[i]! * stride + name]!++
    else counts[name] = count
    return counts
  }
  const { list, from } = batch
  if (!names && list) for (let i = 0; i < count; i++) counts[owners![i]! * stride + at[list[i]!]!]!++
  else if (!names) for (let i = 0; i < count; i++) counts[owners![i]! * stride + at[from + i]!]!++
  else for (let i = 0; i < count; i++) counts[owners![i]! * stride + names[at[list ? list[i]! : from + i]!]!]!++
  return counts
}

/** Counts in an array with a place for each bucket above and each key. */
const bySlots = (
  at: Stored | undefined,
  names: Uint32Array | undefined,
  keys: Float64Array,
  batch: Batch,
  wantsInner: boolean,
): Grouped => {
  const { count, buckets } = batch
  const stride = keys.length
  const counts = countSlots(at, names, stride, batch)
  let size = 0
  for (let slot = 0; slot < counts.length; slot++) if (counts[slot] !== 0) size++
  const rows: Rows = { owners: new Uint32Array(size), keys: new Float64Array(size), counts: new Float64Array(size) }
  /** The number of the bucket, and 1, in place of the count. */
  let row = 0
  for (let owner = 0, slot = 0; owner < buckets; owner++)
    for (let name = 0; name < stride; name++, slot++) {
      const documents = counts[slot]!
      if (documents === 0) continue
      const key = keys[name]!
      if (Number.isNaN(key)) {
        counts[slot] = 0
        continue
      }
      rows.owners[row] = owner
      rows.keys[row] = key + 0
      rows.counts[row] = documents
      counts[slot] = ++row
    }
  const kept: Rows = {
    owners: rows.owners.subarray(0, row),
    keys: rows.keys.subarray(0, row),
    counts: rows.counts.subarray(0, row),
  }
  if (!wantsInner) return { rows: kept, inner: undefined }
  const { owners, list, from } = batch
  const inner = { list: new Uint32Array(count), owners: new Uint32Array(count) }
  let inside = 0
  for (let i = 0; i < count; i++) {
    const ordinal = list ? list[i]! : from + i
    const stored = at ? at[ordinal]! : 0
    const bucket = counts[(owners ? owners[i]! * stride : 0) + (names ? names[stored]! : stored)]!
    if (bucket === 0) continue
    inner.list[inside] = ordinal
    inner.owners[inside++] = bucket - 1
  }
  const all = inside === count && !list
  return {
    rows: kept,
    inner: {
      count: inside,
      list: all ? undefined : inner.list.subarray(0, inside),
      from: all ? from : 0,
      owners: row === 1 ? undefined : inner.owners.subarray(0, inside),
      buckets: row,
    },
  }
}
