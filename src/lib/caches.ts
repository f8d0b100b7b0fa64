import { HASH_SLOTS, hashSlot } from './hash.ts'

/** A cache much like LRU, of two generations: when the younger is full, it evicts the older. */
export const createRecentCache = <V extends NonNullable<unknown> | null>(size: number) => {
  let young = new Map<string, V>()
  let old = new Map<string, V>()

  const set = (key: string, value: V) => {
    if (young.size >= size && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key: string): V | undefined {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    entries: (): Iterable<[string, V]> => new Map([...old, ...young]),
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}

/**
 * Caches the latest value of each slot. For texts that repeat, such as addresses, this is faster
 * than a Map, which hashes the whole text. `make` may copy the text, as a slice keeps its source
 * alive.
 */
export const createSlotCache = <T extends { readonly text: string }>(
  make: (text: string) => T,
): ((text: string) => T) => {
  const latest: (T | undefined)[] = new Array(HASH_SLOTS).fill(undefined)
  return text => {
    const slot = hashSlot(text)
    const known = latest[slot]
    if (known?.text === text) return known
    const made = make(text)
    latest[slot] = made
    return made
  }
}

/** Creates a value on first use, which keeps a start short. */
export const lazy = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Memoizes by key: a full cache evicts all entries. */
export const memoize = <K, V extends NonNullable<unknown> | null>(
  most: number,
  make: (key: K) => V,
): ((key: K) => V) => {
  const known = new Map<K, V>()
  return key => {
    let value = known.get(key)
    if (value === undefined) {
      value = make(key)
      if (known.size >= most) known.clear()
      known.set(key, value)
    }
    return value
  }
}

/** Caches the value of the latest arguments. */
export const memoizeLatest = <A extends readonly unknown[], V>(make: (...args: A) => V): ((...args: A) => V) => {
  let known: { args: A; value: V } | undefined
  return (...args) => {
    if (!known?.args.every((arg, i) => arg === args[i])) known = { args, value: make(...args) }
    return known.value
  }
}

/** Caches values by object, as long as the object lives. */
export const rememberedBy = <K extends WeakKey, V>(make: (key: K) => V): ((key: K) => V) => {
  const known = new WeakMap<K, { value: V }>()
  return key => {
    let entry = known.get(key)
    if (!entry) {
      entry = { value: make(key) }
      known.set(key, entry)
    }
    return entry.value
  }
}
