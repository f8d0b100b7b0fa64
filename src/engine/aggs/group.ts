import { lowerBound } from '../../lib/arrays.ts'
import { MISSING } from '../index/column-codec.ts'
import { type Batch, cut } from './batch.ts'
import { type Codes, codesIn, eachValue, type Found, gathered, type RawNumbers } from './values.ts'

/** Buckets that a segment gives: each of one bucket above and one key. */
export interface Rows {
  owners: Uint32Array
  keys: Float64Array
  /** Documents. */
  counts: Float64Array
}

export const createRows = (size: number): Rows => ({
  owners: new Uint32Array(size),
  keys: new Float64Array(size),
  counts: new Float64Array(size),
})

export const firstRows = ({ owners, keys, counts }: Rows, size: number): Rows => ({
  owners: owners.slice(0, size),
  keys: keys.slice(0, size),
  counts: counts.slice(0, size),
})

export interface Grouped {
  rows: Rows
  /** The documents in these buckets; undefined where nobody asks. */
  inner: Batch | undefined
}

/** Puts each document of a batch into a bucket for each of its values. */
export const group = (found: Found, batch: Batch, wantsInner: boolean): Grouped => {
  if (batch.count === 0) return EMPTY
  if (found.form === 'several') {
    const each = withRepeats(found, batch)
    return byHash(each.values, each.batch, wantsInner)
  }
  if (found.form === 'each' && found.raw && !batch.owners) return byWholeNumbers(found.raw, batch, wantsInner)
  if (found.form === 'each') return byHash(gathered(found, batch), batch, wantsInner)
  if (found.ends && !batch.runs && !batch.owners && !found.keys.some(Number.isNaN))
    return byRuns(found.ends, found.keys, batch, wantsInner)
  const { names, keys } = distinctOf(found)
  const most = 2 * batch.count + FEW_SLOTS
  if (keys.length > most) return byHash(gathered(found, batch), batch, wantsInner)
  if (keys.length * batch.buckets <= most) return bySlots(found.at, names, keys, batch, wantsInner)
  return byBuckets(codesIn(found.at, batch, names), keys, batch, wantsInner)
}

const FEW_SLOTS = 1 << 12
const EMPTY: Grouped = {
  rows: createRows(0),
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

/** The documents in `size` rows: `numbers` holds the row of each and 1, or 0 where it is in none. It is written over. */
const inside = (numbers: Uint32Array, size: number, batch: Batch): Batch => {
  const { count, list, from } = batch
  const ordinals = new Uint32Array(count)
  let kept = 0
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!
    if (number === 0) continue
    ordinals[kept] = list ? list[i]! : from + i
    numbers[kept++] = number - 1
  }
  const isRun = kept === count && !list
  return {
    count: kept,
    list: isRun ? undefined : ordinals.subarray(0, kept),
    from: isRun ? from : 0,
    owners: size === 1 ? undefined : numbers.subarray(0, kept),
    buckets: size,
  }
}

/** Counts the names of documents from one ordinal, or place in a list, up to another. */
const countRun = (
  slots: Uint32Array,
  base: number,
  { at, names, list }: { at: Codes; names: Uint32Array | undefined; list: Uint32Array | undefined },
  from: number,
  to: number,
) => {
  if (list && names) for (let i = from; i < to; i++) slots[base + names[at[list[i]!]!]!]!++
  else if (list) for (let i = from; i < to; i++) slots[base + at[list[i]!]!]!++
  else if (names) for (let i = from; i < to; i++) slots[base + names[at[i]!]!]!++
  else for (let i = from; i < to; i++) slots[base + at[i]!]!++
}

/** How often each name occurs in each bucket, where those of a bucket stand side by side. */
const countRuns = (at: Codes, names: Uint32Array | undefined, stride: number, batch: Batch): Uint32Array => {
  const { count, from, except, buckets, runs } = batch
  const slots = new Uint32Array(stride * buckets)
  const list = except ? undefined : batch.list
  const ends = runs ?? [count]
  let left = 0
  for (let bucket = 0, start = 0; bucket < ends.length; bucket++) {
    const [end, base] = [ends[bucket]!, bucket * stride]
    const first = left
    let stop = end + (list ? 0 : from + left)
    for (; except && left < except.length && except[left]! < stop; left++) stop++
    countRun(slots, base, { at, names, list }, start + (list ? 0 : from + first), stop)
    // Those that are left out were counted.
    for (let i = first; i < left; i++) slots[base + (names ? names[at[except![i]!]!]! : at[except![i]!]!)]!--
    start = end
  }
  return slots
}

