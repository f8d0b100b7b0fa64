// By default import: with an older Node, a missing name would end the program before it asks for a
// newer one.
import zlib from 'node:zlib'
import type { ColumnChunk, DecodedArray, Encoding, PageHeader, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { rawBytesOf } from '../../lib/bytes.ts'
import { memoize } from '../../lib/caches.ts'
import { refuse } from '../../lib/errors.ts'
import type { TableCell } from './argument-values.ts'
import { addCell, type CellColumn, createColumn, LENGTH_BYTES } from './cells.ts'
import { findDictionary } from './parquet-dictionary.ts'

/** Where a column is in the schema. */
export interface ChunkPlace {
  /** Names from below the root to the values. */
  path: string[]
  element: SchemaElement
  isRequired: boolean
}

/** Appends the cells of a column: one page, behind a dictionary if values repeat. */
export const writeColumnChunk = (
  writer: ByteWriter,
  column: CellColumn,
  { path, element, isRequired }: ChunkPlace,
): ColumnChunk => {
  const { values, repeated, defined, mostRepeated, mostDefined } =
    column.lists > 0 ? flattenLists(column) : flatCells(column, isRequired)
  const cells = defined.length
  const { bytes, size, least, most } = plainValues(values, path[0]!)
  const null_count = cells - countPresent(values)
  const dictionary = size === undefined ? undefined : findDictionary(bytes, size)
  const start = writer.offset
  let unpacked = 0
  if (dictionary)
    unpacked += writePage(writer, new ByteWriter(0), dictionary.entries, {
      type: 'DICTIONARY_PAGE',
      dictionary_page_header: { num_values: dictionary.count, encoding: 'PLAIN' },
    })
  const page = writer.offset
  const encoding: Encoding = dictionary ? 'RLE_DICTIONARY' : 'PLAIN'
  const levels = new ByteWriter()
  const repetition_levels_byte_length = writeLevels(levels, repeated, mostRepeated)
  const definition_levels_byte_length = writeLevels(levels, defined, mostDefined)
  unpacked += writePage(writer, levels, dictionary ? indexBytes(dictionary) : bytes, {
    type: 'DATA_PAGE_V2',
    data_page_header_v2: {
      ...{ num_values: cells, num_nulls: null_count, num_rows: column.length, encoding, is_compressed: true },
      ...{ definition_levels_byte_length, repetition_levels_byte_length },
    },
  })
  return {
    file_offset: BigInt(start),
    meta_data: {
      ...{ type: element.type!, path_in_schema: path, codec: 'ZSTD', num_values: BigInt(cells) },
      encodings: dictionary ? ['PLAIN', encoding] : [encoding],
      total_compressed_size: BigInt(writer.offset - start),
      total_uncompressed_size: BigInt(unpacked),
      data_page_offset: BigInt(page),
      ...(dictionary && { dictionary_page_offset: BigInt(start) }),
      // The least and the greatest of hashes and addresses exclude nothing.
      ...(column.lists === 0 &&
        column.form !== 'text' && {
          statistics: {
            null_count: BigInt(null_count),
            ...(least !== undefined && { min_value: least, max_value: most! }),
          },
        }),
    },
  }
}

/** Returns the bytes that the page has uncompressed. */
const writePage = (
  writer: ByteWriter,
  levels: ByteWriter,
  bytes: Uint8Array,
  header: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>,
): number => {
  const packed = zlib.zstdCompressSync(bytes, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } })
  const start = writer.offset
  writePageHeader(writer, {
    ...header,
    uncompressed_page_size: levels.offset + bytes.length,
    compressed_page_size: levels.offset + packed.length,
  })
  const headBytes = writer.offset - start
  writer.appendBytes(levels.getBytes())
  writer.appendBytes(packed)
  return headBytes + levels.offset + bytes.length
}

const writeLevels = (writer: ByteWriter, levels: DecodedArray, most: number): number =>
  most === 0 ? 0 : writeRleBitPackedHybrid(writer, levels, levelBits(most))

const levelBits = (value: number): number => 32 - Math.clz32(value)

const indexBytes = ({ indexes, count }: { indexes: DecodedArray; count: number }): Uint8Array => {
  const writer = new ByteWriter(indexes.length * 2)
  const bits = levelBits(count - 1)
  writer.appendUint8(bits)
  writeRleBitPackedHybrid(writer, indexes, bits)
  return writer.getBytes()
}

/** Values, and how deep each cell is repeated and defined. */
interface Leaves {
  values: CellColumn
  repeated: DecodedArray
  defined: DecodedArray
  mostRepeated: number
  mostDefined: number
}

const flatCells = (column: CellColumn, isRequired: boolean): Leaves => ({
  values: column,
  repeated: [],
  defined: column.present.subarray(0, column.length),
  mostRepeated: 0,
  mostDefined: isRequired ? 0 : 1,
})

/** A list has two levels, for itself and for its elements; null elements have one more. */
const flattenLists = ({ form, lists, values: cells }: CellColumn): Leaves => {
  const values = createColumn({ form, lists: 0 })
  const repeated: number[] = []
  const defined: number[] = []
  const add = (cell: TableCell, depth: number, repeatedAt: number) => {
    const isInner = depth < lists && cell !== null
    if (isInner && (cell as TableCell[]).length > 0) {
      for (const [i, inner] of (cell as TableCell[]).entries()) add(inner, depth + 1, i === 0 ? repeatedAt : depth + 1)
      return
    }
    repeated.push(repeatedAt)
    defined.push(2 * depth + (cell === null ? 0 : 1))
    if (!isInner) addCell(values, cell)
  }
  for (const cell of cells) add(cell, 0, 0)
  return { values, repeated, defined, mostRepeated: lists, mostDefined: 2 * lists + 1 }
}

