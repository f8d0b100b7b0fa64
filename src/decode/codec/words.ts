export interface Word {
  hex(text: string, at: number): string
  int(hex: string): bigint | null
}

const ZEROS = '0'.repeat(64)
const ZEROS_24 = ZEROS.slice(0, 24)

export const wordTypeOf = (type: string): Word | undefined => {
  if (type === 'address') return addressWord
  if (type === 'bool') return boolWord
  if (type === 'function') return fixedBytes(24)
  const [, kind, size] = /^(uint|int|bytes)(\d+)$/.exec(type) ?? []
  if (kind === 'uint') return unsigned(Number(size))
  if (kind === 'int') return signed(Number(size))
  return kind === 'bytes' ? fixedBytes(Number(size)) : undefined
}

const noInteger = () => null

const addressWord: Word = {
  hex(text, at) {
    if (!text.startsWith(ZEROS_24, at)) throw new DecodeFault('it is longer than an address')
    return `0x${text.slice(at + 24, at + 64)}`
  },
  int: noInteger,
}

const boolWord: Word = {
  hex(text, at) {
    const hex = readQuantity(text, at)
    if (hex !== '0x0' && hex !== '0x1') throw new DecodeFault('it is neither 0 nor 1')
    return hex
  },
  int: hex => (hex === '0x0' ? 0n : 1n),
}

const fixedBytes = (size: number): Word => {
  const padding = ZEROS.slice(2 * size)
  return {
    hex(text, at) {
      if (!text.startsWith(padding, at + 2 * size)) throw new DecodeFault(`it has more than ${size} bytes`)
      return `0x${text.slice(at, at + 2 * size)}`
    },
    int: noInteger,
  }
}

const unsigned = (bits: number): Word => {
  const padding = ZEROS.slice(bits / 4)
  return {
    hex(text, at) {
      if (!text.startsWith(padding, at)) throw new DecodeFault(`it has more than ${bits} bits`)
      return readQuantity(text, at)
    },
    int: BigInt,
  }
}

const signed = (bits: number): Word => {
  const digits = bits / 4
  const zeros = ZEROS.slice(digits)
  const ones = zeros.replaceAll('0', 'f')
  const modulus = 1n << BigInt(bits)
  return {
    hex(text, at) {
      const start = at + 64 - digits
      const negative = text.charCodeAt(start) >= EIGHT
      if (!text.startsWith(negative ? ones : zeros, at)) throw new DecodeFault(`it has more than ${bits} bits`)
      return negative ? `0x${text.slice(start, at + 64)}` : readQuantity(text, at)
    },
    int: hex => (hex.length === digits + 2 && hex.charCodeAt(2) >= EIGHT ? BigInt(hex) - modulus : BigInt(hex)),
  }
}

/** The hex digits from here on have their upper bit set. */
const EIGHT = 56

/** A word without its leading zeros. */
const readQuantity = (text: string, at: number): string => {
  let i = at
  while (i < at + 63 && text.charCodeAt(i) === 48) i++
  return `0x${text.slice(i, at + 64)}`
}

/** Reason why a value does not fit its type. Not an Error, since nobody needs its stack. */
export class DecodeFault {
  readonly reason: string
  path = ''
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Hex text that is read at character positions; 64 characters are a word. */
export interface WordReader {
  readonly text: string
  /** Words taken so far, in the end the length of the canonical encoding. */
  words: number
  /** Takes characters, which must exist. */
  take(at: number, length: number): void
}

/**
 * Values may share their bytes, and arrays of arrays that do can unfold to any size. A log that
 * unfolds to more than this many times its data is not one that a contract means.
 */
const UNFOLDING = 8
export const createWordReader = (text: string, spans?: [from: number, to: number][]): WordReader => {
  const limit = (text.length >> 6) * UNFOLDING
  return {
    text,
    words: 0,
    take(at, length) {
      if (at + length > text.length) throw new DecodeFault('the data ends inside it')
      this.words += length / 64
      if (this.words > limit) throw new DecodeFault(`it expands to more than ${UNFOLDING} times the data`)
      spans?.push([at, at + length])
    },
  }
}

/** The place that the offset at `head` points to, counted from `base`. */
export const follow = (reader: WordReader, head: number, base: number): number => {
  const at = base + 2 * readSize(reader.text, head)
  if (at >= reader.text.length) throw new DecodeFault('its offset points beyond the data')
  return at
}

/** An offset or a length; infinite if longer than any data. */
export const readSize = (text: string, at: number): number =>
  text.startsWith(ZEROS_52, at) ? Number.parseInt(text.slice(at + 52, at + 64), 16) : Number.POSITIVE_INFINITY
const ZEROS_52 = '0'.repeat(52)
