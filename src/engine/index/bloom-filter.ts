import { doubled } from '../../lib/arrays.ts'
import { FIELDS_PER_VALUE } from './terms.ts'

/**
 * Bloom filter of a segment's values: excludes rare values without reading blocks. For value 0,
 * which every segment has, the key is the field.
 */
const BITS_PER_KEY = 8
const FILTER_HASHES = 5

export const filterKey = (term: number): number => {
  const value = Math.floor(term / FIELDS_PER_VALUE)
  // Values are below 2^31.
  return value > 0 ? value : 2 ** 31 + term
}

/** Collects the keys of terms that come in ascending order, each once. */
export const createFilterKeys = () => {
  let keys = new Uint32Array(1 << 10)
  let count = 0
  return {
    add(term: number) {
      const key = filterKey(term)
      if (count > 0 && keys[count - 1] === key) return
      if (count === keys.length) keys = doubled(keys)
      keys[count++] = key
    },
    finish: () => keys.subarray(0, count),
  }
}

/** Number of keys that a filter is designed for. */
export const capacityOf = (words: Uint32Array): number => (words.length * 32) / BITS_PER_KEY

export const buildFilter = (keys: Uint32Array): Uint32Array<ArrayBuffer> => {
  const words = new Uint32Array(Math.max(1, Math.ceil((keys.length * BITS_PER_KEY) / 32)))
  for (let i = 0; i < keys.length; i++) addToFilter(words, keys[i]!)
  return words
}

export const addToFilter = (words: Uint32Array, key: number) => {
  let hash = mixKey(key ^ 0x9e3779b9)
  const step = mixKey(key) | 1
  for (let i = 0; i < FILTER_HASHES; i++) {
    const bit = Math.floor(((hash >>> 0) / 2 ** 32) * words.length * 32)
    words[bit >>> 5]! |= 1 << (bit & 31)
    hash = (hash + step) | 0
  }
}

export const filterMayHold = (words: Uint32Array, key: number): boolean => {
  let hash = mixKey(key ^ 0x9e3779b9)
  const step = mixKey(key) | 1
  for (let i = 0; i < FILTER_HASHES; i++) {
    const bit = Math.floor(((hash >>> 0) / 2 ** 32) * words.length * 32)
    if ((words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false
    hash = (hash + step) | 0
  }
  return true
}

/** Every bit of the outcome depends on every bit of the key. */
const mixKey = (key: number): number => {
  let mixed = Math.imul(key ^ (key >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
