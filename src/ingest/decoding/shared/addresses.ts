import { type Added, detachText } from '../../../engine/index/dictionary.ts'
import { createRecentCache, createSlotCache } from '../../../lib/caches.ts'
import { createHash } from '../../../lib/hash.ts'
import { type FilterMemory, openAddressFilter } from '../dictionaries.ts'

/** Addresses of several threads: a hash table in shared memory, and a filter of those stored. */
export interface AddressesMemory {
  state: SharedArrayBuffer
  slots: SharedArrayBuffer
  keys: SharedArrayBuffer
  filter: FilterMemory<SharedArrayBuffer> | undefined
}

interface AddressesOptions {
  /** Secret keys, which prevent deliberate collisions. */
  hashKeys: readonly [number, number]
  find(digits: string): number | undefined
  /** Stored addresses whose ids each of two generations of a cache holds. */
  capacity?: number | undefined
}

const FIRST_ADDRESS_ID = 1
const ADDRESS_COUNT = 2
const ADDRESS_WORDS = 3

const ADDRESS_ROOM = 1 << 20
const SLOTS_PER_KEY = 2
const KEY_WORDS = 5
const ADDRESS_BYTES = KEY_WORDS * 4

export const createAddressesMemory = (
  first: number,
  filter: AddressesMemory['filter'],
  room = ADDRESS_ROOM,
): AddressesMemory => {
  const state = new SharedArrayBuffer(ADDRESS_WORDS * 4)
  new Int32Array(state)[FIRST_ADDRESS_ID] = first
  return {
    state,
    slots: new SharedArrayBuffer(room * SLOTS_PER_KEY * 4),
    keys: new SharedArrayBuffer(room * ADDRESS_BYTES),
    filter,
  }
}

export const joinAddresses = (memory: AddressesMemory, options: AddressesOptions) =>
  openAddresses(memory, options, () => {
    throw new NoRoom()
  })

const openAddresses = (
  memory: AddressesMemory,
  { hashKeys, find, capacity = 200_000 }: AddressesOptions,
  onNoRoom: (digits: string) => number,
) => {
  const state = new Int32Array(memory.state)
  const slots = new Int32Array(memory.slots)
  const keys = new Uint32Array(memory.keys)
  const mask = slots.length - 1
  const room = keys.length / KEY_WORDS
  const filter = openAddressFilter(memory.filter)
  const hash = createHash(hashKeys)
  const key = new Uint32Array(KEY_WORDS)
  const own = Buffer.from(key.buffer)
  const found = createRecentCache<number>(capacity)
  let slot = 0

  /** Returns the address's place, or 0; `slot` is then where to insert it. */
  const probe = (from: number): number => {
    for (slot = from; ; slot = (slot + 1) & mask) {
      // A visible place was written before.
      const place = Atomics.load(slots, slot)
      if (place === 0) return 0
      const at = (place - 1) * KEY_WORDS
      let i = 0
      while (i < KEY_WORDS && keys[at + i] === key[i]) i++
      if (i === KEY_WORDS) return place
    }
  }

  /** Requires the lock. */
  const insert = (digits: string): number => {
    const count = state[ADDRESS_COUNT]!
    if (count >= room) return onNoRoom(digits)
    keys.set(key, count * KEY_WORDS)
    state[ADDRESS_COUNT] = count + 1
    Atomics.store(slots, slot, count + 1)
    return state[FIRST_ADDRESS_ID]! + count
  }

  const idOf = (digits: string): number => {
    const from = hash(digits).low & mask
    own.write(digits, 'hex')
    const place = probe(from)
    if (place > 0) return state[FIRST_ADDRESS_ID]! + place - 1
    const known = found.get(digits)
    if (known !== undefined) return known
    const added = locked(state, () => {
      const place = probe(from)
      if (place > 0) return state[FIRST_ADDRESS_ID]! + place - 1
      return filter.add(digits) ? undefined : insert(digits)
    })
    if (added !== undefined) return added
    const stored = find(digits)
    if (stored !== undefined) {
      found.set(digits, stored)
      return stored
    }
    // Stored addresses leave the table only while no thread uses it.
    return locked(state, () => {
      const place = probe(from)
      return place > 0 ? state[FIRST_ADDRESS_ID]! + place - 1 : insert(digits)
    })
  }

  // Ids never change. Beyond the latest addresses, the table is faster than a Map of texts.
  const latest = createSlotCache(text => {
    const digits = detachText(text)
    return { text: digits, id: idOf(digits) }
  })

  return {
    /** Returns its id, or assigns the next one. */
    id: (digits: string): number => latest(digits).id,
  }
}

/** For the one thread that hands on the additions of all. */
export const ownAddresses = (memory: AddressesMemory, options: AddressesOptions) => {
  const state = new Int32Array(memory.state)
  const keys = Buffer.from(memory.keys)
  const room = keys.length / ADDRESS_BYTES
  /** Entries of a full table; other threads then add nothing. */
  const alone = new Map<string, number>()
  let taken = 0
  const addresses = openAddresses(memory, options, digits => {
    const id = alone.get(digits) ?? state[FIRST_ADDRESS_ID]! + room + alone.size
    alone.set(digits, id)
    return id
  })

  return {
    ...addresses,
    /** Takes entries added since the last call, in the order of ids. */
    takeAdded() {
      const count = locked(state, () => state[ADDRESS_COUNT]!)
      const added: Added = { first: state[FIRST_ADDRESS_ID]! + taken, texts: [] }
      for (let i = taken; i < count; i++)
        added.texts.push(keys.toString('hex', i * ADDRESS_BYTES, (i + 1) * ADDRESS_BYTES))
      for (const digits of [...alone.keys()].slice(Math.max(0, taken - count))) added.texts.push(digits)
      taken += added.texts.length
      return added
    },
    isTaken: () => taken === state[ADDRESS_COUNT]! + alone.size,
    isFilling: () => Atomics.load(state, ADDRESS_COUNT) > room / 2,
    /** Requires that all are stored and no other thread looks any up. */
    reset() {
      state[FIRST_ADDRESS_ID]! += state[ADDRESS_COUNT]! + alone.size
      state[ADDRESS_COUNT] = 0
      new Int32Array(memory.slots).fill(0)
      alone.clear()
      taken = 0
    },
  }
}

const [LOCK_FREE, LOCK_HELD, LOCK_AWAITED] = [0, 1, 2] as const

/** Longest sleep: the lock's owner may have ended, and the sleeper may have to. */
const NAP_MS = 1000

/** A lock lasts milliseconds: after so many naps, its owner has ended. */
const MAX_NAPS = 10

/** Runs under the lock in the first word of `state`. Not reentrant; throws if never released. */
export const locked = <T>(state: Int32Array<SharedArrayBuffer>, run: () => T): T => {
  if (Atomics.compareExchange(state, 0, LOCK_FREE, LOCK_HELD) !== LOCK_FREE)
    for (let naps = 0; Atomics.exchange(state, 0, LOCK_AWAITED) !== LOCK_FREE; ) {
      if (naps === MAX_NAPS) throw new Error('a thread ended while it held a lock')
      if (Atomics.wait(state, 0, LOCK_AWAITED, NAP_MS) === 'timed-out') naps++
    }
  try {
    return run()
  } finally {
    if (Atomics.exchange(state, 0, LOCK_FREE) === LOCK_AWAITED) Atomics.notify(state, 0, 1)
  }
}

export class NoRoom extends Error {
  constructor() {
    super('the shared dictionaries have no room left')
  }
}
