import { HASH_SLOTS, hashSlot } from './hash.ts'
import { keccak256 } from './keccak.ts'

/** `0x`-prefixed hex text. */
type HexText = string

export type Bloom = ReturnType<typeof createBloom>

/** A logs bloom of 2048 bits, the sum of addresses and topics. */
export const createBloom = () => {
  /** One nibble each, in the order of a header's digits: most significant first. */
  const sum = new Uint8Array(512)
  const set = (bit: number) => {
    sum[511 - (bit >> 2)]! |= 1 << (bit & 3)
  }
  return {
    clear() {
      sum.fill(0)
    },
    /**
     * ORs in the three bits of a hex address or topic. Returns an equal text, for frequent values
     * the same object, which a Map does not hash again.
     */
    add(value: HexText): HexText {
      const slot = hashSlot(value)
      if (hashedValues[slot] !== value && !learnBits(slot, value)) return value
      const bits = knownBits[slot]!
      set(bits & 2047)
      set((bits >>> 11) & 2047)
      set(knownLast[slot]!)
      return hashedValues[slot]!
    },
    include({ digits }: { digits: Uint8Array }) {
      for (let i = 0; i < 512; i++) sum[i]! |= digits[i]!
    },
    /** One nibble each, in the order of a header's digits. */
    digits: sum,
    /**
     * `empty`: no bit. `misses`: lacks a bit of the sum. `exceeds`: has one more. `malformed`: not
     * 512 hex digits.
     */
    compare(stated: HexText): 'equal' | 'empty' | 'misses' | 'exceeds' | 'malformed' {
      let any = 0
      let misses = 0
      let exceeds = 0
      if (statedText.write(stated, 0) !== 514) return 'malformed'
      for (let i = 0; i < 512; i++) {
        const digit = NIBBLE_VALUES[statedText[i + 2]!]!
        if (digit < 0) return 'malformed'
        any |= digit
        misses |= sum[i]! & ~digit
        exceeds |= digit & ~sum[i]!
      }
      if (misses !== 0) return any === 0 ? 'empty' : 'misses'
      return exceeds !== 0 ? 'exceeds' : 'equal'
    },
    /** The sum in the form of a header. */
    text: (): HexText => `0x${Buffer.from(sum.map(digit => HEX_CODES[digit]!)).toString('latin1')}`,
  }
}

export const logsBloomOf = (logs: readonly { address: HexText; topics: readonly HexText[] }[]): HexText => {
  const bloom = createBloom()
  for (const log of logs) {
    bloom.add(log.address)
    for (const topic of log.topics) bloom.add(topic)
  }
  return bloom.text()
}

/** Latest value of each slot, since addresses and topics repeat. Takes some 10 MB when full. */
const hashedValues: (HexText | undefined)[] = new Array(HASH_SLOTS).fill(undefined)
/** First two bit numbers of each value, of 11 bits each. */
const knownBits = new Uint32Array(HASH_SLOTS)
const knownLast = new Uint16Array(HASH_SLOTS)

const valueBytes = Buffer.allocUnsafeSlow(64)

/** False if the value is neither address nor topic. */
const learnBits = (slot: number, value: HexText): boolean => {
  const size = valueBytes.write(value.slice(2), 0, 'hex')
  // Decoding stops at the first character that is not hex.
  if (size * 2 + 2 !== value.length) return false
  const bits = bloomBitsOf(valueBytes.subarray(0, size))
  hashedValues[slot] = value
  knownBits[slot] = bits % 4_194_304
  knownLast[slot] = Math.floor(bits / 4_194_304)
  return true
}

/** The three bit numbers of an address or topic, 11 bits each, packed into one number. */
export const bloomBitsOf = (value: Uint8Array): number => {
  const hash = keccak256(value)
  const pair = (i: number) => ((hash[i]! << 8) | hash[i + 1]!) & 2047
  return pair(0) + pair(2) * 2048 + pair(4) * 4_194_304
}

const HEX_CODES = Buffer.from('0123456789abcdef')
const statedText = Buffer.allocUnsafeSlow(1024)
const NIBBLE_VALUES = new Int8Array(256).fill(-1)
for (const [digits, first] of [
  ['0123456789', 0],
  ['abcdef', 10],
  ['ABCDEF', 10],
] as const) {
  for (let i = 0; i < digits.length; i++) NIBBLE_VALUES[digits.charCodeAt(i)] = first + i
}
