import * as show from '../../../src/documents/show.ts'
import type { Column } from '../../../src/engine/documents/forms.ts'
import { readVarints } from '../../../src/engine/documents/stored.ts'
import { decodeRlp } from '../../../src/lib/rlp.ts'
import { type Field, type List, MAPPING } from '../../../src/mapping/index.ts'
import { bytes, type Json } from './json.ts'
import { RECORD_COLUMNS } from './records.ts'
import { createBloomShow } from './show-bloom.ts'
import { INDEX, PIECES, quantity } from './show-log.ts'
import type { BlockContext, Source } from './source.ts'
import { cursor, decimalOf, isLong, unpackHex, varint } from './values.ts'

const COLUMNS = RECORD_COLUMNS.tx
const NULL = bytes('null')
const COIN = bytes(',"coin":')
const PADDED = bytes(',"padded":"0x')
const OPEN_HEX = bytes('"0x')
const HEAD = bytes(`{"_index":"${INDEX}-tx","_type":"tx","_id":"0x`)
const PARENT = bytes('","_parent":"')

/** Members of `_source` in the order of the mapping: a column of the record, or what follows from the place. */
const FIELDS = Object.entries(MAPPING.tx.fields).map(([field, declaration]) => ({
  field,
  declaration,
  key: bytes(`"${field}":`),
  index: COLUMNS.findIndex(column => column.field === field),
}))

/** Where the value of each column ends its bytes; -1 for one that is absent. */
const offsets = new Int32Array(COLUMNS.length)

const locate = (packed: Uint8Array, start: number) => {
  const head = (COLUMNS.length + 7) >> 3
  cursor.at = start + head
  for (let index = 0; index < COLUMNS.length; index++) {
    if ((packed[start + (index >> 3)]! & (1 << (index & 7))) === 0) {
      offsets[index] = -1
      continue
    }
    offsets[index] = cursor.at
    skip(packed, COLUMNS[index]!)
  }
}

const skip = (packed: Uint8Array, { form }: Column) => {
  switch (form) {
    case 'address':
    case 'name':
      while (packed[cursor.at++]! >= 0x80);
      return
    case 'boolean':
      cursor.at++
      return
    case 'uint':
    case 'digits': {
      const head = packed[cursor.at++]!
      if (head === 254) cursor.at += 1 + packed[cursor.at]!
      else if (head > 128 && head < 254) cursor.at += head - 128
      return
    }
    default: {
      const length = varint(packed)
      if (length >= 2) cursor.at += length - 2
    }
  }
}

