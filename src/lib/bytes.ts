import { brotliDecompressSync } from 'node:zlib'

export interface SizeBound {
  most: number
  /** Error for exceeding the bound. */
  fail(): Error
}

export type ByteWriter = ReturnType<typeof createByteWriter>

/** A growing byte buffer. */
export const createByteWriter = (capacity = 1024) => {
  let buffer = Buffer.allocUnsafeSlow(capacity)
  let view = dataViewOf(buffer)
  let length = 0
  let limit: SizeBound | undefined
  const change = (to: typeof buffer) => {
    buffer = to
    view = dataViewOf(to)
  }
  /** Writes an integer below 2^31. */
  const decimal = (value: number, least: number) => {
    let size = 1
    for (let above = 10; size < 10 && value >= above; above *= 10) size++
    if (size < least) size = least
    const target = reserve(size)
    const first = length
    let rest = value
    for (let at = first + size - 1; at >= first; at--) {
      const tenth = (rest / 10) | 0
      target[at] = ASCII_ZERO + rest - tenth * 10
      rest = tenth
    }
    length += size
  }
  const reserve = (more: number): Buffer => {
    if (length + more > buffer.length) {
      if (limit && length + more > limit.most) throw limit.fail()
      const larger = Buffer.allocUnsafeSlow(
        Math.max(Math.min(buffer.length * 2, limit?.most ?? Number.POSITIVE_INFINITY), length + more),
      )
      buffer.copy(larger, 0, 0, length)
      change(larger)
    }
    return buffer
  }
  return {
    get length(): number {
      return length
    },
    byte(value: number) {
      reserve(1)[length++] = value
    },
    /** Unsigned LEB128, for integers up to 2^53. */
    varint(value: number) {
      const target = reserve(8)
      while (value >= 0x80) {
        target[length++] = (value & 0x7f) | 0x80
        value = value < 0x80000000 ? value >>> 7 : Math.floor(value / 128)
      }
      target[length++] = value
    },
    bytes(source: Uint8Array, start: number = 0, end: number = source.length) {
      const target = reserve(end - start)
      const isWhole = start === 0 && end === source.length
      // A call costs as much as copying a few bytes, a partial view as much as copying a word.
      if (end - start <= (isWhole ? MAX_LOOPED : MAX_LOOPED_PART)) {
        const offset = length - start
        for (let at = start; at < end; at++) target[offset + at] = source[at]!
      } else target.set(isWhole ? source : source.subarray(start, end), length)
      length += end - start
    },
    /** Faster than `bytes` for a short part of a large array. */
    words(source: DataView, start: number, end: number) {
      reserve(end - start)
      const to = view
      const offset = length - start
      let at = start
      for (; at + 4 <= end; at += 4) to.setUint32(offset + at, source.getUint32(at, true), true)
      for (; at < end; at++) to.setUint8(offset + at, source.getUint8(at))
      length += end - start
    },
    /** Writes 32 bits, the lowest first. */
    uint32(value: number) {
      reserve(4)
      view.setUint32(length, value, true)
      length += 4
    },
    /** Writes how many bytes follow the 32 bits at a place into these. */
    endSized(at: number) {
      view.setUint32(at, length - at - 4, true)
    },
    /** Hex digits without prefix, in even number. */
    hex(digits: string) {
      length += reserve(digits.length >> 1).write(digits, length, 'hex')
    },
    /** Lower-case hex digits of bytes. */
    digits(source: Uint8Array, start: number = 0, end: number = source.length) {
      const target = reserve((end - start) * 2)
      if (end - start >= MIN_NATIVE_HEX) {
        length += target.write(Buffer.prototype.hexSlice.call(source, start, end), length, 'latin1')
        return
      }
      length = putDigits(view, length, source, start, end)
    },
    text(text: string) {
      length += reserve(text.length * 3).write(text, length, 'utf8')
    },
    /** Short ASCII text, faster than `text`. */
    ascii(text: string) {
      const target = reserve(text.length)
      const first = length
      for (let i = 0; i < text.length; i++) target[first + i] = text.charCodeAt(i)
      length = first + text.length
    },
    /** Decimal digits of an integer from 0 to 2^53, at least `least` of them. */
    decimal(value: number, least: number = 1) {
      if (value < NINE_DIGITS) return decimal(value, least)
      const billions = Math.floor(value / NINE_DIGITS)
      decimal(billions, least - 9)
      decimal(value - billions * NINE_DIGITS, 9)
    },
    fill(value: number, count: number) {
      const target = reserve(count)
      // Node's own `fill` is slow to start.
      Uint8Array.prototype.fill.call(target, value, length, length + count)
      length += count
    },
    /** Reserves bytes and returns the buffer; write to it at `length`, then call `advance`. */
    reserve,
    advance(written: number) {
      length += written
    },
    /** A view from `start` on, valid until the next write. */
    view: (start: number = 0, end: number = length): Buffer => buffer.subarray(start, end),
    /** All written bytes as text; every byte must be one character, as in ASCII. */
    // A view for each short text would take longer than the text.
    latin1: (): string => buffer.toString('latin1', 0, length),
    /** A copy of the bytes written, of just their size. */
    take(): Uint8Array<ArrayBuffer> {
      const copy = newBytes(length)
      copy.set(buffer.subarray(0, length))
      return copy
    },
    truncate(to: number) {
      length = to
    },
    /** Starts again and frees unusually large memory. `bound` checks sizes before allocation. */
    clear(bound?: SizeBound) {
      length = 0
      limit = bound
      if (buffer.length > Math.max(capacity, MAX_KEPT_CAPACITY)) change(Buffer.allocUnsafeSlow(capacity))
    },
  }
}