interface PlainValues {
  bytes: Uint8Array
  /** Bytes of each value, or 0 where each begins with its length; undefined for bits. */
  size: number | undefined
  /** Undefined without values. */
  least?: bigint | number | boolean | undefined
  most?: bigint | number | boolean | undefined
}

/** Values in the encoding PLAIN. */
const plainValues = (column: CellColumn, name: string): PlainValues => {
  const text = column.text.view()
  switch (column.form) {
    case 'text':
      return { bytes: text, size: 0 }
    case 'long':
      return longValues(column, parsedInteger)
    case 'time':
      return longValues(column, (bytes, start, end) => millisOf(bytes.toString('latin1', start, end)))
    case 'double':
      return doubleValues(column)
    case 'decimal':
      return decimalValues(column, name)
    case 'boolean':
      return booleanValues(column)
  }
}

/** Visits the values of a column. */
const eachCellText = ({ text }: CellColumn, visit: (bytes: Buffer, start: number, end: number, i: number) => void) => {
  const bytes = text.view()
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const start = at + LENGTH_BYTES
    at = start + bytes.readUInt32LE(at)
    visit(bytes, start, at, i)
  }
}

const countPresent = ({ present, length }: CellColumn): number => {
  let count = 0
  for (let i = 0; i < length; i++) count += present[i]!
  return count
}

const longValues = (
  column: CellColumn,
  read: (bytes: Buffer, start: number, end: number) => number | bigint,
): PlainValues => {
  const values = new BigInt64Array(countPresent(column))
  let [least, most]: (number | bigint)[] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  eachCellText(column, (bytes, start, end, i) => {
    const value = read(bytes, start, end)
    values[i] = BigInt(value)
    if (value < least!) least = value
    if (value > most!) most = value
  })
  return {
    ...{ bytes: rawBytesOf(values), size: 8 },
    ...(values.length > 0 && { least: BigInt(least!), most: BigInt(most!) }),
  }
}

/** Digits that a double holds exactly. */
const SAFE_DECIMAL_DIGITS = 15
const [ZERO, MINUS, TRUE] = Buffer.from('0-t') as unknown as [number, number, number]

const parsedInteger = (bytes: Buffer, start: number, end: number): number | bigint => {
  if (end - start > SAFE_DECIMAL_DIGITS) {
    const value = BigInt(bytes.toString('latin1', start, end))
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} takes more than 64 bits`)
    return value
  }
  const isNegative = bytes[start] === MINUS
  let value = 0
  for (let at = isNegative ? start + 1 : start; at < end; at++) value = value * 10 + bytes[at]! - ZERO
  return isNegative ? -value : value
}

/** Neighbours are often of one block. */
const millisOf = memoize(1, (time: string): number => Date.parse(`${time}Z`))

const doubleValues = (column: CellColumn): PlainValues => {
  const values = new Float64Array(countPresent(column))
  eachCellText(column, (bytes, start, end, i) => {
    values[i] = Number(bytes.toString('latin1', start, end))
  })
  if (values.length === 0) return { bytes: new Uint8Array(0), size: 8 }
  let [least, most] = [values[0]!, values[0]!]
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  // Readers may take zeros of both signs for different values.
  return { bytes: rawBytesOf(values), size: 8, least: least === 0 ? -0 : least, most: most === 0 ? 0 : most }
}

const DECIMAL_BYTES = 16
const DECIMAL_END = 10n ** 38n

/** Integers of 16 bytes, the highest first. */
const decimalValues = (column: CellColumn, name: string): PlainValues => {
  const values = Buffer.alloc(countPresent(column) * DECIMAL_BYTES)
  let least: bigint | undefined
  let most: bigint | undefined
  eachCellText(column, (bytes, start, end, i) => {
    const value = BigInt(bytes.toString('latin1', start, end))
    if (value >= DECIMAL_END || value <= -DECIMAL_END) throw decimalTooLarge(name, value)
    values.writeBigInt64BE(value >> 64n, i * DECIMAL_BYTES)
    values.writeBigUInt64BE(BigInt.asUintN(64, value), i * DECIMAL_BYTES + 8)
    if (least === undefined || value < least) least = value
    if (most === undefined || value > most) most = value
  })
  return { bytes: values, size: DECIMAL_BYTES, least, most }
}

const decimalTooLarge = (name: string, value: bigint) =>
  refuse(
    'decimal_too_large',
    `Column ${name}: ${value} has more than the 38 digits that a decimal of Parquet has room for: export integers as text.`,
  )

const booleanValues = (column: CellColumn): PlainValues => {
  const values = new Uint8Array(Math.ceil(countPresent(column) / 8))
  let [anyTrue, anyFalse] = [false, false]
  eachCellText(column, (bytes, start, _, i) => {
    const isTrue = bytes[start] === TRUE
    if (isTrue) values[i >> 3]! |= 1 << (i & 7)
    anyTrue ||= isTrue
    anyFalse ||= !isTrue
  })
  const any = anyTrue || anyFalse
  return { bytes: values, size: undefined, ...(any && { least: !anyFalse, most: anyTrue }) }
}
