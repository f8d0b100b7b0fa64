import zlib from 'node:zlib'
import { lowerBound } from '../../lib/arrays.ts'
import { damagedValue } from '../../sqlite/damage.ts'

/**
 * Columns (doc values): values of one field in one segment, by ordinal; all are integers. A missing
 * value is -1, which no field has. Integers beyond 2^53 are the nearest double, for sorting. The
 * blob is little-endian:
 *
 *     0   u8   width: bytes of a value, 0 (all are equal), 1, 2, 4 or 8 (doubles)
 *     1   u8   1 if values index the dictionary
 *     2   u8   1 if everything from 24 on is a zstd frame
 *     4   u32  number of values
 *     8   f64  base, added to each value; 0 with a dictionary
 *     16  u32  entries of the dictionary
 *     20  u32  CRC-32 of all other bytes
 *     24       values, padded to a multiple of 8 bytes, then the dictionary as ascending doubles
 */
export interface ColumnData {
  count: number
  width: Width
  /** Undefined if all are equal. */
  values: StoredValues | undefined
  base: number
  dictionary: Float64Array | undefined
  /** Bytes that it takes in memory. */
  bytes: number
}

export type StoredValues = Uint8Array | Uint16Array | Uint32Array | Float64Array
type Width = 0 | 1 | 2 | 4 | 8

export interface EncodedColumn {
  least: number
  greatest: number
  data: Uint8Array<ArrayBuffer>
}

export interface EncodeOptions {
  /** Whether segments that stay as they are hold it: then it may be compressed. */
  full: boolean
}

export const MISSING = -1

const COLUMN_HEAD_BYTES = 24
const ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const

const MIN_DICTIONARY_VALUES = 1024
const MAX_ENTRIES = 2 ** 16

const widthFor = (range: number): Width =>
  range === 0 ? 0 : range < 2 ** 8 ? 1 : range < 2 ** 16 ? 2 : range < 2 ** 32 ? 4 : 8

/** Undefined if every value is missing: then nothing is stored. */
export const encodeColumn = (values: Float64Array, { full }: EncodeOptions): EncodedColumn | undefined => {
  let least = Number.POSITIVE_INFINITY
  let greatest = MISSING
  let present = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value > greatest) greatest = value
    if (value === MISSING) continue
    present++
    if (value < least) least = value
  }
  if (present === 0) return undefined
  const lowest = present === values.length ? least : MISSING
  const plain = Number.isSafeInteger(greatest) ? widthFor(greatest - lowest) : 8
  const dictionary = plain > 1 && values.length >= MIN_DICTIONARY_VALUES ? dictionaryOf(values, plain) : undefined
  const bytes = dictionary
    ? blobOf({ width: widthFor(dictionary.dictionary!.length - 1), base: 0, ...dictionary })
    : blobOf({ width: plain, base: plain === 8 ? 0 : lowest, values })
  return { least, greatest, data: sealColumn(bytes, full) }
}

/** Ascending distinct values, and the index of each value; undefined if that saves nothing. */
const dictionaryOf = (values: Float64Array, width: Width): Pick<ColumnParts, 'values' | 'dictionary'> | undefined => {
  const most = Math.min(MAX_ENTRIES, Math.floor((values.length * (width - 1)) / 8))
  const found = findDistinct(values, most)
  if (!found) return undefined
  const { entries, indices } = found
  const saved = (width - widthFor(entries.length - 1)) * values.length
  if (saved <= entries.length * 8) return undefined
  const dictionary = entries.slice().sort()
  const places = new Uint32Array(entries.length)
  for (let i = 0; i < entries.length; i++) places[i] = lowerBound(dictionary, entries[i]!)
  for (let i = 0; i < indices.length; i++) indices[i] = places[indices[i]!]!
  return { dictionary, values: indices }
}

/** The same column with places in a dictionary, in which NaN is none, as values. */
export const codedColumn = (data: ColumnData): ColumnData => {
  const values = new Float64Array(data.count)
  copyValues(data, values, 0)
  const { entries, indices } = findDistinct(values, values.length)!
  return columnOfCodes(
    indices,
    entries.map(value => (value === MISSING ? Number.NaN : value)),
  )
}

/** In memory only: codes are places in the dictionary. */
export const columnOfCodes = (codes: Uint32Array, dictionary: Float64Array): ColumnData => {
  const width = dictionary.length <= 2 ** 16 ? 2 : 4
  const values = width === 2 ? Uint16Array.from(codes) : codes
  const bytes = values.byteLength + dictionary.byteLength
  return { count: codes.length, width, values, base: 0, dictionary, bytes }
}

