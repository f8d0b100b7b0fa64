import { LENGTH_BYTES } from './cells.ts'

/** The distinct values of a column, and which of them each value is. */
export interface ParquetDictionary {
  /** The values, in the encoding PLAIN. */
  entries: Uint8Array
  count: number
  indexes: Uint32Array
}

/**
 * Finds the distinct ones among values in the encoding PLAIN, of `size` bytes, or behind a length if
 * that is 0. Undefined if few repeat: a dictionary would only take time.
 */
export const findDictionary = (values: Uint8Array, size: number): ParquetDictionary | undefined => {
  const view = new DataView(values.buffer, values.byteOffset, values.length)
  const least = size > 0 ? size : LENGTH_BYTES
  const most = Math.floor(values.length / least)
  const indexes = new Uint32Array(most)
  const slots = slotsFor(most)
  /** Where each entry begins. */
  const starts: number[] = []
  let entryBytes = 0
  let count = 0
  for (let at = 0; at < values.length; count++) {
    const length = size > 0 ? size : LENGTH_BYTES + view.getUint32(at, true)
    const entry = dictionaryEntry(view, at, length, slots, starts)
    if (entry < 0) return undefined
    if (entry === starts.length) {
      starts.push(at)
      entryBytes += length
    }
    indexes[count] = entry
    at += length
    if (count === PROBED && starts.length > PROBED / 2) return undefined
  }
  const indexBytes = (count * (32 - Math.clz32(starts.length))) / 8
  if (2 * (entryBytes + indexBytes) > values.length) return undefined
  return {
    entries: entriesAt(starts, values, view, size, entryBytes),
    count: starts.length,
    indexes: indexes.subarray(0, count),
  }
}

/** Values after which half of them must be known. */
const PROBED = 2000
/** Slots that are looked at: values may be chosen to collide. */
const MAX_PROBES = 64

/** A slot has one more than the number of its entry, or 0. Most are free. */
const slotsFor = (values: number): Uint32Array => new Uint32Array(1 << Math.max(4, 33 - Math.clz32(values)))

/** The number of the entry with these bytes, that of the next one if there is none; -1 if too many collide. */
const dictionaryEntry = (view: DataView, at: number, length: number, slots: Uint32Array, starts: number[]): number => {
  let slot = hashEntry(view, at, length)
  for (let probes = 0; probes < MAX_PROBES; probes++, slot++) {
    slot &= slots.length - 1
    const known = slots[slot]!
    if (known === 0) {
      slots[slot] = starts.length + 1
      return starts.length
    }
    if (equalBytes(view, starts[known - 1]!, at, length)) return known - 1
  }
  return -1
}

const hashEntry = (view: DataView, at: number, length: number): number => {
  let hash = length
  const end = at + length
  let next = at
  for (; next + 4 <= end; next += 4) hash = mixed(hash ^ view.getUint32(next, true))
  for (; next < end; next++) hash = mixed(hash ^ view.getUint8(next))
  return hash ^ (hash >>> 15)
}

const mixed = (word: number): number => {
  const product = Math.imul(word, 0x9e3779b1)
  return (product << 13) | (product >>> 19)
}

/** Those of other lengths differ in their first four bytes. */
const equalBytes = (view: DataView, a: number, b: number, length: number): boolean => {
  let next = 0
  for (; next + 4 <= length; next += 4)
    if (view.getUint32(a + next, true) !== view.getUint32(b + next, true)) return false
  for (; next < length; next++) if (view.getUint8(a + next) !== view.getUint8(b + next)) return false
  return true
}

const entriesAt = (
  starts: readonly number[],
  values: Uint8Array,
  view: DataView,
  size: number,
  bytes: number,
): Uint8Array => {
  const entries = new Uint8Array(bytes)
  let to = 0
  for (const at of starts) {
    const length = size > 0 ? size : LENGTH_BYTES + view.getUint32(at, true)
    entries.set(values.subarray(at, at + length), to)
    to += length
  }
  return entries
}
