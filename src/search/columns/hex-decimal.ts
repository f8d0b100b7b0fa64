import type { ByteWriter } from '../../lib/bytes.ts'

/** Appends the decimal digits of an integer that is written in hex digits, at most 64. */
export const writeHexDecimal = (out: ByteWriter, hex: Uint8Array, start: number, end: number) => {
  if (end - start <= SAFE_HEX_DIGITS) return out.decimal(hexPart(hex, start, end))
  let used = 0
  for (let at = start; at < end; at += PART_DIGITS) {
    const to = Math.min(end, at + PART_DIGITS)
    const factor = 16 ** (to - at)
    let carry = hexPart(hex, at, to)
    for (let i = 0; i < used; i++) {
      const value = billions[i]! * factor + carry
      carry = Math.floor(value / LIMB_BASE)
      billions[i] = value - carry * LIMB_BASE
    }
    if (carry > 0) billions[used++] = carry
  }
  out.decimal(used === 0 ? 0 : billions[used - 1]!)
  for (let i = used - 2; i >= 0; i--) out.decimal(billions[i]!, 9)
}

/** Hex digits that a double holds exactly. */
const SAFE_HEX_DIGITS = 13
/** Hex digits by which a billion may be multiplied. */
const PART_DIGITS = 5
const LIMB_BASE = 1e9
/** The integer in powers of a billion, the least first. */
const billions = new Float64Array(9)

const hexPart = (hex: Uint8Array, start: number, end: number): number => {
  let value = 0
  for (let i = start; i < end; i++) value = value * 16 + valueOfDigit(hex[i]!)
  return value
}

/** Digits are below letters, whose last four bits count from one. */
const valueOfDigit = (code: number): number => (code & 15) + (code > 0x40 ? 9 : 0)
