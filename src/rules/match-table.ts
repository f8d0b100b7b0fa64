import type { Entity } from './entities.ts'
import type { MatchedAttribute } from './match-group.ts'

/** Minimum keys for a filter in front of the map; a smaller map fits the processor's cache. */
const MIN_FILTERED_KEYS = 256
const FILTER_BITS_PER_KEY = 16

export const createMatchTable = <T extends object>() => {
  const items = new Map<string, T | Set<T>>()
  /** A filter of the keys since it was last rebuilt. */
  let bits: Uint32Array | undefined
  let mask = 0
  let marked = 0

  const mark = (key: string) => {
    const at = hashKey(key) & mask
    bits![at >>> 5]! |= 1 << (at & 31)
    marked++
  }

  const renew = () => {
    const size = 2 ** Math.ceil(Math.log2(items.size * 2 * FILTER_BITS_PER_KEY))
    bits = new Uint32Array(size / 32)
    mask = size - 1
    marked = 0
    for (const key of items.keys()) mark(key)
  }

  return {
    get size(): number {
      return items.size
    },
    add(key: string, item: T) {
      const there = items.get(key)
      if (there !== undefined) {
        if (there instanceof Set) there.add(item)
        else items.set(key, new Set([there, item]))
        return
      }
      items.set(key, item)
      if (bits === undefined ? items.size >= MIN_FILTERED_KEYS : marked * FILTER_BITS_PER_KEY > mask) renew()
      else if (bits !== undefined) mark(key)
    },
    remove(key: string, item: T) {
      const there = items.get(key)
      if (!(there instanceof Set)) items.delete(key)
      else if (there.delete(item) && there.size === 0) items.delete(key)
    },
    count(key: string): number {
      const there = items.get(key)
      return there === undefined ? 0 : there instanceof Set ? there.size : 1
    },
    forEach(key: string, found: (item: T) => void) {
      if (bits !== undefined) {
        const at = hashKey(key) & mask
        if ((bits[at >>> 5]! & (1 << (at & 31))) === 0) return
      }
      const there = items.get(key)
      if (there === undefined) return
      if (there instanceof Set) for (const item of there) found(item)
      else found(there)
    },
  }
}

/** Hashes the last characters, which are random in hashes and addresses. */
const hashKey = (key: string): number => {
  let hash = key.length
  for (let i = Math.max(0, key.length - HASHED_CHARACTERS); i < key.length; i++)
    hash = Math.imul(hash, 31) + key.charCodeAt(i)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}

const HASHED_CHARACTERS = 8

/** The attributes with keys. Of arguments only those that an event has are probed. */
export const createProbedAttributes = () => {
  const plain = new Set<MatchedAttribute>()
  const named = new Map<string, Set<MatchedAttribute>>()
  const placed = new Map<number, Set<MatchedAttribute>>()

  const placesOf = ({ steps: [list, name] }: MatchedAttribute): [Map<unknown, Set<MatchedAttribute>>, unknown][] => {
    if (list !== 'args' || name === undefined) return []
    return /^\d{1,15}$/.test(name)
      ? [
          [named, name],
          [placed, Number(name)],
        ]
      : [[named, name]]
  }

  return {
    add(attribute: MatchedAttribute) {
      const places = placesOf(attribute)
      if (places.length === 0) plain.add(attribute)
      for (const [map, place] of places) {
        const there = map.get(place)
        if (there) there.add(attribute)
        else map.set(place, new Set([attribute]))
      }
    },
    remove(attribute: MatchedAttribute) {
      plain.delete(attribute)
      for (const [map, place] of placesOf(attribute)) {
        const there = map.get(place)!
        there.delete(attribute)
        if (there.size === 0) map.delete(place)
      }
    },
    forEach({ decoded }: Entity, probe: (attribute: MatchedAttribute) => void) {
      for (const attribute of plain) probe(attribute)
      const args = decoded?.args
      if (!args) return
      for (let i = 0; i < args.length; i++) {
        const there = named.get(args[i]!.name)
        if (there) for (const attribute of there) probe(attribute)
        const others = placed.size === 0 ? undefined : placed.get(i)
        if (others) for (const attribute of others) probe(attribute)
      }
    },
  }
}
