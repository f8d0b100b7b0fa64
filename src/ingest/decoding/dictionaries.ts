import type { Signature } from '../../decode/types.ts'
import type { StoredDictionaries } from '../../engine/dictionary-reader.ts'
import type { Numbered } from '../../engine/index/argument-terms.ts'
import { createDictionary, type Dictionary } from '../../engine/index/dictionary.ts'
import { SIGNATURES, UNLISTED, UNLISTED_CALL } from '../../engine/index/terms.ts'
import { createHash } from '../../lib/hash.ts'

/** Gives ids to repeated values; all signatures fit in memory. */
export interface Dictionaries {
  addresses: Dictionary
  names: Dictionary
  signatures: SignatureIds & { takeAdded(): AddedSignatures }
}

/** `capacity` applies to addresses; see `DictionaryOptions`. */
export const createDictionaries = (stored: StoredDictionaries, capacity?: number): Dictionaries => {
  const filter = createAddressFilter(stored.last('address'), stored.addresses())
  return {
    addresses: createDictionary({
      last: stored.last('address'),
      find: digits => (filter.add(digits) ? stored.address(digits) : undefined),
      ...(capacity !== undefined && { capacity }),
    }),
    names: createDictionary({ last: stored.last('name'), find: stored.name }),
    signatures: createSignatureIds(stored),
  }
}

const createSignatureIds = (stored: StoredDictionaries): Dictionaries['signatures'] => {
  const rows = stored.signatures()
  const ids = new Map(rows.map(({ id, key }) => [key, id]))
  let next = rows.reduce((most, { id }) => Math.max(most, id), 0) + 1
  let added: AddedSignatures = { first: next, entries: [] }
  return {
    find: key => ids.get(key),
    add(signature: Signature, most) {
      if (next >= most) return undefined
      ids.set(signature.key, next)
      added.entries.push(signature)
      return next++
    },
    takeAdded() {
      const taken = added
      added = { first: next, entries: [] }
      return taken
    },
  }
}

export interface SignatureIds {
  find(key: string): number | undefined
  add(signature: Signature, most: number): number | undefined
}

interface AddedSignatures {
  first: number
  entries: Signature[]
}

/** Limit of signatures without a declaration; the ids above are reserved for declared ones. */
export const UNKNOWN_SIGNATURES = Math.floor(SIGNATURES * 0.75)

/** Numbers signatures. Anyone can emit any topic, so unknown ones beyond a limit share one. */
export const createSignatureNumbering = (ids: SignatureIds, listed: number): ((signature: Signature) => Numbered) => {
  const known = new Map<Signature, Numbered>()
  const idOf = (signature: Signature, most: number) => ids.find(signature.key) ?? ids.add(signature, most)

  const listedId = (signature: Signature): number | undefined => {
    const { of, event } = signature
    // Any selector can be called, so calls of unknown functions share one signature.
    if (!event && of === 'call') return undefined
    return idOf(signature, event ? SIGNATURES - 1 : listed)
  }

  return signature => {
    let found = known.get(signature)
    if (!found) {
      const id = listedId(signature)
      found =
        id !== undefined
          ? { id, unlisted: false }
          : { id: idOf(signature.of === 'call' ? unlistedCall : unlisted, SIGNATURES + 1)!, unlisted: true }
      if (known.size > SIGNATURES) known.clear()
      known.set(signature, found)
    }
    return found
  }
}

const unlisted: Signature = {
  of: 'log',
  key: UNLISTED,
  topic: null,
  indexed: 0,
  event: null,
  probability: 0,
  error: null,
}

const unlistedCall: Signature = { ...unlisted, of: 'call', key: UNLISTED_CALL }

/** Excludes most addresses that are not stored. Addresses are 40 lower-case digits. */
type AddressFilter = ReturnType<typeof openAddressFilter>

/** Largest number of addresses worth the filter's memory and start: 40 MB and three seconds. */
const MAX_FILTERED = 20_000_000
const BITS_PER_ADDRESS = 16

export interface FilterMemory<B extends ArrayBufferLike = ArrayBufferLike> {
  bits: B
  count: B
}

export const createFilterMemory = <B extends ArrayBufferLike>(
  stored: number,
  make: (bytes: number) => B,
): FilterMemory<B> | undefined => {
  if (stored > MAX_FILTERED) return undefined
  const size = 2 ** Math.ceil(Math.log2(Math.max(2 ** 20, stored * 2) * BITS_PER_ADDRESS))
  return { bits: make(size / 8), count: make(4) }
}

/** A Bloom filter over stored addresses: most that are new to a cache are new to the store too. */
export const createAddressFilter = (stored: number, addresses: Iterable<string>): AddressFilter => {
  const memory = createFilterMemory(stored, bytes => new ArrayBuffer(bytes))
  const filter = openAddressFilter(memory)
  if (memory) for (const digits of addresses) filter.add(digits)
  return filter
}

/** Opens the filter in memory; only one of the sharing threads may add to it. */
export const openAddressFilter = (memory: FilterMemory | undefined) => {
  if (!memory) return { mayHave: () => true, add: () => true }
  const bits = new Uint32Array(memory.bits)
  const counted = new Uint32Array(memory.count)
  const size = bits.length * 32
  const hash = createHash([0, 0])
  /** An overfull filter excludes fewer addresses, but never a stored one. */
  const isFull = () => counted[0]! * BITS_PER_ADDRESS > size * 4
  const has = (place: number): boolean => (bits[place >>> 5]! & (1 << (place & 31))) !== 0
  const set = (place: number) => {
    bits[place >>> 5]! |= 1 << (place & 31)
  }
  return {
    /** Adds an address that is about to be stored; returns the previous `mayHave`. */
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
