import { rememberedBy } from '../../lib/caches.ts'
import { type ColumnData, MISSING } from '../index/column-codec.ts'
import { indexFrom } from '../index/segment.ts'
import { endOrdinal, isRowKind, type NumberedKind, type SegmentView } from '../query/fields/ordinals.ts'
import { bitsIn, FULL_WORD } from '../query/match/ordinal-set.ts'
import { blockOf } from '../schema.ts'
import { type Batch, ordinalAt } from './batch.ts'

/** Values of documents as numbers: ids, numbers or codes of texts. NaN means none. */
export type FoundValues =
  /** Few different ones by ordinal: `keys[at[ordinal]]`, or `keys[0]` without `at`. */
  | {
      form: 'few'
      at: Codes | undefined
      keys: Float64Array
      distinct: boolean
      /** If `at` ascends: the end of each place. `at` is then computed lazily. */
      ends?: Uint32Array
    }
  /** By ordinal; `keys` may be computed lazily. */
  | { form: 'each'; readonly keys: Float64Array; raw?: RawNumbers }
  /** By place in the batch: `keys` from `ends[i - 1]` to `ends[i]`, ascending and distinct. */
  | { form: 'several'; keys: Float64Array; ends: Uint32Array }

/** Whole numbers by ordinal: `base + values[ordinal]`; -1 means none. */
export interface RawNumbers {
  values: Codes
  base: number
}

export const NO_FOUND_VALUES: Extract<FoundValues, { form: 'few' }> = {
  form: 'few',
  at: undefined,
  keys: Float64Array.of(Number.NaN),
  distinct: true,
}

export type FewKeys = Extract<FoundValues, { form: 'few' }>

const withKeys = (found: FewKeys, keys: Float64Array): FewKeys => {
  const { ends } = found
  if (!ends) return { ...found, keys, distinct: false }
  return {
    ...{ form: 'few', keys, distinct: false, ends },
    get at() {
      return found.at
    },
  }
}

/** Maps all values; NaN removes one. */
export const mapped = (found: FoundValues, map: (key: number) => number): FoundValues => {
  const keys = new Float64Array(found.keys.length)
  let before = Number.NaN
  let result = Number.NaN
  for (let i = 0; i < keys.length; i++) {
    const key = found.keys[i]!
    if (key !== before) {
      before = key
      result = Number.isNaN(key) ? key : map(key)
    }
    keys[i] = result
  }
  if (found.form === 'few') return withKeys(found, keys)
  return found.form === 'each' ? { form: 'each', keys } : withoutRepeats({ ...found, keys })
}

const withoutRepeats = ({ keys, ends }: Extract<FoundValues, { form: 'several' }>): FoundValues => {
  const kept = new Float64Array(keys.length)
  const newEnds = new Uint32Array(ends.length)
  let size = 0
  for (let i = 0; i < ends.length; i++) {
    const start = size
    for (let j = i === 0 ? 0 : ends[i - 1]!; j < ends[i]!; j++) {
      const key = keys[j]!
      if (Number.isNaN(key) || (size > start && kept.subarray(start, size).includes(key))) continue
      kept[size++] = key
    }
    newEnds[i] = size
  }
  return { form: 'several', keys: kept.subarray(0, size), ends: newEnds }
}

export const withMissing = (found: FoundValues, key: number | undefined): FoundValues => {
  if (key === undefined) return found
  if (found.form !== 'several') {
    const keys = found.keys.map(one => (Number.isNaN(one) ? key : one))
    return found.form === 'few' ? withKeys(found, keys) : { form: 'each', keys }
  }
  const { ends } = found
  const empty = ends.reduce((sum, end, i) => sum + (end === (i === 0 ? 0 : ends[i - 1]!) ? 1 : 0), 0)
  const keys = new Float64Array(found.keys.length + empty)
  const newEnds = new Uint32Array(ends.length)
  let size = 0
  for (let i = 0; i < ends.length; i++) {
    const start = i === 0 ? 0 : ends[i - 1]!
    if (start === ends[i]) keys[size++] = key
    for (let j = start; j < ends[i]!; j++) keys[size++] = found.keys[j]!
    newEnds[i] = size
  }
  return { form: 'several', keys, ends: newEnds }
}