/** Uninitialised memory of its own, to be filled completely. */
export const newBytes = (length: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.allocUnsafeSlow(length).buffer as ArrayBuffer)

/** Bytes that a loop copies faster than a call; and than a partial view. */
const MAX_LOOPED = 12
const MAX_LOOPED_PART = 40
const ASCII_ZERO = 48
const NINE_DIGITS = 1e9
const MAX_KEPT_CAPACITY = 1 << 22

/** Length from which native hex is faster than the table. */
const MIN_NATIVE_HEX = 128

/** Writes lower-case hex digits of bytes into a view; returns the position after them. */
export const putDigits = (view: DataView, to: number, source: Uint8Array, start: number, end: number): number => {
  let next = to
  let at = start
  for (; at + 4 <= end; at += 4) {
    view.setUint16(next, DIGIT_PAIRS[source[at]!]!, true)
    view.setUint16(next + 2, DIGIT_PAIRS[source[at + 1]!]!, true)
    view.setUint16(next + 4, DIGIT_PAIRS[source[at + 2]!]!, true)
    view.setUint16(next + 6, DIGIT_PAIRS[source[at + 3]!]!, true)
    next += 8
  }
  for (; at < end; at++) {
    view.setUint16(next, DIGIT_PAIRS[source[at]!]!, true)
    next += 2
  }
  return next
}

const dataViewOf = ({ buffer, byteOffset, length }: Buffer) => new DataView(buffer, byteOffset, length)

/** Two hex digits per byte, the first in the lower half. */
const DIGIT_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16LE(),
)

/** The bytes of an array of numbers, in place. */
export const rawBytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Unpacks Brotli to at most `limit` bytes. */
export const unbrotli = (packed: Uint8Array, limit: number): Buffer =>
  brotliDecompressSync(packed, { maxOutputLength: limit })

/** `0x` with any number of hex digits in either letter case. */
export const isHex = (text: string): boolean => isWritten(text, EITHER_CASE, EITHER_PAIRS)

/** `0x` with any number of lower-case hex digits. */
export const isLowerHex = (text: string): boolean => isWritten(text, LOWER, LOWER_PAIRS)

/** Length up to which characters are faster than a copy of the bytes. */
const SHORT_HEX = 16

/** Characters checked in one piece. */
const PIECE_LENGTH = 8192
const scratch = Buffer.allocUnsafeSlow(PIECE_LENGTH)
const scratchPairs = new Uint16Array(scratch.buffer, scratch.byteOffset, PIECE_LENGTH / 2)
const isWritten = (text: string, digits: Uint8Array, pairs: Uint8Array): boolean => {
  if (text.charCodeAt(0) !== ZERO_CODE || text.charCodeAt(1) !== X) return false
  const { length } = text
  if (length > SHORT_HEX) {
    if (length <= PIECE_LENGTH) return areDigits(text, 2, digits, pairs)
    for (let at = 2; at < length; at += PIECE_LENGTH)
      if (!areDigits(text.slice(at, at + PIECE_LENGTH), 0, digits, pairs)) return false
    return true
  }
  for (let i = 2; i < length; i++) if (digits[text.charCodeAt(i)] !== 1) return false
  return true
}

/** Checks two digits at a time without branches, which digits make unpredictable. */
const areDigits = (text: string, from: number, digits: Uint8Array, pairs: Uint8Array): boolean => {
  const { length } = text
  // Text beyond ASCII has more bytes than characters, or is cut off.
  if (scratch.write(text, 0) !== length) return false
  let all = 1
  for (let i = from >> 1; i < length >> 1; i++) all &= pairs[scratchPairs[i]!]!
  return all === 1 && (length % 2 === 0 || digits[scratch[length - 1]!] === 1)
}

const ZERO_CODE = 48
const X = 120
const LOWER_DIGITS = Buffer.from('0123456789abcdef')
const EITHER_DIGITS = Buffer.from('0123456789abcdefABCDEF')
const tableOf = (digits: Buffer): Uint8Array => {
  const table = new Uint8Array(256)
  for (const digit of digits) table[digit] = 1
  return table
}

const LOWER = tableOf(LOWER_DIGITS)
const EITHER_CASE = tableOf(EITHER_DIGITS)
const pairsOf = (digits: Buffer): Uint8Array => {
  const pairs = new Uint8Array(2 ** 16)
  for (const a of digits) for (const b of digits) pairs[a * 256 + b] = 1
  return pairs
}

const LOWER_PAIRS = pairsOf(LOWER_DIGITS)
const EITHER_PAIRS = pairsOf(EITHER_DIGITS)

/** Some nodes write `true` as `0x1`. */
export const isTrue = (value: unknown): boolean => value === '0x1' || value === true
