import { createHash } from '../../lib/hash.ts'

/** Tells of most addresses that are not among some stored ones that they are not. Addresses are 40 lower-case digits. */
export type AddressFilter = ReturnType<typeof openAddressFilter>

/** Addresses up to which the filter is worth its memory and the time to fill it: 40 MB and three seconds. */
const MAX_FILTERED = 20_000_000
const BITS_PER_ADDRESS = 16

/** The memory of a filter, of one thread or shared. */
export interface FilterMemory<B extends ArrayBufferLike = ArrayBufferLike> {
  bits: B
  /** One word: addresses that were added. */
  count: B
}

/** Undefined where a filter for so many addresses would not be worth it. */
export const createFilterMemory = <B extends ArrayBufferLike>(
  stored: number,
  make: (bytes: number) => B,
): FilterMemory<B> | undefined => {
  if (stored > MAX_FILTERED) return undefined
  const size = 2 ** Math.ceil(Math.log2(Math.max(2 ** 20, stored * 2) * BITS_PER_ADDRESS))
  return { bits: make(size / 8), count: make(4) }
}

/**
 * A Bloom filter over stored addresses: most addresses that are new to a cache are new to the store too, and need not be
 * looked for there.
 */
export const createAddressFilter = (stored: number, addresses: Iterable<string>): AddressFilter => {
  const memory = createFilterMemory(stored, bytes => new ArrayBuffer(bytes))
  const filter = openAddressFilter(memory)
  if (memory) for (const digits of addresses) filter.add(digits)
  return filter
}

/** The filter that memory holds. Where threads share it, only one at a time may add to it. */
export const openAddressFilter = (memory: FilterMemory | undefined) => {
  if (!memory) return { mayHave: () => true, add: () => true }
  const bits = new Uint32Array(memory.bits)
  const counted = new Uint32Array(memory.count)
  const size = bits.length * 32
  const hash = createHash([0, 0])
  /** Fuller than planned, it tells less; it never errs on the other side. */
  const isFull = () => counted[0]! * BITS_PER_ADDRESS > size * 4
  const has = (place: number): boolean => (bits[place >>> 5]! & (1 << (place & 31))) !== 0
  const set = (place: number) => {
    bits[place >>> 5]! |= 1 << (place & 31)
  }
  return {
    /** It is about to be stored. Returns what `mayHave` said before. */
    add(digits: string) {
      if (isFull()) return true
      const { high, low } = hash(digits)
      const [a, b] = [high & (size - 1), low & (size - 1)]
      if (has(a) && has(b)) return true
      set(a)
      set(b)
      counted[0]!++
      return false
    },
    mayHave(digits: string) {
      if (isFull()) return true
      const { high, low } = hash(digits)
      return has(high & (size - 1)) && has(low & (size - 1))
    },
  }
}
