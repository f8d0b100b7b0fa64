import { COIN_DECIMALS, scaled } from '../../documents/show.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { CLOSE, HEX_START, NULL, OPEN, piece, QUOTE, ZERO } from './json.ts'

const NUM = piece(',"num":')
const COIN = piece(',"coin":')
const ETH = piece(',"eth":')
const PADDED_KEY = piece(',"padded":"0x')
const RAW = piece(',"raw":"0x')
const HEX_DIGITS = Buffer.from('0123456789abcdef')

export const EVERY = -1
/** The bits of each shape's members. */
const QUANTITY_BITS = { num: 1, raw: 2 } as const
const WIDE_BITS = { padded: 1, raw: 2 } as const
const AMOUNT_BITS = { num: 1, coin: 2, padded: 4, raw: 8, eth: 16 } as const
const COIN_BITS = AMOUNT_BITS.coin | AMOUNT_BITS.eth

/** `{"num":…,"raw":"0x…"}` */
export const writeQuantity = (out: ByteWriter, bytes: Uint8Array, from: number, to: number, members: number) => {
  out.byte(OPEN)
  if (members & QUANTITY_BITS.num) {
    out.bytes(NUM, 1)
    writeLong(out, bytes, from, to)
  }
  if (members & QUANTITY_BITS.raw) {
    out.bytes(RAW, members & QUANTITY_BITS.num ? 0 : 1)
    writeDigits(out, bytes, from, to)
    out.byte(QUOTE)
  }
  out.byte(CLOSE)
}

/** Appends an integer that a double represents exactly. */
export const writeSmallQuantity = (out: ByteWriter, value: number, members: number) => {
  out.byte(OPEN)
  if (members & QUANTITY_BITS.num) {
    out.bytes(NUM, 1)
    out.decimal(value)
  }
  if (members & QUANTITY_BITS.raw) {
    out.bytes(RAW, members & QUANTITY_BITS.num ? 0 : 1)
    writeSmallDigits(out, value)
    out.byte(QUOTE)
  }
  out.byte(CLOSE)
}

/** `{"padded":"0x…","raw":"0x…"}` */
export const writeWide = (out: ByteWriter, bytes: Uint8Array, from: number, to: number, members: number) => {
  out.byte(OPEN)
  if (members & WIDE_BITS.padded) {
    out.bytes(PADDED_KEY, 1)
    writePadded(out, bytes, from, to)
  }
  if (members & WIDE_BITS.raw) {
    out.bytes(RAW, members & WIDE_BITS.padded ? 0 : 1)
    writeDigits(out, bytes, from, to)
    out.byte(QUOTE)
  }
  out.byte(CLOSE)
}

/** `{"num":…,"coin":…,"padded":"0x…","raw":"0x…"}` */
export const writeAmount = (out: ByteWriter, bytes: Uint8Array, from: number, to: number, members: number) => {
  out.byte(OPEN)
  const start = out.length
  if (members & AMOUNT_BITS.num) {
    out.bytes(NUM, 1)
    writeLong(out, bytes, from, to)
  }
  if (members & COIN_BITS) {
    const coins = String(scaledOf(bytes, from, to, COIN_DECIMALS))
    if (members & AMOUNT_BITS.coin) {
      out.bytes(COIN, out.length === start ? 1 : 0)
      out.ascii(coins)
    }
    if (members & AMOUNT_BITS.eth) {
      out.bytes(ETH, out.length === start ? 1 : 0)
      out.ascii(coins)
    }
  }
  if (members & AMOUNT_BITS.padded) {
    out.bytes(PADDED_KEY, out.length === start ? 1 : 0)
    writePadded(out, bytes, from, to)
  }
  if (members & AMOUNT_BITS.raw) {
    out.bytes(RAW, out.length === start ? 1 : 0)
    writeDigits(out, bytes, from, to)
    out.byte(QUOTE)
  }
  out.byte(CLOSE)
}

const writePadded = (out: ByteWriter, bytes: Uint8Array, from: number, to: number) => {
  out.fill(ZERO, Math.max(0, 64 - 2 * (to - from)))
  out.digits(bytes, from, to)
  out.byte(QUOTE)
}

