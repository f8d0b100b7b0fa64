import { SLOTS, slotOf } from './hash.ts'
import { keccak256 } from './keccak.ts'

/** `0x`-prefixed hex text. */
type Hex = string

export type Bloom = ReturnType<typeof createBloom>

/** A logs bloom of 2048 bits that is summed up from addresses and topics. */
export const createBloom = () => {
  /** Half a byte each, in the order of the digits of a header's text: most significant first. */
  const sum = new Uint8Array(512)
  const set = (bit: number) => {
    sum[511 - (bit >> 2)]! |= 1 << (bit & 3)
  }
  return {
    clear() {
      sum.fill(0)
    },
    /**
     * ORs the three bits of an address or topic in, where it is hex text. Returns an equal text, of frequent ones the same object each
     * time, so that a Map need not hash it again.
     */
    add(value: Hex): Hex {
      const slot = slotOf(value)
      if (known[slot] !== value && !learn(slot, value)) return value
      const bits = knownBits[slot]!
      set(bits & 2047)
      set((bits >>> 11) & 2047)
      set(knownLast[slot]!)
      return known[slot]!
    },
    /** ORs another sum in. */
    include({ digits }: { digits: Uint8Array }) {
      for (let i = 0; i < 512; i++) sum[i]! |= digits[i]!
    },
    /** Half a byte each, in the order of the digits of a header's text. */
    digits: sum,
    /**
     * How a stated bloom relates to the sum: it has no bit (`empty`), lacks a bit of the sum (`misses`), has one that the sum lacks
     * (`exceeds`), or is not 512 hex digits (`malformed`).
     */
    compare(stated: Hex): 'equal' | 'empty' | 'misses' | 'exceeds' | 'malformed' {
      let any = 0
      let misses = 0
      let exceeds = 0
      if (text.write(stated, 0) !== 514) return 'malformed'
      for (let i = 0; i < 512; i++) {
        const digit = DIGITS[text[i + 2]!]!
        if (digit < 0) return 'malformed'
        any |= digit
        misses |= sum[i]! & ~digit
        exceeds |= digit & ~sum[i]!
      }
      if (misses !== 0) return any === 0 ? 'empty' : 'misses'
      return exceeds !== 0 ? 'exceeds' : 'equal'
    },
    /** The sum as a header has it. */
    text: (): Hex => `0x${Buffer.from(sum.map(digit => CODES[digit]!)).toString('latin1')}`,
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

/** Addresses and topics repeat, so their bits are kept: of the latest value of each slot. Some 10 MB when full. */
const known: (Hex | undefined)[] = new Array(SLOTS).fill(undefined)
/** Their first two bit numbers, of 11 bits each. */
const knownBits = new Uint32Array(SLOTS)
const knownLast = new Uint16Array(SLOTS)

const bytes = Buffer.allocUnsafeSlow(64)

/** False where the value is neither address nor topic. */
const learn = (slot: number, value: Hex): boolean => {
  const size = bytes.write(value.slice(2), 0, 'hex')
  // What is not hex ends before its time.
  if (size * 2 + 2 !== value.length) return false
  const bits = bloomBitsOf(bytes.subarray(0, size))
  known[slot] = value
  knownBits[slot] = bits % 4_194_304
  knownLast[slot] = Math.floor(bits / 4_194_304)
  return true
}

/** The three bits that an address or topic sets, of 11 bits each, packed into one number. */
export const bloomBitsOf = (value: Uint8Array): number => {
  const hash = keccak256(value)
  const pair = (i: number) => ((hash[i]! << 8) | hash[i + 1]!) & 2047
  return pair(0) + pair(2) * 2048 + pair(4) * 4_194_304
}

const CODES = Buffer.from('0123456789abcdef')
/** The text of the bloom at hand. */
const text = Buffer.allocUnsafeSlow(1024)
const DIGITS = new Int8Array(256).fill(-1)
for (const [digits, first] of [
  ['0123456789', 0],
  ['abcdef', 10],
  ['ABCDEF', 10],
] as const) {
  for (let i = 0; i < digits.length; i++) DIGITS[digits.charCodeAt(i)] = first + i
}