/** By open addressing: a Map of doubles takes several times as long. */
const findDistinct = (values: Float64Array, most: number) => {
  const mask = 2 ** Math.ceil(Math.log2(2 * (most + 2))) - 1
  const slots = new Uint32Array(mask + 1)
  const entries = new Float64Array(most)
  const indices = new Uint32Array(values.length)
  let count = 0
  for (let i = 0; i < values.length; i++) {
    // No negative zero, which has other bits.
    const value = values[i]! + 0
    DOUBLE[0] = value
    let slot = Math.imul(Math.imul(DOUBLE_BITS[0]!, 0x9e3779b1) ^ DOUBLE_BITS[1]!, 0x85ebca6b)
    slot = (slot ^ (slot >>> 15)) & mask
    let entry = slots[slot]!
    while (entry !== 0 && entries[entry - 1] !== value) {
      slot = (slot + 1) & mask
      entry = slots[slot]!
    }
    if (entry === 0) {
      if (count === most) return undefined
      entries[count++] = value
      entry = count
      slots[slot] = entry
    }
    indices[i] = entry - 1
  }
  return { entries: entries.slice(0, count), indices }
}

const DOUBLE = new Float64Array(1)
const DOUBLE_BITS = new Uint32Array(DOUBLE.buffer)

interface ColumnParts {
  width: Width
  base: number
  values: Float64Array | Uint32Array
  dictionary?: Float64Array
}

const paddedSize = (width: Width, count: number): number => Math.ceil((width * count) / 8) * 8

const blobOf = ({ width, base, values, dictionary }: ColumnParts): Uint8Array<ArrayBuffer> => {
  const size = paddedSize(width, values.length)
  const bytes = new Uint8Array(COLUMN_HEAD_BYTES + size + (dictionary?.byteLength ?? 0))
  const head = new DataView(bytes.buffer)
  head.setUint8(0, width)
  head.setUint8(1, dictionary ? 1 : 0)
  head.setUint32(4, values.length, true)
  head.setFloat64(8, base, true)
  head.setUint32(16, dictionary?.length ?? 0, true)
  if (width > 0) {
    const target = new ARRAYS[width as keyof typeof ARRAYS](bytes.buffer, COLUMN_HEAD_BYTES, values.length)
    if (base === 0) target.set(values)
    else for (let i = 0; i < values.length; i++) target[i] = values[i]! - base
  }
  if (dictionary) new Float64Array(bytes.buffer, COLUMN_HEAD_BYTES + size).set(dictionary)
  return bytes
}

const COMPRESSION = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } }

const sealColumn = (plain: Uint8Array<ArrayBuffer>, full: boolean): Uint8Array<ArrayBuffer> => {
  const body = plain.subarray(COLUMN_HEAD_BYTES)
  const packed = full && body.length > 0 ? zlib.zstdCompressSync(body, COMPRESSION) : body
  let bytes = plain
  if (packed.length < body.length) {
    bytes = new Uint8Array(COLUMN_HEAD_BYTES + packed.length)
    bytes.set(plain.subarray(0, COLUMN_HEAD_BYTES))
    bytes.set(packed, COLUMN_HEAD_BYTES)
    bytes[2] = 1
  }
  new DataView(bytes.buffer).setUint32(20, checksumOf(bytes), true)
  return bytes
}

const checksumOf = (bytes: Uint8Array): number =>
  zlib.crc32(bytes.subarray(COLUMN_HEAD_BYTES), zlib.crc32(bytes.subarray(0, 20)))

/** An error names the column by `what`. */
export const decodeColumn = (blob: Uint8Array, what: string): ColumnData => {
  const stored = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  if (blob.length < COLUMN_HEAD_BYTES || checksumOf(blob) !== stored.getUint32(20, true)) throw damagedValue(what)
  const width = stored.getUint8(0) as Width
  const count = stored.getUint32(4, true)
  const size = paddedSize(width, count)
  const body = readColumnBody(blob, stored.getUint8(2) === 1, what)
  return {
    count,
    width,
    base: stored.getFloat64(8, true),
    values: width === 0 ? undefined : new ARRAYS[width](body.buffer, body.byteOffset, count),
    dictionary: stored.getUint8(1)
      ? new Float64Array(body.buffer, body.byteOffset + size, stored.getUint32(16, true))
      : undefined,
    bytes: body.length,
  }
}

/** Values must begin at a multiple of their size. */
const readColumnBody = (blob: Uint8Array, packed: boolean, what: string): Uint8Array<ArrayBuffer> => {
  const body = blob.subarray(COLUMN_HEAD_BYTES)
  try {
    return packed ? aligned(zlib.zstdDecompressSync(body)) : aligned(body)
  } catch (error) {
    throw damagedValue(what, error)
  }
}

const aligned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.byteOffset % 8 === 0 ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)

export const isPacked = (blob: Uint8Array): boolean => blob[2] === 1

export const valueAt = ({ values, base, dictionary }: ColumnData, ordinal: number): number => {
  const stored = values ? values[ordinal]! : 0
  return dictionary ? dictionary[stored]! : base + stored
}

export const copyValues = ({ values, base, dictionary, count }: ColumnData, target: Float64Array, start: number) => {
  if (!values) target.fill(dictionary ? dictionary[0]! : base, start, start + count)
  else if (dictionary) for (let i = 0; i < count; i++) target[start + i] = dictionary[values[i]!]!
  else if (base === 0) target.set(values, start)
  else for (let i = 0; i < count; i++) target[start + i] = values[i]! + base
}
