import { type ColumnData, MISSING } from '../index/column-codec.ts'
import { indexFrom } from '../index/segment.ts'
import { endOf, isRowKind, type Numbered } from '../query/places.ts'
import type { SegmentView } from '../query/segment-matcher.ts'
import { blockOf } from '../schema.ts'
import { type Found, NOTHING } from './values.ts'

/** The numbers of a column, and perhaps others beside them that no document has. `greatest` is the greatest of them. */
export const foundIn = (data: ColumnData, greatest: number): Found => {
  const { values, base, dictionary, count } = data
  if (!values) return { ...NOTHING, keys: Float64Array.of(present(dictionary ? dictionary[0]! : base)) }
  if (values instanceof Float64Array) return { form: 'each', keys: withoutMissing(values) }
  if (dictionary) return { form: 'few', at: values, keys: startPresent(dictionary), distinct: true }
  const most = greatest - base + 1
  if (most <= SPARSE * count + FEW) {
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

/** So many whole numbers from one on; not to be written to. */
const ascending = (first: number, count: number): Float64Array => {
  const end = first + 1 + count
  if (end <= SHARED && first >= -1) {
    if (shared.length < end) shared = Float64Array.from({ length: 2 ** Math.ceil(Math.log2(end)) }, (_, i) => i - 1)
    return shared.subarray(first + 1, end)
  }
  return Float64Array.from({ length: count }, (_, i) => first + i)
}

/** Those that ids in a segment mostly are, from -1 on. */
let shared = new Float64Array(0)
const SHARED = 2 ** 18

const present = (value: number): number => (value === MISSING ? Number.NaN : value)

/** The same array where none of them is. */
const withoutMissing = (numbers: Float64Array): Float64Array =>
  numbers.includes(MISSING) ? numbers.map(present) : numbers

/** The same of numbers that ascend. */
const startPresent = (numbers: Float64Array): Float64Array => (numbers[0] === MISSING ? numbers.map(present) : numbers)

/** Places for each document that an array may have which most places of are empty. */
const SPARSE = 2
const FEW = 256

/** The numbers of a column alone, for what cannot be asked about others. */
export const foundOnlyIn = (data: ColumnData, greatest: number): Found => {
  const known = onlyIn.get(data)
  if (known) return known
  const found = foundIn(data, greatest)
  if (found.form !== 'few' || !found.at || data.dictionary) return found
  const occurs = new Uint8Array(found.keys.length)
  for (let i = 0; i < found.at.length; i++) occurs[found.at[i]!] = 1
  const only = { ...found, keys: found.keys.map((key, i) => (occurs[i] === 1 ? key : Number.NaN)) }
  if (found.keys.length <= KEPT) onlyIn.set(data, only)
  return only
}

/** Of columns of so few numbers that they take less than the columns themselves. */
const onlyIn = new WeakMap<ColumnData, Found>()
const KEPT = 1024

/** What all documents of a block share, by the block's index in the segment. */
export const foundByBlock = (
  { header, size }: SegmentView,
  numbered: Numbered,
  keys: Float64Array,
  distinct: boolean,
): Found => {
  let at: Uint32Array | undefined
  return {
    ...{ form: 'few', keys, distinct },
    ends: Uint32Array.from(header.times, (_, index) => endOf(header, numbered, index)),
    get at() {
      at ??= blockIndexes({ header, size }, numbered)
      return at
    },
  }
}

/** The index of each document's block in the segment. */
export const blockIndexes = (
  { header, size }: Pick<SegmentView, 'header' | 'size'>,
  numbered: Numbered,
): Uint32Array => {
  const at = new Uint32Array(size)
  if (isRowKind(numbered)) {
    const positions = header.positions(numbered)
    for (let i = 0; i < size; i++) at[i] = indexFrom(header, blockOf(positions[i]!))
    return at
  }
  let start = 0
  for (let index = 0; index < header.times.length; index++) {
    const end = endOf(header, numbered, index)
    at.fill(index, start, end)
    start = end
  }
  return at
}
