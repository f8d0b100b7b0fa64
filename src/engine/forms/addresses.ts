import { bloomBitsOf } from '../../lib/bloom.ts'
import { type ByteWriter, putDigits } from '../../lib/bytes.ts'
import { checksumDigits } from '../../lib/keccak.ts'

/** Writes addresses by their dictionary ids. */
export type Addresses = ReturnType<typeof createAddresses>

const ADDRESS_SLOTS = 1 << 16
const SIZE = 80
const ADDRESS_DIGITS = 40

/** A cache of one id for each slot, of 8 MB if all slots are used. */
export const createAddresses = (bytesOf: (id: number) => Uint8Array) => {
  const owners = new Uint32Array(ADDRESS_SLOTS)
  const ascii = Buffer.alloc(ADDRESS_SLOTS * SIZE)
  const view = new DataView(ascii.buffer, ascii.byteOffset, ascii.length)
  const bytes = Buffer.alloc(ADDRESS_SLOTS * 20)
  const emitterBits = new Float64Array(ADDRESS_SLOTS)
  const topicBits = new Float64Array(ADDRESS_SLOTS)
  const word = Buffer.alloc(32)
  /** The bytes, then the checksummed digits. */
  const foreign = Buffer.alloc(FOREIGN * FOREIGN_SIZE)
  const foreignView = new DataView(foreign.buffer, foreign.byteOffset, foreign.length)
  foreign.write('0'.repeat(ADDRESS_DIGITS), 20)

  const slotOf = (id: number): number => {
    const slot = id & (ADDRESS_SLOTS - 1)
    if (owners[slot] !== id) {
      const at = slot * SIZE
      const address = bytesOf(id)
      bytes.set(address, slot * 20)
      putDigits(view, at, address, 0, 20)
      putDigits(view, at + ADDRESS_DIGITS, address, 0, 20)
      checksumDigits(ascii, at)
      emitterBits[slot] = UNKNOWN_BITS
      topicBits[slot] = UNKNOWN_BITS
      owners[slot] = id
    }
    return slot
  }

  const copy = (id: number, target: Uint8Array, to: number) => {
    const from = slotOf(id) * 20
    for (let i = 0; i < 20; i++) target[to + i] = bytes[from + i]!
  }

  const bitsIn = (known: Float64Array, id: number, start: number): number => {
    const slot = slotOf(id)
    if (known[slot] === UNKNOWN_BITS) {
      copy(id, word, 12)
      known[slot] = bloomBitsOf(word.subarray(start))
    }
    return known[slot]!
  }

  return {
    /** Appends the 40 digits in the letter case of EIP-55. */
    checksummed(out: ByteWriter, id: number): void {
      const at = slotOf(id) * SIZE
      out.words(view, at, at + ADDRESS_DIGITS)
    },
    /** Checksums the 20 bytes of an address that may be in no dictionary. */
    checksummedBytes(out: ByteWriter, bytes: Uint8Array, start: number): void {
      // Addresses differ in their last bytes.
      const slot =
        (bytes[start + 19]! | (bytes[start + 18]! << 8) | (bytes[start + 17]! << 16) | (bytes[start + 16]! << 24)) &
        (FOREIGN - 1)
      const at = slot * FOREIGN_SIZE
      if (!equalsAddress(foreign, at, bytes, start)) {
        for (let i = 0; i < 20; i++) foreign[at + i] = bytes[start + i]!
        putDigits(foreignView, at + 20, bytes, start, start + 20)
        checksumDigits(foreign, at + 20)
      }
      out.words(foreignView, at + 20, at + FOREIGN_SIZE)
    },
    /** Appends the digits in lower case. */
    plain(out: ByteWriter, id: number): void {
      const at = slotOf(id) * SIZE + ADDRESS_DIGITS
      out.words(view, at, at + ADDRESS_DIGITS)
    },
    copy,
    /** Bits in a bloom filter, packed into one number, as an emitter and as a topic. */
    bloomBits: (id: number): number => bitsIn(emitterBits, id, 12),
    topicBits: (id: number): number => bitsIn(topicBits, id, 0),
  }
}

const equalsAddress = (a: Uint8Array, from: number, b: Uint8Array, start: number): boolean => {
  for (let i = 19; i >= 0; i--) if (a[from + i] !== b[start + i]) return false
  return true
}

/** Slots for addresses without ids, such as those of withdrawals. */
const FOREIGN = 1 << 12
const FOREIGN_SIZE = 60
const UNKNOWN_BITS = -1