/** Reads values document by document. */
export const readSeveral = (
  batch: Batch,
  check: () => void,
  read: (ordinal: number) => readonly number[],
): FoundValues => {
  const ends = new Uint32Array(batch.count)
  const keys: number[] = []
  for (let i = 0; i < batch.count; i++) {
    if ((i & CHECK_MASK) === 0) check()
    keys.push(...read(ordinalAt(batch, i)))
    ends[i] = keys.length
  }
  return { form: 'several', keys: Float64Array.from(keys), ends }
}

/** `check` is called once per 32 documents. */
const CHECK_MASK = 0x1f

/** Visits each value with its place in the batch. */
export const eachValue = (found: FoundValues, batch: Batch, visit: (i: number, key: number) => void) => {
  const { count, list, from } = batch
  const { keys } = found
  if (found.form === 'several') {
    for (let i = 0, j = 0; i < count; i++) for (; j < found.ends[i]!; j++) visit(i, keys[j]!)
    return
  }
  const at = found.form === 'few' ? found.at : undefined
  const isOne = found.form === 'few' && !at
  for (let i = 0; i < count; i++) {
    const ordinal = list ? list[i]! : from + i
    const key = isOne ? keys[0]! : at ? keys[at[ordinal]!]! : keys[ordinal]!
    if (!Number.isNaN(key)) visit(i, key)
  }
}

export type Codes = Uint8Array | Uint16Array | Uint32Array

/**
 * Codes of a batch, or their names; all 0 without a column. They are valid until the next call: a
 * view of the column if possible, or an array that all calls share.
 */
export const codesIn = (column: Codes | undefined, batch: Batch, names?: Uint32Array): Codes => {
  const { count } = batch
  if (!column) return names && names[0] !== 0 ? new Uint32Array(count).fill(names[0]!) : new Uint8Array(count)
  const codes = picked(column, batch, codeScratch)
  if (!names) return codes
  const named = new Uint32Array(count)
  for (let i = 0; i < count; i++) named[i] = names[codes[i]!]!
  return named
}

/** How many documents of a batch have each code; all have code 0 without a column. */
export const countCodes = (column: Codes | undefined, batch: Batch, size: number): Uint32Array => {
  const counts = new Uint32Array(size)
  const { bits, count, from } = batch
  if (!column) {
    if (size > 0) counts[0] = count
    return counts
  }
  const list = bits ? undefined : batch.list
  const whole = !list && 2 * count > column.length ? wholeCountsOf(column, size) : undefined
  if (list) for (let i = 0; i < count; i++) counts[column[list[i]!]!]!++
  else if (whole) {
    counts.set(whole)
    // Fewer are left out than are counted.
    if (bits) addMasked(column, bits, -1, counts)
    else {
      for (let ordinal = 0; ordinal < from; ordinal++) counts[column[ordinal]!]!--
      for (let ordinal = from + count; ordinal < column.length; ordinal++) counts[column[ordinal]!]!--
    }
  } else if (bits) addMasked(column, bits, 1, counts)
  else for (let ordinal = from; ordinal < from + count; ordinal++) counts[column[ordinal]!]!++
  return counts
}

/** Adds 1 for each masked document, or -1 for each of the others. */
const addMasked = (column: Codes, bits: Uint32Array, step: 1 | -1, counts: Uint32Array) => {
  const skipped = step === 1 ? 0 : FULL_WORD
  for (let word = 0; word < bits.length; word++) {
    if (bits[word] === skipped) continue
    let left = step === 1 ? bits[word]! : ~bits[word]!
    const first = word * 32
    if (first + 32 > column.length) left &= 2 ** (column.length - first) - 1
    for (; left !== 0; left &= left - 1) counts[column[first + 31 - Math.clz32(left & -left)]!]! += step
  }
}

/** The counts of a whole column, from the second time on that they are asked for. */
const wholeCountsOf = (column: Codes, size: number): Uint32Array | undefined => {
  const known = wholeCounts.get(column)
  if (known) return known
  if (known === undefined) {
    wholeCounts.set(column, null)
    return undefined
  }
  const counts = new Uint32Array(size)
  for (let i = 0; i < column.length; i++) counts[column[i]!]!++
  wholeCounts.set(column, counts)
  return counts
}

/** By cached column, which takes more bytes; null for one that was asked for once. */
const wholeCounts = new WeakMap<Codes, Uint32Array | null>()

