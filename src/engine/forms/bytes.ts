import type { ByteWriter } from '../../lib/bytes.ts'
import {
  cursor,
  type FieldForm,
  FOLLOWS_LOGS,
  LENGTH_BASE,
  OWN_BLOOM,
  sizedForm,
  takeLength,
  takeVarint,
  writeNull,
} from './form.ts'
import { CLOSE_LIST, COMMA, OPEN_LIST, piece, writeHex } from './json.ts'

/** Stands for a bloom filter that follows from the transaction's logs. */
export const FOLLOWS = true

const bytesForm = (name: 'bytes' | 'bloom'): FieldForm => ({
  name,
  size: 'length',
  write(out, value) {
    if (value === null) return out.byte(0)
    if (value === FOLLOWS) return out.byte(OWN_BLOOM)
    const hex = value as string
    out.varint(((hex.length - 1) >> 1) + LENGTH_BASE)
    writeHexBytes(out, hex, 2)
  },
  json:
    (plan, { ownBloom }) =>
    (out, bytes) => {
      const length = takeLength(bytes)
      if (length === FOLLOWS_LOGS) ownBloom!(out)
      else if (length < 0) return writeNull(out, plan)
      else writeHex(out, bytes, cursor.at, cursor.at + length)
      return true
    },
})

export const byteStringForm: FieldForm = {
  ...bytesForm('bytes'),
  take: takeBytes,
  term(value, { hash }, add) {
    if (typeof value === 'string') add(hash(value.toLowerCase()))
  },
}
export const bloomForm: FieldForm = bytesForm('bloom')

/** `0x` hex, or an explicit null. */
export function takeBytes(bytes: Buffer): string | null {
  const length = takeLength(bytes)
  return length < 0 ? null : `0x${bytes.toString('hex', cursor.at, cursor.at + length)}`
}

export const writeHashes = (out: ByteWriter, bytes: Uint8Array, start: number, end: number) => {
  out.bytes(start < end ? FIRST_HASH : NO_HASHES)
  for (let at = start; at < end; at += 32) {
    out.digits(bytes, at, at + 32)
    out.bytes(at + 32 < end ? NEXT_HASH : LAST_HASH)
  }
}
const NO_HASHES = piece('[]')
const FIRST_HASH = piece('["0x')
const NEXT_HASH = piece('","0x')
const LAST_HASH = piece('"]')

/** Items of 32 bytes. */
export const hashesForm: FieldForm = sizedForm('hashes', {
  write(out, value) {
    for (const hash of value as string[]) writeHexBytes(out, hash, 2)
  },
  json: () => writeHashes,
})

export const writeIntegers = (out: ByteWriter, bytes: Uint8Array, start: number, end: number) => {
  out.byte(OPEN_LIST)
  for (cursor.at = start; cursor.at < end; ) {
    if (cursor.at > start) out.byte(COMMA)
    out.decimal(takeVarint(bytes))
  }
  out.byte(CLOSE_LIST)
}

export const integersForm: FieldForm = sizedForm('integers', {
  write(out, value) {
    for (const integer of value as number[]) out.varint(integer)
  },
  json: () => writeIntegers,
})

export const integersAt = (bytes: Uint8Array, offset: number): number[] => {
  cursor.at = offset
  const length = takeLength(bytes)
  const found: number[] = []
  for (const end = cursor.at + length; cursor.at < end; ) found.push(takeVarint(bytes))
  return found
}

/** Bytes up to which a loop is faster than a call into Node. */
const SHORT_HEX = 64

/** Appends the bytes of hex digits; an odd number of digits gets a zero before it. */
export const writeHexBytes = (out: ByteWriter, text: string, from: number) => {
  const size = (text.length - from + 1) >> 1
  const target = out.reserve(size)
  let to = out.length
  let at = from
  if ((text.length - from) & 1) target[to++] = digitAt(text, at++)
  if (size > SHORT_HEX) target.write(text.slice(at), to, 'hex')
  else for (; at < text.length; at += 2) target[to++] = (digitAt(text, at) << 4) | digitAt(text, at + 1)
  out.advance(size)
}

export const digitAt = (text: string, at: number): number => DIGIT_BY_CODE[text.charCodeAt(at)]!

const DIGIT_BY_CODE = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16)
  DIGIT_BY_CODE[text.charCodeAt(0)] = digit
  DIGIT_BY_CODE[text.toUpperCase().charCodeAt(0)] = digit
}