const NO_CODES = new Uint8Array(0)

/** Counts in an array with a place for each bucket above and each key. */
const bySlots = (
  at: Codes | undefined,
  names: Uint32Array | undefined,
  keys: Float64Array,
  batch: Batch,
  wantsInner: boolean,
): Grouped => {
  const { count, buckets } = batch
  const stride = keys.length
  const isMixed = !at || (!batch.runs && batch.owners !== undefined)
  const owners = isMixed ? (batch.owners ?? new Uint32Array(count)) : undefined
  const codes = isMixed || wantsInner ? codesIn(at, batch, names) : NO_CODES
  const slots = owners ? new Uint32Array(stride * buckets) : countRuns(at!, names, stride, batch)
  if (owners) for (let i = 0; i < count; i++) slots[owners[i]! * stride + codes[i]!]!++
  let most = 0
  for (let slot = 0; slot < slots.length; slot++) if (slots[slot] !== 0) most++
  const all = createRows(most)
  /** The number of the row, and 1, takes the place of the count. */
  let size = 0
  for (let owner = 0, slot = 0; owner < buckets; owner++)
    for (let name = 0; name < stride; name++, slot++) {
      const documents = slots[slot]!
      if (documents === 0) continue
      const key = keys[name]!
      if (Number.isNaN(key)) {
        slots[slot] = 0
        continue
      }
      all.owners[size] = owner
      all.keys[size] = key + 0
      all.counts[size] = documents
      slots[slot] = ++size
    }
  const rows = size === most ? all : firstRows(all, size)
  if (!wantsInner) return { rows, inner: undefined }
  const numbers = new Uint32Array(count)
  if (owners) for (let i = 0; i < count; i++) numbers[i] = slots[owners[i]! * stride + codes[i]!]!
  else
    for (let bucket = 0, i = 0, base = 0; bucket < buckets; bucket++, base += stride)
      for (const end = batch.runs?.[bucket] ?? count; i < end; i++) numbers[i] = slots[base + codes[i]!]!
  return { rows, inner: inside(numbers, size, batch) }
}

/** Counts bucket after bucket in one array with a place for each key: where keys are many, and so are buckets. */
const byBuckets = (codes: Codes, keys: Float64Array, batch: Batch, wantsInner: boolean): Grouped => {
  const { count, buckets } = batch
  const { places, ends } = inOrder(batch)
  const rows = createRows(count)
  const numbers = new Uint32Array(wantsInner ? count : 0)
  const stored = new Uint32Array(count)
  /** Numbers of rows, and 1. */
  const rowOf = new Uint32Array(keys.length)
  let size = 0
  for (let bucket = 0, i = 0; bucket < buckets; bucket++) {
    const first = size
    for (const end = ends[bucket]!; i < end; i++) {
      const place = places ? places[i]! : i
      const name = codes[place]!
      let row = rowOf[name]!
      if (row === 0) {
        const key = keys[name]!
        if (Number.isNaN(key)) continue
        rows.owners[size] = bucket
        rows.keys[size] = key + 0
        stored[size] = name
        row = ++size
        rowOf[name] = row
      }
      rows.counts[row - 1]!++
      if (wantsInner) numbers[place] = row
    }
    for (let row = first; row < size; row++) rowOf[stored[row]!] = 0
  }
  return { rows: firstRows(rows, size), inner: wantsInner ? inside(numbers, size, batch) : undefined }
}

/** Places of a batch in the order of their buckets, and where each bucket ends there. */
const inOrder = (batch: Batch): { places: Uint32Array | undefined; ends: Uint32Array } => {
  const { count, buckets, runs } = batch
  if (runs) return { places: undefined, ends: runs }
  const { owners } = batch
  if (!owners) return { places: undefined, ends: Uint32Array.of(count) }
  const ends = new Uint32Array(buckets + 1)
  for (let i = 0; i < count; i++) ends[owners[i]! + 1]!++
  for (let bucket = 0; bucket < buckets; bucket++) ends[bucket + 1]! += ends[bucket]!
  const places = new Uint32Array(count)
  for (let i = 0; i < count; i++) places[ends[owners[i]!]!++] = i
  return { places, ends: ends.subarray(0, buckets) }
}

