import { hashHalves, lowerBound } from '../../lib/arrays.ts'
import { MISSING } from '../index/column-codec.ts'
import { bitsIn } from '../query/match/ordinal-set.ts'
import { type Batch, cutIntoRuns } from './batch.ts'
import { type BucketRows, createRows, firstRows } from './rows.ts'
import {
  type Codes,
  codesIn,
  countCodes,
  createScratch,
  eachValue,
  type FewKeys,
  type FoundValues,
  gathered,
  type RawNumbers,
} from './values.ts'

export interface Groups {
  rows: BucketRows
  /** The documents in these buckets, if sub-aggregations need them. */
  inner: Batch | undefined
}

/** Puts each document of a batch into a bucket for each of its values. */
export const groupByValue = (found: FoundValues, batch: Batch, wantsInner: boolean): Groups => {
  if (batch.count === 0) return NO_GROUPS
  if (found.form === 'several') {
    const each = withRepeats(found, batch)
    return byCodes(hashedNumbers(each.values), each.batch, wantsInner)
  }
  if (found.form === 'few' && found.ends && !batch.runs && !batch.owners && !found.keys.some(Number.isNaN))
    return byRuns(found.ends, found.keys, batch, wantsInner)
  if (found.form === 'few' && !wantsInner && batch.buckets === 1 && isSmallFor(found.keys.length, batch))
    return { rows: countedRows(found, batch), inner: undefined }
  return byCodes(codedValues(found, batch, wantsInner), batch, wantsInner)
}

const NO_GROUPS: Groups = {
  rows: createRows(0),
  inner: { count: 0, list: new Uint32Array(0), from: 0, owners: new Uint32Array(0), buckets: 0 },
}

/** Codes index `keys`. The i-th document has `codes[i]`, or with a list `codes[list[i]]`. */
interface Coded {
  codes: Codes
  /** If set, the keys of codes are at these places. */
  names?: Uint32Array | undefined
  list?: Uint32Array | undefined
  keys: Float64Array
}

const codedValues = (found: Exclude<FoundValues, { form: 'several' }>, batch: Batch, wantsInner: boolean): Coded => {
  if (found.form === 'each') return found.raw ? hashedWords(found.raw, batch) : hashedNumbers(gathered(found, batch))
  const { names, keys } = distinctOf(found)
  if (!isSmallFor(keys.length, batch)) return hashedNumbers(gathered(found, batch))
  const isNamedLater = names && !wantsInner && isSmallFor(found.keys.length * batch.buckets, batch)
  if (isNamedLater) return { codes: codesIn(found.at, batch), names, keys }
  if (found.at && !names && !batch.bits && batch.list) return { codes: found.at, list: batch.list, keys }
  return { codes: codesIn(found.at, batch, names), keys }
}

const FEW_SLOTS = 1 << 12
const isSmallFor = (slots: number, { count }: Batch): boolean => slots <= 2 * count + FEW_SLOTS

/** Counts without a look at the keys of documents. */
const countedRows = (found: FewKeys, batch: Batch): BucketRows => {
  const { names, keys } = distinctOf(found)
  let counts = countCodes(found.at, batch, found.keys.length)
  if (names) counts = slotsByName(counts, names, { stride: keys.length, buckets: 1 })
  return takeRows(counts, keys, 1)
}

const slotsByName = (
  slots: Uint32Array,
  names: Uint32Array,
  { stride, buckets }: { stride: number; buckets: number },
): Uint32Array => {
  const byName = new Uint32Array(stride * buckets)
  for (let base = 0, slot = 0; base < byName.length; base += stride)
    for (let code = 0; code < names.length; code++, slot++) byName[base + names[code]!]! += slots[slot]!
  return byName
}

const distinctOf = ({ keys, distinct }: FewKeys): { names: Uint32Array | undefined; keys: Float64Array } => {
  if (distinct) return { names: undefined, keys }
  const { codes, keys: all } = hashedNumbers(keys.slice())
  return { names: codes, keys: all }
}

