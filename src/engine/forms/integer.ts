import type { ByteWriter } from '../../lib/bytes.ts'
import { digitAt, writeHexBytes } from './bytes.ts'
import { cursor, type FieldForm, NULL_INTEGER, PADDED, SMALL, writeNull } from './form.ts'
import { writeHex } from './json.ts'

/** Appends an integer as JSON from its big-endian bytes; `members` selects members of an object. */
export type WriteInteger = (out: ByteWriter, bytes: Uint8Array, from: number, to: number, members: number) => void

/**
 * An unsigned integer: a small one is a byte, any other its big-endian bytes after their number.
 * With `keepsZeros`, an even number of digits keeps its leading zeros.
 */
export const integerForm = (show: WriteInteger, keepsZeros = false): FieldForm => ({
  name: keepsZeros ? 'digits' : 'uint',
  size: 'integer',
  write: (out, value) => writeInteger(out, value, keepsZeros),
  json: plan => (out, bytes) => {
    const head = bytes[cursor.at++]!
    if (head < SMALL) {
      singleByte[0] = head
      show(out, singleByte, 0, 1, plan.members)
      return true
    }
    if (head === NULL_INTEGER) return writeNull(out, plan)
    if (head === PADDED) {
      const size = bytes[cursor.at++]!
      writeHex(out, bytes, cursor.at, cursor.at + size)
    } else show(out, bytes, cursor.at, cursor.at + head - SMALL, plan.members)
    return true
  },
  take: takeInteger,
})

const singleByte = new Uint8Array(1)

const writeInteger = (out: ByteWriter, value: unknown, keepsZeros: boolean) => {
  if (value === null) return out.byte(NULL_INTEGER)
  if (typeof value === 'number' && value < SMALL) return out.byte(value)
  const text = integerHex(value)
  let first = 2
  while (first < text.length && text.charCodeAt(first) === ZERO_DIGIT) first++
  if (keepsZeros && first > 2 && text.length > 3 && text.length % 2 === 0) {
    out.byte(PADDED)
    out.byte((text.length - 2) >> 1)
    return writeHexBytes(out, text, 2)
  }
  const digits = text.length - first
  if (digits === 0) return out.byte(0)
  const high = digitAt(text, first)
  if (digits === 1) return out.byte(high)
  if (digits === 2 && high < 8) return out.byte(high * 16 + digitAt(text, first + 1))
  out.byte(SMALL + ((digits + 1) >> 1))
  writeHexBytes(out, text, first)
}

const ZERO_DIGIT = 48

/** Some nodes write small integers as JSON numbers. */
export const integerHex = (value: unknown): string =>
  typeof value === 'number' ? `0x${value.toString(16)}` : (value as string)

/** A number, `0x` hex with leading zeros if these are shown, or an explicit null. */
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
