import type { Rest } from '../../../documents/rest.ts'
import { snakeCase } from '../../../documents/wire.ts'
import type { ByteWriter } from '../../../lib/bytes.ts'
import { isTrue } from '../../../lib/hex.ts'
import { encodeRlp, type Rlp } from '../../../lib/rlp.ts'
import type { Field, List } from '../../../mapping/index.ts'
import { type Column, RARE_COLUMNS } from '../forms.ts'
import { pack } from '../pack.ts'
import { cursor, takeVarint } from './cursor.ts'

/**
 * Values of fields in records, by their forms; see docs/layout.md. Writing takes what the wire says, which was checked; reading
 * begins at the cursor and ends behind the value.
 */

/** Ids of what a block names, given if need be. */
export interface Ids {
  /** Of an address as the wire has it. */
  address(text: string): number
  addressOfDigits(digits: string): number
  name(text: string): number
  /** Packed forms of large data, by their text, where a block has the same data twice: compressing takes time. */
  packed: Map<string, Uint8Array> | undefined
  /** Whether large data are compressed; default true. */
  compresses?: boolean
}

/** An integer below this is its own byte. */
export const SMALL = 128
/** Hex digits with their leading zeros follow, behind their number of bytes. */
export const PADDED = 254
export const NULL_INTEGER = 255
const NULL_BOOLEAN = 2
/** The bloom filter is that of the transaction's logs. */
const OWN_BLOOM = 1
/** Added to the length of bytes: 0 is an explicit null, 1 the bloom filter of the transaction's logs. */
const LENGTH_BASE = 2

/** Behind fields that few chains have, each of which begins with its number. */
export const END_OF_RARE = 0

/** In place of a bloom filter that follows from the transaction's logs. */
export const FOLLOWS = true

export const writeValue = (out: ByteWriter, column: Column, value: unknown, ids: Ids) => {
  const { form } = column
  switch (form) {
    case 'address':
      return out.varint(value === null ? 0 : ids.address(value as string))
    case 'name':
      return out.varint(value === null ? 0 : ids.name(value as string))
    case 'uint':
    case 'digits':
      return writeInteger(out, value, form === 'digits')
    case 'boolean':
      return out.byte(value === null ? NULL_BOOLEAN : isTrue(value) ? 1 : 0)
    case 'bloom':
      return value === FOLLOWS ? out.byte(OWN_BLOOM) : writeBytes(out, value as string | null)
    case 'bytes':
      return writeBytes(out, value as string | null)
  }
  if (value === null) return out.byte(0)
  out.byte(0)
  const start = out.length
  switch (form) {
    case 'words':
      writeWords(out, value as string, ids)
      break
    case 'hashes':
      for (const hash of value as string[]) writeHex(out, hash, 2)
      break
    case 'integers':
      for (const integer of value as number[]) out.varint(integer)
      break
    case 'list':
      out.bytes(encodeRlp(listItems(column.declaration as List, value as Record<string, unknown>[])))
      break
    case 'rest':
      writeRest(out, value as Rest, ids)
  }
  endLength(out, start)
}

const writeRest = (out: ByteWriter, { kind, rare, extra }: Rest, ids: Ids) => {
  for (const [name, value] of rare) {
    const column = RARE_COLUMNS[kind].get(name)!
    out.varint(column.number)
    writeValue(out, column, value, ids)
  }
  if (!extra) return
  out.varint(END_OF_RARE)
  out.bytes(Buffer.from(JSON.stringify(extra)))
}

const writeInteger = (out: ByteWriter, value: unknown, keepsZeros: boolean) => {
  if (value === null) return out.byte(NULL_INTEGER)
  if (typeof value === 'number' && value < SMALL) return out.byte(value)
  const text = integerHex(value)
  let first = 2
  while (first < text.length && text.charCodeAt(first) === ZERO) first++
  // An even number of digits with leading zeros are bytes, and are shown with all of them.
  if (keepsZeros && first > 2 && text.length > 3 && text.length % 2 === 0) {
    out.byte(PADDED)
    out.byte((text.length - 2) >> 1)
    return writeHex(out, text, 2)
  }
  const digits = text.length - first
  if (digits === 0) return out.byte(0)
  const high = DIGITS[text.charCodeAt(first)]!
  if (digits === 1) return out.byte(high)
  if (digits === 2 && high < 8) return out.byte(high * 16 + DIGITS[text.charCodeAt(first + 1)]!)
  out.byte(SMALL + ((digits + 1) >> 1))
  writeHex(out, text, first)
}

const writeBytes = (out: ByteWriter, hex: string | null) => {
  if (hex === null) return out.byte(0)
  out.varint(((hex.length - 1) >> 1) + LENGTH_BASE)
  writeHex(out, hex, 2)
}

/** Characters of data below which they may as well be packed again. */
const LARGE = 1000