/** Codes of whole numbers such as ids, by open addressing. */
const hashedWords = ({ values, base }: RawNumbers, batch: Batch): Coded => {
  const { count } = batch
  const words = codesIn(values, batch)
  const bits = Math.ceil(Math.log2(2 * count + 2))
  const [mask, shift] = [2 ** bits - 1, 32 - bits]
  /** Codes, and 1. */
  const table = new Uint32Array(mask + 1)
  const distinct = new Uint32Array(count)
  const codes = new Uint32Array(count)
  let size = 0
  for (let i = 0; i < count; i++) {
    const word = words[i]!
    let place = Math.imul(word, 0x9e3779b1) >>> shift
    let code = table[place]!
    while (code !== 0 && distinct[code - 1] !== word) {
      place = (place + 1) & mask
      code = table[place]!
    }
    if (code === 0) {
      distinct[size] = word
      code = ++size
      table[place] = code
    }
    codes[i] = code - 1
  }
  const keys = new Float64Array(size)
  for (let i = 0; i < size; i++) keys[i] = base + distinct[i]! === MISSING ? Number.NaN : base + distinct[i]!
  return { codes, keys }
}

/** Codes of any doubles. */
const hashedNumbers = (values: Float64Array): Coded & { codes: Uint32Array } => {
  const count = values.length
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * count)
  const mask = 2 ** Math.ceil(Math.log2(2 * count + 2)) - 1
  /** Codes, and 1. */
  const table = new Uint32Array(mask + 1)
  const keys = new Float64Array(count)
  const codes = new Uint32Array(count)
  let size = 0
  let none = -1
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) {
      if (none < 0) {
        none = size++
        keys[none] = value
      }
      codes[i] = none
      continue
    }
    // Minus zero is the same key.
    if (value === 0) values[i] = 0
    let place = hashHalves(words[2 * i]!, words[2 * i + 1]!) & mask
    let code = table[place]!
    while (code !== 0 && keys[code - 1] !== value) {
      place = (place + 1) & mask
      code = table[place]!
    }
    if (code === 0) {
      keys[size] = value
      code = ++size
      table[place] = code
    }
    codes[i] = code - 1
  }
  return { codes, keys: keys.slice(0, size) }
}

/** Documents with one key are consecutive, so none of them is read. */
const byRuns = (ends: Uint32Array, keys: Float64Array, batch: Batch, wantsInner: boolean): Groups => {
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
  const rows: BucketRows = {
    owners: new Uint32Array(found.length),
    keys: Float64Array.from(found),
    counts: Float64Array.from(runs, (end, i) => end - (runs[i - 1] ?? 0)),
  }
  return { rows, inner: wantsInner ? cutIntoRuns(batch, Uint32Array.from(runs)) : undefined }
}

/** The number of batch documents below an ordinal; ordinals ascend from call to call. */
const placesIn = (batch: Batch): ((ordinal: number) => number) => {
  const { count, from, bits } = batch
  if (bits) {
    let [word, below] = [0, 0]
    return ordinal => {
      for (; word < ordinal >>> 5; word++) below += bitsIn(bits[word]!)
      return below + bitsIn(bits[word]! & ~(-1 << (ordinal & 31)))
    }
  }
  const { list } = batch
  return list ? ordinal => lowerBound(list, ordinal) : ordinal => Math.min(count, Math.max(0, ordinal - from))
}

const byCodes = (coded: Coded, batch: Batch, wantsInner: boolean): Groups =>
  coded.names || isSmallFor(coded.keys.length * batch.buckets, batch)
    ? bySlots(coded, batch, wantsInner)
    : byBuckets(coded, batch, wantsInner)

/** Counts in one table of buckets and keys. */
const bySlots = ({ codes, names, list, keys }: Coded, batch: Batch, wantsInner: boolean): Groups => {
  const { count, buckets, runs } = batch
  const stride = names?.length ?? keys.length
  const slots = new Uint32Array(stride * buckets)
  const owners = runs ? undefined : batch.owners
  const ends = runs ?? [count]
  if (owners)
    if (list) for (let i = 0; i < count; i++) slots[owners[i]! * stride + codes[list[i]!]!]!++
    else for (let i = 0; i < count; i++) slots[owners[i]! * stride + codes[i]!]!++
  else
    for (let bucket = 0, i = 0, base = 0; bucket < ends.length; bucket++, base += stride) {
      const end = ends[bucket]!
      if (list) for (; i < end; i++) slots[base + codes[list[i]!]!]!++
      else for (; i < end; i++) slots[base + codes[i]!]!++
    }
  const named = names ? slotsByName(slots, names, { stride: keys.length, buckets }) : slots
  const rows = takeRows(named, keys, buckets)
  const size = rows.keys.length
  if (!wantsInner) return { rows, inner: undefined }
  const numbers = new Uint32Array(count)
  if (owners) for (let i = 0; i < count; i++) numbers[i] = slots[owners[i]! * stride + codes[list ? list[i]! : i]!]!
  else
    for (let bucket = 0, i = 0, base = 0; bucket < ends.length; bucket++, base += stride)
      for (const end = ends[bucket]!; i < end; i++) numbers[i] = slots[base + codes[list ? list[i]! : i]!]!
  return { rows, inner: documentsInRows(numbers, size, batch) }
}

