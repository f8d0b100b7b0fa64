import { type ColumnData, MISSING } from '../index/column-codec.ts'
import { endOf, isRowKind, type Numbered } from '../query/places.ts'
import type { SegmentView } from '../query/segment-matcher.ts'
import { blockOf } from '../schema.ts'
import type { Found } from './values.ts'

/** The numbers of a column, and perhaps others beside them that no document has. `greatest` is the greatest of them. */
export const foundIn = (data: ColumnData, greatest: number): Found => {
  const { values, base, dictionary, count } = data
  const present = (value: number) => (value === MISSING ? Number.NaN : value)
  if (!values) {
    return {
      form: 'few',
      at: undefined,
      keys: Float64Array.of(present(dictionary ? dictionary[0]! : base)),
      distinct: true,
    }
  }
  if (values instanceof Float64Array) {
    const keys = new Float64Array(count)
    for (let i = 0; i < count; i++) keys[i] = present(values[i]!)
    return { form: 'each', keys }
  }
  if (dictionary) return { form: 'few', at: values, keys: dictionary.map(present), distinct: true }
  const most = greatest - base + 1
  if (most <= SPARSE * count + FEW) {
    const keys = new Float64Array(most)
    for (let i = 0; i < most; i++) keys[i] = present(base + i)
    return { form: 'few', at: values, keys, distinct: true }
  }
  const keys = new Float64Array(count)
  for (let i = 0; i < count; i++) keys[i] = present(base + values[i]!)
  return { form: 'each', keys }
}

/** Places for each document that an array may have which most places of are empty. */
const SPARSE = 2
const FEW = 256

/** The numbers of a column alone, for what cannot be asked about others. */
export const foundOnlyIn = (data: ColumnData, greatest: number): Found => {
  const found = foundIn(data, greatest)
  if (found.form !== 'few' || !found.at || data.dictionary) return found
  const occurs = new Uint8Array(found.keys.length)
  for (let i = 0; i < found.at.length; i++) occurs[found.at[i]!] = 1
  return { ...found, keys: found.keys.map((key, i) => (occurs[i] === 1 ? key : Number.NaN)) }
}

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
    for (let i = 0; i < size; i++) at[i] = blockOf(positions[i]!) - header.first
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
