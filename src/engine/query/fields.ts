import type { RestKind } from '../../documents/rest.ts'
import * as show from '../../documents/show.ts'
import { decodeRlp, type Rlp } from '../../lib/rlp.ts'
import { byKind, FIELDWISE_KINDS, type Field, type FieldwiseKind, type List, MAPPING } from '../../mapping/index.ts'
import { type Column, columnIndex, RARE_BY_NUMBER, RECORD_COLUMNS, REST } from '../documents/forms.ts'
import { unpack } from '../documents/pack.ts'
import { cursor, takeVarint } from '../documents/records/cursor.ts'
import { eachRare, startOfExtra } from '../documents/records/rest.ts'
import { FOLLOWS_LOGS, NO_BYTES, takeBoolean, takeInteger, takeLength } from '../documents/records/values.ts'
import { integersAt } from '../documents/stored.ts'
import type { Reader } from '../reader.ts'

/** Members of `_source` in the order of the mapping, with the field of the record that each is read from; `index` is -1 where there is none. */
export const SOURCE_FIELDS = byKind(FIELDWISE_KINDS, kind =>
  Object.keys(MAPPING[kind].fields).map(field => ({ field, index: columnIndex(kind, field) })),
)

export interface FieldsOptions {
  reader: Pick<Reader, 'addressDigits' | 'name'>
  big: show.BigIntegers
  /** The bloom filter of the logs of the transaction at a position, as `0x` hex. */
  bloomAt(position: number): string
}

/** Shows fields of records as `_source` has them. */
export const createFields = ({ reader, big, bloomAt }: FieldsOptions) => {
  const address = (id: number): string => show.address(`0x${reader.addressDigits(id)}`)

  const shown = (kind: FieldwiseKind, column: Column, bytes: Buffer, position: number): unknown => {
    switch (column.form) {
      case 'address': {
        const id = takeVarint(bytes)
        return id === 0 ? null : address(id)
      }
      case 'name': {
        const id = takeVarint(bytes)
        return id === 0 ? null : reader.name(id)
      }
      case 'uint': {
        const value = takeInteger(bytes) as show.Integer | null
        return value === null ? null : show.INTEGERS[(column.declaration as Field).kind](value, big)
      }
      case 'digits': {
        const value = takeInteger(bytes)
        return value === null || typeof value === 'string' ? value : show.rawHex(value)
      }
      case 'boolean':
        return takeBoolean(bytes)
      case 'integers':
        return integersAt(bytes, cursor.at)
    }
    const length = takeLength(bytes)
    if (length === NO_BYTES) return null
    if (length === FOLLOWS_LOGS) return bloomAt(position)
    const end = cursor.at + length
    const value = bytes.subarray(cursor.at, end)
    // So that who reads on finds the next value.
    if (column.form !== 'rest') cursor.at = end
    switch (column.form) {
      case 'words':
        return unpack(value, reader.addressDigits)
      case 'hashes':
        return hashesOf(value, length)
      case 'list':
        return listOf(column.declaration as List, decodeRlp(value))
      case 'rest': {
        const start = startOfExtra(kind as RestKind, bytes, end)
        return start === end ? undefined : JSON.parse(bytes.toString('utf8', start, end))
      }
      default:
        return `0x${value.toString('hex')}`
    }
  }

  return {
    address,
    /** The field that begins at an offset of a record of the document at a position; undefined where it is absent. */
    show(kind: FieldwiseKind, index: number, bytes: Buffer, offset: number, position: number): unknown {
      if (offset < 0) return undefined
      cursor.at = offset
      return shown(kind, RECORD_COLUMNS[kind][index]!, bytes, position)
    },
    /** Fields that few chains have, of a record whose fields begin at these offsets. */
    rare(kind: RestKind, bytes: Buffer, offsets: Int32Array, position: number): Record<string, unknown> {
      const fields: Record<string, unknown> = {}
      cursor.at = offsets[REST[kind]]!
      if (cursor.at < 0) return fields
      const end = takeLength(bytes) + cursor.at
      eachRare(bytes, end, number => {
        const column = RARE_BY_NUMBER[kind][number]!
        fields[column.field] = shown(kind, column, bytes, position)
      })
      return fields
    },
  }
}

/** Items of 32 bytes, one behind the other, up to a length. */
export const hashesOf = (bytes: Buffer, length: number): string[] =>
  Array.from({ length: length / 32 }, (_, i) => `0x${bytes.toString('hex', i * 32, i * 32 + 32)}`)

export const listOf = (declaration: List, items: Rlp): unknown[] => {
  const members = Object.entries(declaration.members)
  return (items as Rlp[]).map(item =>
    Object.fromEntries(
      members.flatMap(([name, member], index) => {
        const [value] = (item as Rlp[])[index] as Rlp[]
        return value === undefined ? [] : [[name, memberOf(member, value)]]
      }),
    ),
  )
}

const memberOf = ({ kind }: Field, value: Rlp): unknown =>
  kind === 'hexList' ? (value as Rlp[]).map(item => `0x${digits(item)}`) : show.member(kind, digits(value))

const digits = (bytes: Rlp): string => Buffer.from(bytes as Uint8Array).toString('hex')