/** The rows of slots with documents; row numbers plus 1, or 0 for none, replace the counts. */
const takeRows = (slots: Uint32Array, keys: Float64Array, buckets: number): BucketRows => {
  const all: BucketRows = {
    owners: rowScratch.owners(Uint32Array, slots.length),
    keys: rowScratch.keys(Float64Array, slots.length),
    counts: rowScratch.counts(Float64Array, slots.length),
  }
  let size = 0
  for (let owner = 0, slot = 0; owner < buckets; owner++)
    for (let code = 0; code < keys.length; code++, slot++) {
      const documents = slots[slot]!
      if (documents === 0) continue
      const key = keys[code]!
      slots[slot] = 0
      if (Number.isNaN(key)) continue
      all.owners[size] = owner
      all.keys[size] = key + 0
      all.counts[size] = documents
      slots[slot] = ++size
    }
  return firstRows(all, size)
}

const rowScratch = { owners: createScratch(), keys: createScratch(), counts: createScratch() }

/** Counts bucket after bucket in one table of keys, where a table of both were too large. */
const byBuckets = ({ codes, list, keys }: Coded, batch: Batch, wantsInner: boolean): Groups => {
  const { count, buckets } = batch
  const { places, ends } = placesByBucket(batch)
  const rows = createRows(count)
  const numbers = new Uint32Array(wantsInner ? count : 0)
  const codeOf = new Uint32Array(count)
  /** Numbers of rows, and 1. */
  const rowOf = new Uint32Array(keys.length)
  let size = 0
  for (let bucket = 0, i = 0; bucket < buckets; bucket++) {
    const first = size
    for (const end = ends[bucket]!; i < end; i++) {
      const place = places ? places[i]! : i
      const code = codes[list ? list[place]! : place]!
      let row = rowOf[code]!
      if (row === 0) {
        if (Number.isNaN(keys[code])) continue
        rows.owners[size] = bucket
        rows.keys[size] = keys[code]! + 0
        codeOf[size] = code
        row = ++size
        rowOf[code] = row
      }
      rows.counts[row - 1]!++
      if (wantsInner) numbers[place] = row
    }
    for (let row = first; row < size; row++) rowOf[codeOf[row]!] = 0
  }
  return { rows: firstRows(rows, size), inner: wantsInner ? documentsInRows(numbers, size, batch) : undefined }
}

/** The places of a batch sorted by bucket, and the end of each bucket. */
const placesByBucket = (batch: Batch): { places: Uint32Array | undefined; ends: Uint32Array } => {
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

/** `numbers` holds the row of each document plus 1, or 0 for none; it is overwritten. */
const documentsInRows = (numbers: Uint32Array, size: number, batch: Batch): Batch => {
  const { count, from } = batch
  if (!numbers.includes(0)) {
    for (let i = 0; i < count; i++) numbers[i]!--
    return inOtherBuckets(batch, size === 1 ? undefined : numbers, size)
  }
  const { list } = batch
  const ordinals = new Uint32Array(count)
  let kept = 0
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!
    if (number === 0) continue
    ordinals[kept] = list ? list[i]! : from + i
    numbers[kept++] = number - 1
  }
  return {
    count: kept,
    list: ordinals.subarray(0, kept),
    from: 0,
    owners: size === 1 ? undefined : numbers.subarray(0, kept),
    buckets: size,
  }
}

/** The same documents; `list` is computed lazily. */
const inOtherBuckets = (batch: Batch, owners: Uint32Array | undefined, buckets: number): Batch => ({
  ...{ count: batch.count, from: batch.from, owners, buckets },
  ...(batch.bits && { bits: batch.bits }),
  get list() {
    return batch.list
  },
})

/** Repeats each document for each of its values. */
const withRepeats = (found: Extract<FoundValues, { form: 'several' }>, batch: Batch) => {
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
