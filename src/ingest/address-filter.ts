import { createHash } from '../lib/hash.ts'

/** Tells of most addresses that are not among some stored ones that they are not. Addresses are 40 lower-case digits. */
export interface AddressFilter {
  mayHave(digits: string): boolean
  /** It is about to be stored. Returns what `mayHave` said before. */
  add(digits: string): boolean
}

/** Addresses up to which the filter is worth its memory and the time to fill it: 40 MB and three seconds. */
const MAX_FILTERED = 20_000_000
const BITS_PER_ADDRESS = 16

/**
 * A Bloom filter over stored addresses: most addresses that are new to a cache are new to the store too, and need not be
 * looked for there.
 */
export const createAddressFilter = (stored: number, addresses: Iterable<string>): AddressFilter => {
  if (stored > MAX_FILTERED) return { mayHave: () => true, add: () => true }
  const size = 2 ** Math.ceil(Math.log2(Math.max(2 ** 20, stored * 2) * BITS_PER_ADDRESS))
  const bits = new Uint32Array(size / 32)
  const hash = createHash([0, 0])
  let count = 0
  /** Fuller than planned, it tells less; it never errs on the other side. */
  const isFull = () => count * BITS_PER_ADDRESS > size * 4
  const has = (place: number): boolean => (bits[place >>> 5]! & (1 << (place & 31))) !== 0
  const set = (place: number) => {
    bits[place >>> 5]! |= 1 << (place & 31)
  }
  const add = (digits: string): boolean => {
    if (isFull()) return true
    const { high, low } = hash(digits)
    const [a, b] = [high & (size - 1), low & (size - 1)]
    if (has(a) && has(b)) return true
    set(a)
    set(b)
    count++
    return false
  }
  for (const digits of addresses) add(digits)
  return {
    add,
    mayHave(digits) {
      if (isFull()) return true
      const { high, low } = hash(digits)
      return has(high & (size - 1)) && has(low & (size - 1))
    },
  }
}
