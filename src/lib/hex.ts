/** `0x` and hex digits of either letter case, or nothing behind it. */
export const isHex = (text: string): boolean => isWritten(text, EITHER_CASE, EITHER_PAIRS)

/** The same in lower case. */
export const isLowerHex = (text: string): boolean => isWritten(text, LOWER, LOWER_PAIRS)

/** Up to here characters are faster than a copy of the bytes. */
const SHORT_HEX = 16
/** Characters that are looked at in one go. */
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

/** Checks two digits at a time without branches, since digits are unpredictable. */
const areDigits = (text: string, from: number, digits: Uint8Array, pairs: Uint8Array): boolean => {
  const { length } = text
  // Text that is not ASCII has more bytes than characters, or is cut off.
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

/** What some nodes write as a boolean. */
export const isTrue = (value: unknown): boolean => value === '0x1' || value === true