/** Appends data in their packed form. */
export const writeWords = (out: ByteWriter, data: string, ids: Ids) => {
  if (data.length <= 2) return
  const known = data.length > LARGE ? ids.packed : undefined
  const packed = known?.get(data)
  if (packed) return out.bytes(packed)
  const start = out.length
  pack(out, data, ids.addressOfDigits, ids.compresses)
  known?.set(data, Buffer.from(out.view(start)))
}

/** Puts the length of what was written since `start` into the byte before it, and makes room where one byte is not enough. */
const endLength = (out: ByteWriter, start: number) => {
  const length = out.length - start
  const stated = length + LENGTH_BASE
  if (stated < SMALL) {
    out.reserve(0)[start - 1] = stated
    return
  }
  const more = varintSize(stated) - 1
  out.reserve(more).copyWithin(start + more, start, start + length)
  out.truncate(start - 1)
  out.varint(stated)
  out.advance(length)
}

const varintSize = (value: number): number => {
  let size = 1
  for (let rest = value; rest >= 0x80; rest /= 0x80) size++
  return size
}

/** Bytes up to which a loop is faster than a call into Node. */
const SHORT = 64

/** Appends the hex digits of a text from a place on; an odd number of them gets a zero before it. */
export const writeHex = (out: ByteWriter, text: string, from: number) => {
  const size = (text.length - from + 1) >> 1
  const target = out.reserve(size)
  let to = out.length
  let at = from
  if ((text.length - from) & 1) target[to++] = DIGITS[text.charCodeAt(at++)]!
  if (size > SHORT) target.write(text.slice(at), to, 'hex')
  else
    for (; at < text.length; at += 2)
      target[to++] = (DIGITS[text.charCodeAt(at)]! << 4) | DIGITS[text.charCodeAt(at + 1)]!
  out.advance(size)
}

const ZERO = 48
const DIGITS = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16)
  DIGITS[text.charCodeAt(0)] = digit
  DIGITS[text.toUpperCase().charCodeAt(0)] = digit
}

/** Some nodes write small integers as JSON numbers. */
const integerHex = (value: unknown): string =>
  typeof value === 'number' ? `0x${value.toString(16)}` : (value as string)

/** Members in the order of the mapping; a member that an item does not carry is an empty list. */
const listItems = (declaration: List, items: Record<string, unknown>[]): Rlp =>
  items.map(item =>
    Object.entries(declaration.members).map(([name, member]) =>
      listMember(member, item[name] ?? item[snakeCase(name)]),
    ),
  )

const listMember = (member: Field, value: unknown): Rlp => {
  if (value === undefined || value === null) return []
  if (member.kind === 'hexList') return [(value as string[]).map(hex => Buffer.from(hex.slice(2), 'hex'))]
  const digits = integerHex(value).slice(2)
  return [Buffer.from(member.kind === 'hexNumber' ? evenDigits(digits.replace(/^0+/, '')) : digits, 'hex')]
}

const evenDigits = (digits: string): string => (digits.length % 2 ? `0${digits}` : digits)

/** Moves the cursor behind a value. */
export const skipValue = (bytes: Uint8Array, { form }: Column) => {
  switch (form) {
    case 'address':
    case 'name':
      while (bytes[cursor.at++]! >= 0x80);
      return
    case 'boolean':
      cursor.at++
      return
    case 'uint':
    case 'digits': {
      const head = bytes[cursor.at++]!
      if (head === PADDED) cursor.at += 1 + bytes[cursor.at]!
      else if (head > SMALL && head < PADDED) cursor.at += head - SMALL
      return
    }
    default: {
      const length = takeVarint(bytes)
      if (length > LENGTH_BASE) cursor.at += length - LENGTH_BASE
    }
  }
}

/** An integer; its digits as `0x` hex where they are shown with leading zeros; null where the chain's data state that. */
export const takeInteger = (bytes: Buffer): number | bigint | string | null => {
  const head = bytes[cursor.at++]!
  if (head < SMALL) return head
  if (head === NULL_INTEGER) return null
  const size = head === PADDED ? bytes[cursor.at++]! : head - SMALL
  const start = cursor.at
  cursor.at += size
  if (head === PADDED) return `0x${bytes.toString('hex', start, start + size)}`
  if (size > 6) {
    const value = BigInt(`0x${bytes.toString('hex', start, start + size)}`)
    return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
  }
  let value = 0
  for (let i = 0; i < size; i++) value = value * 256 + bytes[start + i]!
  return value
}

/** Null where the chain's data state that. */
export const takeBoolean = (bytes: Uint8Array): boolean | null => {
  const byte = bytes[cursor.at++]!
  return byte === NULL_BOOLEAN ? null : byte === 1
}

/**
 * Length of the bytes that the cursor then stands before; -1 for an explicit null, and for a bloom filter -2 where it is that of the
 * transaction's logs.
 */
export const takeLength = (bytes: Uint8Array): number => {
  const stated = takeVarint(bytes)
  return stated >= LENGTH_BASE ? stated - LENGTH_BASE : stated === OWN_BLOOM ? FOLLOWS_LOGS : NO_BYTES
}
export const NO_BYTES = -1
export const FOLLOWS_LOGS = -2