/** Arrays that a thread uses again: new ones would have to be cleared and collected. */
export const createScratch = () => {
  let buffer = new ArrayBuffer(0)
  return <T>(type: ArrayType<T>, count: number): T => {
    const bytes = count * type.BYTES_PER_ELEMENT
    if (bytes > MAX_SCRATCH_BYTES) return new type(count)
    if (bytes > buffer.byteLength) buffer = new ArrayBuffer(2 ** Math.ceil(Math.log2(bytes)))
    return new type(buffer, 0, count)
  }
}

interface ArrayType<T> {
  new (count: number): T
  new (buffer: ArrayBuffer, start: number, count: number): T
  BYTES_PER_ELEMENT: number
}

type Scratch = ReturnType<typeof createScratch>
const MAX_SCRATCH_BYTES = 2 ** 22
const codeScratch = createScratch()
const numberScratch = createScratch()

/** The numbers of a batch; a view if possible. */
const picked = <T extends Codes | Float64Array>(all: T, batch: Batch, scratch?: Scratch): T => {
  const { count, from, bits } = batch
  const list = bits ? undefined : batch.list
  if (!bits && !list) return all.subarray(from, from + count) as T
  const type = all.constructor as unknown as ArrayType<T>
  const numbers = scratch ? scratch(type, count) : new type(count)
  if (list) for (let i = 0; i < count; i++) numbers[i] = all[list[i]!]!
  else pickMasked(all, bits!, numbers)
  return numbers
}

/** In a word: from here on a look at each bit takes less time than finding those that are set. */
const MANY_BITS = 12

const pickMasked = (all: Codes | Float64Array, bits: Uint32Array, into: Codes | Float64Array) => {
  let size = 0
  for (let word = 0; word < bits.length; word++) {
    let left = bits[word]!
    if (left === FULL_WORD) {
      const first = word
      while (bits[word + 1] === FULL_WORD) word++
      const run = all.subarray(first * 32, (word + 1) * 32)
      into.set(run as Uint8Array, size)
      size += run.length
    } else if (size + 32 <= into.length && bitsIn(left) > MANY_BITS) {
      // Without branches; each value is written over until one is meant.
      for (let ordinal = word * 32; left !== 0; ordinal++, left >>>= 1) {
        into[size] = all[ordinal]!
        size += left & 1
      }
    } else for (; left !== 0; left &= left - 1) into[size++] = all[word * 32 + 31 - Math.clz32(left & -left)]!
  }
}

/** One value per document: the first, or NaN. Callers may write to the array. */
export const gathered = (found: FoundValues, batch: Batch): Float64Array => {
  if (found.form !== 'each' || found.raw) return writeValues(found, batch, new Float64Array(batch.count))
  const numbers = picked(found.keys, batch)
  return batch.bits || batch.list ? numbers : numbers.slice()
}

/** As `gathered`, to be read before the next call. */
export const gatheredOnce = (found: FoundValues, batch: Batch): Float64Array =>
  found.form === 'each' && !found.raw
    ? picked(found.keys, batch, numberScratch)
    : writeValues(found, batch, numberScratch(Float64Array, batch.count))

const writeValues = (found: FoundValues, batch: Batch, all: Float64Array): Float64Array => {
  const { count } = batch
  if (found.form === 'each') {
    const { values, base } = found.raw!
    const codes = picked(values, batch, codeScratch)
    for (let i = 0; i < count; i++) all[i] = base + codes[i]!
    if (base === MISSING) for (let i = 0; i < count; i++) if (all[i] === MISSING) all[i] = Number.NaN
  } else if (found.form === 'several') {
    all.fill(Number.NaN)
    for (let i = 0; i < count; i++) {
      const start = i === 0 ? 0 : found.ends[i - 1]!
      if (start < found.ends[i]!) all[i] = found.keys[start]!
    }
  } else if (found.at) {
    const { keys } = found
    const codes = picked(found.at, batch, codeScratch)
    for (let i = 0; i < count; i++) all[i] = keys[codes[i]!]!
  } else all.fill(found.keys[0]!)
  return all
}

export const presence = (found: FoundValues, batch: Batch): Uint8Array => {
  const has = new Uint8Array(batch.count)
  eachValue(found, batch, i => {
    has[i] = 1
  })
  return has
}