/** Of whole numbers such as ids, without buckets above. */
const byWholeNumbers = ({ values, base }: RawNumbers, batch: Batch, wantsInner: boolean): Grouped => {
  const { count } = batch
  const codes = codesIn(values, batch)
  const none = base === MISSING ? 0 : -1
  const bits = Math.ceil(Math.log2(2 * count + 2))
  const [mask, shift] = [2 ** bits - 1, 32 - bits]
  /** Numbers of rows, and 1. */
  const table = new Uint32Array(mask + 1)
  const found = new Uint32Array(count)
  const counts = new Uint32Array(count)
  const numbers = new Uint32Array(wantsInner ? count : 0)
  let size = 0
  for (let i = 0; i < count; i++) {
    const value = codes[i]!
    if (value === none) continue
    let place = Math.imul(value, 0x9e3779b1) >>> shift
    let row = table[place]!
    while (row !== 0 && found[row - 1] !== value) {
      place = (place + 1) & mask
      row = table[place]!
    }
    if (row === 0) {
      found[size] = value
      row = ++size
      table[place] = row
    }
    counts[row - 1]!++
    if (wantsInner) numbers[i] = row
  }
  const rows = createRows(size)
  for (let i = 0; i < size; i++) {
    rows.keys[i] = base + found[i]!
    rows.counts[i] = counts[i]!
  }
  return { rows, inner: wantsInner ? inside(numbers, size, batch) : undefined }
}

/** By open addressing, where nothing is known of the keys. */
const byHash = (values: Float64Array, batch: Batch, wantsInner: boolean): Grouped => {
  const { count, owners } = batch
  if (!owners && !wantsInner && isAscending(values)) return ofAscending(values)
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * count)
  const mask = 2 ** Math.ceil(Math.log2(2 * count + 2)) - 1
  /** Numbers of rows, and 1. */
  const table = new Uint32Array(mask + 1)
  const rows = createRows(count)
  const numbers = new Uint32Array(wantsInner ? count : 0)
  let size = 0
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) continue
    // Minus zero is the same key.
    if (value === 0) values[i] = 0
    const owner = owners ? owners[i]! : 0
    let hash = Math.imul(words[2 * i]! ^ Math.imul(owner, 0x9e3779b1), 0x85ebca6b) ^ words[2 * i + 1]!
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
    let place = (hash ^ (hash >>> 13)) & mask
    let row = table[place]!
    while (row !== 0 && (rows.keys[row - 1] !== value || rows.owners[row - 1] !== owner)) {
      place = (place + 1) & mask
      row = table[place]!
    }
    if (row === 0) {
      rows.owners[size] = owner
      rows.keys[size] = value + 0
      row = ++size
      table[place] = row
    }
    rows.counts[row - 1]!++
    if (wantsInner) numbers[i] = row
  }
  return { rows: firstRows(rows, size), inner: wantsInner ? inside(numbers, size, batch) : undefined }
}

/** Not where one has no value. */
const isAscending = (values: Float64Array): boolean => {
  for (let i = 1; i < values.length; i++) if (!(values[i]! >= values[i - 1]!)) return false
  return values.length > 0 && !Number.isNaN(values[0])
}

const ofAscending = (values: Float64Array): Grouped => {
  const rows = createRows(values.length)
  let size = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]! + 0
    if (size === 0 || value !== rows.keys[size - 1]) rows.keys[size++] = value
    rows.counts[size - 1]!++
  }
  return { rows: firstRows(rows, size), inner: undefined }
}

/** Each document once for each of its values. */
const withRepeats = (found: Extract<Found, { form: 'several' }>, batch: Batch) => {
  const { owners, list, from } = batch
  const size = found.keys.length
  const values = new Float64Array(size)
  const all = { list: new Uint32Array(size), owners: owners && new Uint32Array(size) }
  let count = 0
  eachValue(found, batch, (i, key) => {
    values[count] = key
    all.list[count] = list ? list[i]! : from + i
    if (all.owners) all.owners[count] = owners![i]!
    count++
  })
  return { values, batch: { count, from: 0, buckets: batch.buckets, ...all } }
}