/** Lower-case hex digits without leading zeros, one at least. */
export const writeDigits = (out: ByteWriter, bytes: Uint8Array, start: number, to: number) => {
  let from = start
  while (from < to && bytes[from] === 0) from++
  if (from === to) return out.byte(ZERO)
  const first = bytes[from]!
  if (first < 16) {
    out.byte(HEX_DIGITS[first]!)
    from++
  }
  out.digits(bytes, from, to)
}

const writeSmallDigits = (out: ByteWriter, value: number) => {
  let size = 1
  for (let above = 16; value >= above; above *= 16) size++
  const target = out.reserve(size)
  let rest = value
  for (let at = out.length + size - 1; at >= out.length; at--) {
    const above = Math.floor(rest / 16)
    target[at] = HEX_DIGITS[rest - above * 16]!
    rest = above
  }
  out.advance(size)
}

export const writeHexNumber = (out: ByteWriter, bytes: Uint8Array, from: number, to: number) => {
  out.bytes(HEX_START)
  writeDigits(out, bytes, from, to)
  out.byte(QUOTE)
}

/** Null if it does not fit 64 bits with a sign. */
export const writeLong = (out: ByteWriter, bytes: Uint8Array, from: number, to: number) => {
  if (fitsLong(bytes, from, to)) writeDecimal(out, bytes, from, to)
  else out.bytes(NULL)
}

export const fitsLong = (bytes: Uint8Array, from: number, to: number): boolean =>
  to - from < 8 || (to - from === 8 && bytes[from]! < 0x80)

/** Bytes that always fit a double; bytes for which divisions are faster than bigints. */
const MAX_SAFE_BYTES = 6
const MAX_DIVIDED_BYTES = 12

export const writeDecimal = (out: ByteWriter, bytes: Uint8Array, from: number, to: number) => {
  if (to - from <= MAX_SAFE_BYTES) return out.decimal(smallOf(bytes, from, to))
  if (to - from > MAX_DIVIDED_BYTES) return out.ascii(String(integerOfBytes(bytes, from, to)))
  divide(bytes, from, to)
  if (parts.high > 0) out.decimal(parts.high)
  out.decimal(parts.middle, parts.high > 0 ? 9 : 1)
  out.decimal(parts.low, 9)
}

/** The nearest double of an integer divided by 10^decimals. */
export const scaledOf = (bytes: Uint8Array, from: number, to: number, decimals: number): number => {
  if (to - from <= MAX_SAFE_BYTES) return scaled(smallOf(bytes, from, to), decimals)
  if (to - from > MAX_DIVIDED_BYTES) return scaled(integerOfBytes(bytes, from, to), decimals)
  divide(bytes, from, to)
  const { high, middle, low } = parts
  // For whole billions, frequent among amounts, one division rounds as reading all digits does.
  if (low === 0 && decimals >= 9 && high < MAX_BILLIONS) return scaled(high * BILLION + middle, decimals - 9)
  const digits = `${high > 0 ? `${high}${nineDigits(middle)}` : middle}${nineDigits(low)}`
  return Number(`${digits}e-${decimals}`)
}

const nineDigits = (part: number): string => String(part).padStart(9, '0')

const BILLION = 1e9
const MAX_BILLIONS = 9_000_000

/** The latest integer by powers of a billion. */
const parts = { high: 0, middle: 0, low: 0 }
const quotient = new Uint8Array(MAX_DIVIDED_BYTES)

/** Divides an integer of at most `SHORT` bytes, twice. */
const divide = (bytes: Uint8Array, from: number, to: number) => {
  parts.low = 0
  for (let i = from; i < to; i++) {
    const part = parts.low * 256 + bytes[i]!
    const times = Math.floor(part / BILLION)
    parts.low = part - times * BILLION
    quotient[i - from] = times
  }
  parts.middle = 0
  parts.high = 0
  for (let i = 0; i < to - from; i++) {
    const part = parts.middle * 256 + quotient[i]!
    const times = Math.floor(part / BILLION)
    parts.middle = part - times * BILLION
    parts.high = parts.high * 256 + times
  }
}

export const integerOfBytes = (bytes: Uint8Array, from: number, to: number): number | bigint =>
  to - from > MAX_SAFE_BYTES ? BigInt(`0x${Buffer.prototype.hexSlice.call(bytes, from, to)}`) : smallOf(bytes, from, to)

const smallOf = (bytes: Uint8Array, from: number, to: number): number => {
  let value = 0
  for (let i = from; i < to; i++) value = value * 256 + bytes[i]!
  return value
}