export const createTxShow = (source: Source) => {
  const { reader, addresses, block: blockOf, record } = source
  const bloom = createBloomShow(source)
  const one = new Uint8Array(1)
  const integer = (json: Json, packed: Uint8Array, kind: Field['kind']) => {
    const head = packed[cursor.at++]!
    if (head === 255) return json.piece(NULL)
    if (head === 254) {
      const size = packed[cursor.at]!
      json.piece(OPEN_HEX)
      json.hex(packed, cursor.at + 1, cursor.at + 1 + size)
      return json.piece(PIECES.quote)
    }
    one[0] = head
    const value = head < 128 ? one : packed
    const from = head < 128 ? 0 : cursor.at
    const to = head < 128 ? 1 : cursor.at + head - 128
    if (kind === 'hexNumber') {
      json.piece(OPEN_HEX)
      json.minimalHex(value, from, to)
      return json.piece(PIECES.quote)
    }
    const decimal = decimalOf(value, from, to)
    json.piece(PIECES.numStart)
    if (isLong(decimal)) json.ascii(decimal)
    else json.piece(NULL)
    if (kind === 'amount') {
      json.piece(COIN)
      json.ascii(decimal === '0' ? '0' : String(Number(`${decimal}e-18`)))
      json.piece(PADDED)
      json.zeros(64 - 2 * (to - from))
      json.hex(value, from, to)
      json.piece(PIECES.quote)
    }
    json.piece(PIECES.rawStart)
    json.minimalHex(value, from, to)
    json.piece(PIECES.rawEnd)
  }

  /** Bytes with their length before them; false where an explicit null was written in their place. */
  const blob = (json: Json, packed: Uint8Array): number => {
    const length = varint(packed) - 2
    if (length < 0) json.piece(NULL)
    return length
  }

  const column = (json: Json, packed: Buffer, { form, declaration }: Column, number: number, place: number) => {
    switch (form) {
      case 'address': {
        const id = varint(packed)
        if (id === 0) return json.piece(NULL)
        json.piece(OPEN_HEX)
        addresses.checksummed(json, id)
        return json.piece(PIECES.quote)
      }
      case 'name': {
        const id = varint(packed)
        return json.piece(id === 0 ? NULL : bytes(JSON.stringify(reader.name(id))))
      }
      case 'boolean':
        return json.ascii(['false', 'true', 'null'][packed[cursor.at]!]!)
      case 'uint':
      case 'digits':
        return integer(json, packed, (declaration as Field).kind)
      case 'bloom':
        if (packed[cursor.at] === 1) return bloom(json, number, place)
    }
    const length = blob(json, packed)
    if (length < 0) return
    const at = cursor.at
    const bytesOf = () => packed.subarray(at, at + length)
    if (form === 'words') {
      json.piece(OPEN_HEX)
      if (length > 0) unpackHex(json, packed, at, at + length, addresses)
      json.piece(PIECES.quote)
    } else if (form === 'hashes') {
      json.ascii('[')
      for (let i = 0; i < length; i += 32) {
        if (i > 0) json.piece(PIECES.comma)
        json.piece(OPEN_HEX)
        json.hex(packed, at + i, at + i + 32)
        json.piece(PIECES.quote)
      }
      json.ascii(']')
    } else if (form === 'integers') json.ascii(JSON.stringify(readVarints(bytesOf())))
    else if (form === 'list') json.piece(listOf(declaration as List, bytesOf()))
    else {
      json.piece(OPEN_HEX)
      json.hex(packed, at, at + length)
      json.piece(PIECES.quote)
    }
  }

  const derived = (json: Json, field: string, block: BlockContext, place: number) => {
    if (field === 'transactionIndex') return quantity(json, place)
    json.piece(OPEN_HEX)
    json.hex(block.hashes, place * 32, place * 32 + 32)
    json.piece(PIECES.quote)
  }

  const envelope = (json: Json, block: BlockContext, place: number) => {
    json.piece(HEAD)
    json.hex(block.hashes, place * 32, place * 32 + 32)
    json.piece(PIECES.score)
    json.piece(block.hash)
    json.piece(PARENT)
    json.piece(block.hash)
    json.piece(PIECES.source)
  }

  return (json: Json, number: number, place: number) => {
    const block = blockOf(number)
    const view = record('tx', number, place)
    const { bytes: packed } = view
    locate(packed, view.start)
    envelope(json, block, place)
    let comma = false
    for (const { field, index, key } of FIELDS) {
      if (index >= 0 && offsets[index]! < 0) continue
      // Stands with the block's hash.
      if (field === 'blockNumber') continue
      if (comma) json.piece(PIECES.comma)
      comma = true
      if (field === 'blockHash') json.piece(block.place)
      else if (field === 'timestamp') json.piece(block.seconds)
      else {
        json.piece(key)
        if (index < 0) derived(json, field, block, place)
        else {
          cursor.at = offsets[index]!
          column(json, packed, COLUMNS[index]!, number, place)
        }
      }
    }
    json.piece(PIECES.end)
  }
}

/** Lists of objects are short and rare: they go through objects. */
const listOf = ({ members }: List, packed: Buffer): Uint8Array => {
  const names = Object.entries(members)
  const items = decodeRlp(packed) as unknown as (Uint8Array | Uint8Array[])[][][]
  const digits = (value: unknown) => Buffer.from(value as Uint8Array).toString('hex')
  const shown = items.map(item =>
    Object.fromEntries(
      names.flatMap(([name, { kind }], i): [string, unknown][] => {
        const [value] = item[i]!
        if (value === undefined) return []
        if (kind === 'hexList') return [[name, (value as Uint8Array[]).map(one => `0x${digits(one)}`)]]
        return [[name, show.member(kind, digits(value))]]
      }),
    ),
  )
  return bytes(JSON.stringify(shown))
}
