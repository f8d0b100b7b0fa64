import type { ByteWriter } from '../../../lib/bytes.ts'
import type { FieldwiseKind } from '../../../mapping/index.ts'
import { cursor, type Ids, skipValue } from '../../forms/form.ts'
import { RECORD_COLUMNS } from '../columns.ts'
import type { ReaderOf } from '../wire-readers.ts'

const presenceBytes = (fields: number): number => (fields + 7) >> 3

/** Appends presence bits, then the values in the order of the columns. */
export const fieldsWriter = <T>(kind: FieldwiseKind, readerOf: ReaderOf<T>, ids: Ids) => {
  const columns = RECORD_COLUMNS[kind]
  const readers = columns.map(({ field }) => readerOf(field))
  const head = presenceBytes(columns.length)
  return (out: ByteWriter, from: T): void => {
    const start = out.length
    for (let i = 0; i < head; i++) out.byte(0)
    let bits = 0
    for (let i = 0; i < columns.length; i++) {
      const value = readers[i]!(from)
      if (value !== undefined) {
        columns[i]!.form.write(out, value, ids)
        bits |= 1 << (i & 7)
      }
      if (bits !== 0 && ((i & 7) === 7 || i === columns.length - 1)) {
        out.reserve(0)[start + (i >> 3)] = bits
        bits = 0
      }
    }
  }
}

/**
 * Finds where each field's value begins, by the order of `RECORD_COLUMNS`: -1 if it is absent. The
 * cursor ends behind the last value.
 */
export const locate = (kind: FieldwiseKind, bytes: Uint8Array, start: number, offsets: Int32Array): void => {
  const columns = RECORD_COLUMNS[kind]
  cursor.at = start + presenceBytes(columns.length)
  for (let i = 0; i < columns.length; i++) {
    if ((bytes[start + (i >> 3)]! & (1 << (i & 7))) === 0) offsets[i] = -1
    else {
      offsets[i] = cursor.at
      skipValue(bytes, columns[i]!.form)
    }
  }
}

/** Puts the cursor before one field; false if it is absent. */
export const seek = (kind: FieldwiseKind, index: number, bytes: Uint8Array, start: number): boolean => {
  const columns = RECORD_COLUMNS[kind]
  if ((bytes[start + (index >> 3)]! & (1 << (index & 7))) === 0) return false
  cursor.at = start + presenceBytes(columns.length)
  for (let i = 0; i < index; i++)
    if ((bytes[start + (i >> 3)]! & (1 << (i & 7))) !== 0) skipValue(bytes, columns[i]!.form)
  return true
}

/** Appends a record with another value of one field. */
export const rewriteField = (
  out: ByteWriter,
  kind: FieldwiseKind,
  index: number,
  bytes: Uint8Array,
  [start, end]: readonly [number, number],
  write: (out: ByteWriter) => void,
): void => {
  const begin = out.length
  const had = (bytes[start + (index >> 3)]! & (1 << (index & 7))) !== 0
  const before = RECORD_COLUMNS[kind].length
  const offsets = new Int32Array(before + 1)
  locate(kind, bytes, start, offsets)
  offsets[before] = cursor.at
  const next = (from: number): number => offsets.slice(from).find(offset => offset >= 0)!
  const at = next(index)
  out.bytes(bytes, start, at)
  out.reserve(0)[begin + (index >> 3)]! |= 1 << (index & 7)
  write(out)
  out.bytes(bytes, had ? next(index + 1) : at, end)
}
