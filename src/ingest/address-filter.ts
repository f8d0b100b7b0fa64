import type { StoredDictionaries } from '../engine/lookups/dictionaries.ts'

/** Tells of most addresses that the store does not have that it does not. Addresses are 40 lower-case digits. */
export interface AddressFilter {
  mayHave(digits: string): boolean
  /** It is about to be stored. */
  add(digits: string): void
}

/** Addresses up to which the filter is worth its memory and the time to fill it: 40 MB and three seconds. */
const MAX_FILTERED = 20_000_000
const BITS_PER_ADDRESS = 16

/**
 * A Bloom filter over the stored addresses: most addresses that are new to the cache are new to the store too, and need not be
 * looked for there. Addresses are hashes already, so their own digits choose the bits.
 */
export const createAddressFilter = ({
  last,
  addresses,
}: Pick<StoredDictionaries, 'last' | 'addresses'>): AddressFilter => {
  const stored = last('address')
  if (stored > MAX_FILTERED) return { mayHave: () => true, add: () => {} }
  const size = 2 ** Math.ceil(Math.log2(Math.max(2 ** 20, stored * 2) * BITS_PER_ADDRESS))
  const bits = new Uint32Array(size / 32)
  let count = 0
  const places = (digits: string): [number, number] => [
    Number.parseInt(digits.slice(8, 16), 16) % size,
    Number.parseInt(digits.slice(24, 32), 16) % size,
  ]
  const has = (place: number): boolean => (bits[place >>> 5]! & (1 << (place & 31))) !== 0
  const add = (digits: string) => {
    for (const place of places(digits)) bits[place >>> 5]! |= 1 << (place & 31)
    count++
  }
  for (const digits of addresses()) add(digits)
  return {
    mayHave(digits: string): boolean {
      // Fuller than planned, it tells less; it never errs on the other side.
      if (count * BITS_PER_ADDRESS > size * 4) return true
      const [a, b] = places(digits)
      return has(a) && has(b)
    },
    add,
  }
}