/** The numbers of a column; `keys` may include some that no document has. */
export const foundIn = (data: ColumnData, greatest: number): FoundValues => {
  const { values, base, dictionary, count } = data
  if (!values) return { ...NO_FOUND_VALUES, keys: Float64Array.of(present(dictionary ? dictionary[0]! : base)) }
  if (values instanceof Float64Array) return { form: 'each', keys: withoutMissing(values) }
  if (dictionary) return { form: 'few', at: values, keys: startPresent(dictionary), distinct: true }
  const most = greatest - base + 1
  if (most <= MAX_PLACES_PER_DOCUMENT * count + MIN_TABLE_PLACES) {
    return { form: 'few', at: values, keys: startPresent(ascending(base, most)), distinct: true }
  }
  let keys: Float64Array | undefined
  return {
    ...{ form: 'each', raw: { values, base } },
    get keys() {
      if (!keys) {
        keys = new Float64Array(count)
        for (let i = 0; i < count; i++) keys[i] = base + values[i]!
        if (base === MISSING) for (let i = 0; i < count; i++) if (values[i] === 0) keys[i] = Number.NaN
      }
      return keys
    },
  }
}

/** Consecutive whole numbers; read-only. */
const ascending = (first: number, count: number): Float64Array => {
  const end = first + 1 + count
  if (end <= SHARED && first >= -1) {
    if (shared.length < end) shared = Float64Array.from({ length: 2 ** Math.ceil(Math.log2(end)) }, (_, i) => i - 1)
    return shared.subarray(first + 1, end)
  }
  return Float64Array.from({ length: count }, (_, i) => first + i)
}

/** Whole numbers from -1 on, shared by all columns of ids. */
let shared = new Float64Array(0)
const SHARED = 2 ** 18

const present = (value: number): number => (value === MISSING ? Number.NaN : value)

const withoutMissing = (numbers: Float64Array): Float64Array => (hasMissing(numbers) ? numbers.map(present) : numbers)
const hasMissing = rememberedBy((numbers: Float64Array) => numbers.includes(MISSING))

const startPresent = (numbers: Float64Array): Float64Array => (numbers[0] === MISSING ? numbers.map(present) : numbers)

/** The most table places per document. */
const MAX_PLACES_PER_DOCUMENT = 2
const MIN_TABLE_PLACES = 256

/** Only numbers that documents have, for mappings that fail on others. */
export const foundOnlyIn = (data: ColumnData, greatest: number): FoundValues => {
  const known = onlyIn.get(data)
  if (known) return known
  const found = foundIn(data, greatest)
  if (found.form !== 'few' || !found.at || data.dictionary) return found
  const occurs = new Uint8Array(found.keys.length)
  for (let i = 0; i < found.at.length; i++) occurs[found.at[i]!] = 1
  const only = { ...found, keys: found.keys.map((key, i) => (occurs[i] === 1 ? key : Number.NaN)) }
  if (found.keys.length <= MAX_KNOWN_KEYS) onlyIn.set(data, only)
  return only
}

/** For columns with few distinct numbers, whose cache is smaller than the column. */
const onlyIn = new WeakMap<ColumnData, FoundValues>()
const MAX_KNOWN_KEYS = 1024

/** A value of each block, for all of its documents. */
export const foundByBlock = (
  { header, size }: SegmentView,
  numbered: NumberedKind,
  keys: Float64Array,
  distinct: boolean,
): FoundValues => {
  let at: Uint32Array | undefined
  return {
    ...{ form: 'few', keys, distinct },
    ends: isRowKind(numbered) || numbered === 'block' ? endsIn(header, numbered) : header.ends[numbered],
    get at() {
      at ??= blockIndexes({ header, size }, numbered)
      return at
    },
  }
}

const endsIn = (header: SegmentView['header'], numbered: NumberedKind): Uint32Array =>
  Uint32Array.from(header.times, (_, index) => endOrdinal(header, numbered, index))

export const blockIndexes = (
  { header, size }: Pick<SegmentView, 'header' | 'size'>,
  numbered: NumberedKind,
): Uint32Array => {
  const at = new Uint32Array(size)
  if (isRowKind(numbered)) {
    const positions = header.positions(numbered)
    for (let i = 0; i < size; i++) at[i] = indexFrom(header, blockOf(positions[i]!))
    return at
  }
  let start = 0
  for (let index = 0; index < header.times.length; index++) {
    const end = endOrdinal(header, numbered, index)
    at.fill(index, start, end)
    start = end
  }
  return at
}
