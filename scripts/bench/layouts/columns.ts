/**
 * Columns (doc values): the values of one field in one segment, by ordinal. The blob begins with 32 bytes, little-endian:
 *
 *     0   u8   width: bytes of a value, 0 (all equal), 1, 2, 4 or 8 (doubles)
 *     1   u8   1 where values are places in a dictionary, else 0
 *     4   u32  number of values
 *     8   f64  base, which is added to each value (0 with a dictionary)
 *     16  f64  greatest value as it is stored
 *     24  u32  entries of the dictionary
 *     28  u32  CRC-32 of all that follows
 *
 * Then come the values, filled up to a multiple of eight bytes, and the dictionary as doubles, ascending.
 */
export interface StoredColumn {
  values: Uint8Array | Uint16Array | Uint32Array | Float64Array | undefined
  base: number
  dictionary: Float64Array | undefined
  count: number
  /** Greatest value as it is stored. */
  largest: number
}

import { crc32 } from 'node:zlib'

const HEAD = 32
const FITS = [
  { width: 1, below: 2 ** 8 },
  { width: 2, below: 2 ** 16 },
  { width: 4, below: 2 ** 32 },
] as const
const ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const

const widthFor = (range: number): 0 | 1 | 2 | 4 | 8 =>
  range === 0 ? 0 : (FITS.find(({ below }) => range < below)?.width ?? 8)

export interface ColumnOptions {
  /** Whether a dictionary may be used where it takes less; default true. */
  dictionary?: boolean
}

/** Values are integers that a double holds, or doubles that stand for larger ones in their order. */
export const encodeColumn = (values: Float64Array, { dictionary: mayUse = true }: ColumnOptions = {}): Buffer => {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  const plain = Number.isSafeInteger(most) ? widthFor(most - least) : 8
  const distinct = mayUse && plain > 1 ? distinctOf(values) : undefined
  const width = distinct ? widthFor(distinct.length - 1) : plain
  const useful = distinct !== undefined && width * values.length + 8 * distinct.length < plain * values.length
  if (useful) return withDictionary(values, distinct, width)
  const base = plain === 8 ? 0 : least
  return blobOf(plain, base, values.length, undefined, most - base, target => {
    for (let i = 0; i < values.length; i++) target[i] = values[i]! - base
  })
}

const MOST_ENTRIES = 2 ** 16
const distinctOf = (values: Float64Array): Float64Array | undefined => {
  const seen = new Set<number>()
  for (const value of values) {
    seen.add(value)
    if (seen.size > MOST_ENTRIES) return undefined
  }
  return Float64Array.from(seen).sort()
}

type Values = NonNullable<StoredColumn['values']>

const withDictionary = (values: Float64Array, dictionary: Float64Array, width: 0 | 1 | 2 | 4 | 8): Buffer => {
  const places = new Map<number, number>()
  for (const [place, value] of dictionary.entries()) places.set(value, place)
  return blobOf(width, 0, values.length, dictionary, dictionary.length - 1, target => {
    for (let i = 0; i < values.length; i++) target[i] = places.get(values[i]!)!
  })
}

const blobOf = (
  width: 0 | 1 | 2 | 4 | 8,
  base: number,
  count: number,
  dictionary: Float64Array | undefined,
  largest: number,
  write: (target: Values) => void,
): Buffer => {
  const size = Math.ceil((width * count) / 8) * 8
  const bytes = new Uint8Array(HEAD + size + (dictionary?.byteLength ?? 0))
  const head = new DataView(bytes.buffer)
  head.setUint8(0, width)
  head.setUint8(1, dictionary ? 1 : 0)
  head.setUint32(4, count, true)
  head.setFloat64(8, base, true)
  head.setFloat64(16, largest, true)
  head.setUint32(24, dictionary?.length ?? 0, true)
  if (width > 0) write(new ARRAYS[width as 1 | 2 | 4 | 8](bytes.buffer, HEAD, count))
  if (dictionary) new Float64Array(bytes.buffer, HEAD + size).set(dictionary)
  head.setUint32(28, crc32(bytes.subarray(HEAD)), true)
  return Buffer.from(bytes.buffer)
}

export const decodeColumn = (blob: Uint8Array): StoredColumn => {
  if (crc32(blob.subarray(HEAD)) !== new DataView(blob.buffer, blob.byteOffset).getUint32(28, true))
    throw new Error('a column is damaged')
  // Values must begin at a multiple of their size.
  const { buffer } = blob.byteOffset % 8 === 0 ? blob : new Uint8Array(blob)
  const start = buffer === blob.buffer ? blob.byteOffset : 0
  const head = new DataView(buffer, start)
  const width = head.getUint8(0) as 0 | 1 | 2 | 4 | 8
  const count = head.getUint32(4, true)
  const size = Math.ceil((width * count) / 8) * 8
  return {
    count,
    largest: head.getFloat64(16, true),
    base: head.getFloat64(8, true),
    values: width === 0 ? undefined : new ARRAYS[width](buffer as ArrayBuffer, start + HEAD, count),
    dictionary: head.getUint8(1)
      ? new Float64Array(buffer as ArrayBuffer, start + HEAD + size, head.getUint32(24, true))
      : undefined,
  }
}

export const valueAt = ({ values, base, dictionary }: StoredColumn, ordinal: number): number => {
  const stored = values ? values[ordinal]! : 0
  return dictionary ? dictionary[stored]! : base + stored
}

/** Bytes that the values would take with as many bits each as the largest needs. */
export const bitPackedSize = ({ values, dictionary, count, largest }: StoredColumn): number => {
  if (!values) return HEAD
  return HEAD + Math.ceil((count * Math.min(64, Math.ceil(Math.log2(largest + 1)))) / 8) + (dictionary?.byteLength ?? 0)
}
