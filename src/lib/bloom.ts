import { keccak256 } from './keccak.ts'

/** `0x`-prefixed hex text. */
type Hex = string

/** How the bloom that a block states relates to the one summed up from its logs. */
export type BloomMatch =
  | 'equal'
  /** It has no bit set, but the sum has. */
  | 'empty'
  /** It lacks a bit of the sum. */
  | 'misses'
  /** It has a bit that the sum lacks. */
  | 'exceeds'
  /** It is not 512 hex digits. */
  | 'malformed'

/** A logs bloom of 2048 bits that is summed up from addresses and topics. */
export interface Bloom {
  clear(): void
  /** ORs the three bits of an address or topic in; false where it is no hex text. */
  add(value: Hex): boolean
  /** ORs another sum in. */
  include(other: Bloom): void
  compare(stated: Hex): BloomMatch
  /** The sum as a header has it. */
  text(): Hex
  /** Half a byte each, in the order of the digits of a header's text. */
  readonly digits: Uint8Array
}

export const createBloom = (): Bloom => {
  /** Half a byte each, in the order of the digits of a header's text: most significant first. */
  const sum = new Uint8Array(512)
  const set = (bit: number) => {
    sum[511 - (bit >> 2)]! |= 1 << (bit & 3)
  }
  return {
    clear() {
      sum.fill(0)
    },
    add(value) {
      const bits = bitsOf(value)
      if (bits < 0) return false
      set(bits % 2048)
      set(Math.floor(bits / 2048) % 2048)
      set(Math.floor(bits / 4_194_304))
      return true
    },
    include({ digits }) {
      for (let i = 0; i < 512; i++) sum[i]! |= digits[i]!
    },
    digits: sum,
    compare(stated) {
      let any = 0
      let misses = 0
      let exceeds = 0
      for (let i = 0; i < 512; i++) {
        const digit = DIGITS[stated.charCodeAt(i + 2)] ?? -1
        if (digit < 0) return 'malformed'
        any |= digit
        misses |= sum[i]! & ~digit
        exceeds |= digit & ~sum[i]!
      }
      if (misses !== 0) return any === 0 ? 'empty' : 'misses'
      return exceeds !== 0 ? 'exceeds' : 'equal'
    },
    text: () => `0x${Buffer.from(sum.map(digit => CODES[digit]!)).toString('latin1')}`,
  }
}

/** The logs bloom of logs, as a header has it. */
export const logsBloomOf = (logs: readonly { address: Hex; topics: readonly Hex[] }[]): Hex => {
  const bloom = createBloom()
  for (const log of logs) {
    bloom.add(log.address)
    for (const topic of log.topics) bloom.add(topic)
  }
  return bloom.text()
}

/**
 * Addresses and topics repeat, so their bits are kept: one value for each slot, the latest one. The slot comes from a few digits
 * that differ between values; a Map would spend more on hashing all 66 characters than is spent here on Keccak. Some 10 MB when full.
 */
const SLOTS = 65_536
const known: (Hex | undefined)[] = new Array(SLOTS).fill(undefined)
const knownBits = new Float64Array(SLOTS)

/** As `bloomBitsOf`; -1 where the value is no hex text. */
const bitsOf = (value: Hex): number => {
  const end = value.length
  // Topics that hold numbers differ at their end, addresses and hashes everywhere.
  const slot =
    (Math.imul(
      value.charCodeAt(end - 1) +
        (value.charCodeAt(end - 2) << 8) +
        (value.charCodeAt(end - 3) << 16) +
        (value.charCodeAt(end - 4) << 24),
      0x9e3779b1,
    ) ^
      Math.imul(
        value.charCodeAt(end - 5) +
          (value.charCodeAt(end - 20) << 8) +
          (value.charCodeAt(end - 30) << 16) +
          (value.charCodeAt(2) << 24),
        0x85ebca6b,
      )) >>>
    16
  if (known[slot] === value) return knownBits[slot]!
  const bits = hashBits(value)
  if (bits < 0) return bits
  known[slot] = value
  knownBits[slot] = bits
  return bits
}

const hashBits = (value: Hex): number => {
  const bytes = Buffer.from(value.slice(2), 'hex')
  // Buffer stops at the first pair that is not hex.
  if (bytes.length * 2 + 2 !== value.length) return -1
  return bloomBitsOf(bytes)
}

/** The three bits that an address or topic sets, of 11 bits each, packed into one number. */
export const bloomBitsOf = (bytes: Uint8Array): number => {
  const hash = keccak256(bytes)
  const pair = (i: number) => ((hash[i]! << 8) | hash[i + 1]!) & 2047
  return pair(0) + pair(2) * 2048 + pair(4) * 4_194_304
}

const CODES = Buffer.from('0123456789abcdef')
const DIGITS = new Int8Array(128).fill(-1)
for (const [digits, first] of [
  ['0123456789', 0],
  ['abcdef', 10],
  ['ABCDEF', 10],
] as const) {
  for (let i = 0; i < digits.length; i++) DIGITS[digits.charCodeAt(i)] = first + i
}
