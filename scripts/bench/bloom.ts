import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex } from '../../src/chain/wire.ts'

/** The three bit numbers of an address or topic in a logs bloom, 11 bits each, packed into one number. */
export const bloomBits = (value: Uint8Array): number => {
  const hash = keccak_256(value)
  const part = (i: number) => ((hash[i]! << 8) | hash[i + 1]!) & 2047
  return part(0) + part(2) * 2048 + part(4) * 4194304
}

export interface Bloom {
  clear(): void
  add(bits: number): void
  /** Adds everything that is in another one. */
  merge(other: Bloom): void
  text(): Hex
  readonly bytes: Uint8Array
}

export const createBloom = (): Bloom => {
  const bytes = Buffer.alloc(256)
  const set = (bit: number) => {
    bytes[255 - (bit >> 3)]! |= 1 << (bit & 7)
  }
  return {
    bytes,
    clear: () => void bytes.fill(0),
    add(bits) {
      const low = bits % 4194304
      set(low & 2047)
      set(low >> 11)
      set(Math.floor(bits / 4194304))
    },
    merge(other) {
      for (let i = 0; i < 256; i++) bytes[i]! |= other.bytes[i]!
    },
    text: () => `0x${bytes.toString('hex')}`,
  }
}

export const EMPTY_BLOOM: Hex = `0x${'0'.repeat(512)}`
