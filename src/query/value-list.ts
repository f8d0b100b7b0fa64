import type { ComparedValue } from './compare.ts'
import { keyOfText, keysOfFace } from './value-keys.ts'

/**
 * The values of a watch list, which may be a million: packed, in memory that threads share. It is
 * plain data, so that queries with it can be sent to other threads. One thread changes it.
 */
export interface ValueList {
  /** Names the list among all accounts. */
  readonly name: string
  /** Random: nobody can choose values that collide. */
  readonly seed: number
  size: number
  /** Each value as its length in two bytes, and its bytes. */
  bytes: Uint8Array
  used: number
  /** An open hash table: of each slot, the hash of the value's key and its place in `bytes`, from 1. */
  slots: Uint32Array
  /** Slots that are not free. */
  taken: number
}

/** Hex in lower case is the same value as in upper case. Everything else stays as it is written. */
export const canonicalValue = (text: string): string => (ANY_HEX.test(text) ? text.toLowerCase() : text)

const ANY_HEX = /^0x[0-9a-fA-F]*$/
const LOWER_HEX = /^0x[0-9a-f]+$/

/** A canonical value in few bytes: hex takes half of its digits. */
export const packValue = (text: string): Buffer => {
  if (!LOWER_HEX.test(text)) return Buffer.concat([TEXT_FORM, Buffer.from(text)])
  const isOdd = text.length % 2 === 1
  return Buffer.from(`${isOdd ? '020' : '01'}${text.slice(2)}`, 'hex')
}

const TEXT_FORM = Buffer.from([0])

export const unpackValue = (packed: Uint8Array): string => {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length)
  if (bytes[0] === 0) return bytes.toString('utf8', 1)
  return `0x${bytes.toString('hex', 1).slice(bytes[0] === 2 ? 1 : 0)}`
}

export const createValueList = (
  name: string,
  packed: Iterable<Uint8Array> = [],
  { expected = 0, seed = 0 } = {},
): ValueList => {
  const list: ValueList = { name, seed, size: 0, ...emptyTable(expected), used: 0, taken: 0 }
  for (const value of packed) addPacked(list, value)
  return list
}

const emptyTable = (expected: number) => ({
  bytes: new Uint8Array(new SharedArrayBuffer(Math.max(MIN_BYTES, expected * BYTES_EXPECTED))),
  slots: new Uint32Array(new SharedArrayBuffer(8 * 2 ** Math.ceil(Math.log2(Math.max(MIN_SLOTS, 2 * expected))))),
})

const MIN_BYTES = 256
const MIN_SLOTS = 16
/** An address with its length and form. */
const BYTES_EXPECTED = 23
/** In the place of a value that was removed. */
const REMOVED = 0xffff_ffff

/** Whether it was not in the list yet. */
export const addPacked = (list: ValueList, packed: Uint8Array): boolean => {
  const hash = hashOfKey(list, keyOfText(unpackValue(packed)))
  if (findSlot(list, hash, packed) !== undefined) return false
  if (2 * (list.taken + 1) > list.slots.length / 2) enlargeSlots(list)
  if (list.used + packed.length + 2 > list.bytes.length) renewBytes(list, packed.length + 2)
  const at = list.used
  list.bytes[at] = packed.length & 0xff
  list.bytes[at + 1] = packed.length >>> 8
  list.bytes.set(packed, at + 2)
  list.used += packed.length + 2
  takeSlot(list.slots, hash, at + 1)
  list.taken++
  list.size++
  return true
}

/** Whether it was in the list. Its bytes stay until room is needed. */
export const removePacked = (list: ValueList, packed: Uint8Array): boolean => {
  const slot = findSlot(list, hashOfKey(list, keyOfText(unpackValue(packed))), packed)
  if (slot === undefined) return false
  list.slots[slot + 1] = REMOVED
  list.size--
  return true
}

/** Takes over the values of another list. */
export const takeOverValues = (list: ValueList, { name: _, ...values }: ValueList): void =>
  void Object.assign(list, values)

const takeSlot = (slots: Uint32Array, hash: number, at: number) => {
  const mask = slots.length / 2 - 1
  let slot = hash & mask
  while (slots[2 * slot + 1] !== 0) slot = (slot + 1) & mask
  slots[2 * slot] = hash
  slots[2 * slot + 1] = at
}

const findSlot = ({ slots, bytes }: ValueList, hash: number, packed: Uint8Array): number | undefined => {
  const mask = slots.length / 2 - 1
  for (let slot = hash & mask; slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
    const at = slots[2 * slot + 1]!
    if (slots[2 * slot] === hash && at !== REMOVED && isAt(bytes, at - 1, packed)) return 2 * slot
  }
  return undefined
}

const isAt = (bytes: Uint8Array, at: number, packed: Uint8Array): boolean => {
  if (sizeAt(bytes, at) !== packed.length + 2) return false
  for (let i = 0; i < packed.length; i++) if (bytes[at + 2 + i] !== packed[i]) return false
  return true
}

/** Twice as many, unless removed values take most of them. */
const enlargeSlots = (list: ValueList) => {
  const { slots, size } = list
  const count = size * 4 > slots.length / 2 ? slots.length * 2 : slots.length
  const larger = new Uint32Array(new SharedArrayBuffer(4 * count))
  for (let i = 0; i < slots.length; i += 2) if (isValue(slots[i + 1]!)) takeSlot(larger, slots[i]!, slots[i + 1]!)
  list.slots = larger
  list.taken = size
}

/** Leaves out removed values. Arrays are not changed in place, since other threads may read them. */
const renewBytes = (list: ValueList, more: number) => {
  const { bytes, slots } = list
  let live = 0
  for (let i = 1; i < slots.length; i += 2) if (isValue(slots[i]!)) live += sizeAt(bytes, slots[i]! - 1)
  const renewed = new Uint8Array(new SharedArrayBuffer(Math.ceil(1.5 * (live + more))))
  const moved = new Uint32Array(new SharedArrayBuffer(slots.byteLength))
  moved.set(slots)
  let used = 0
  for (let i = 1; i < slots.length; i += 2) {
    if (!isValue(slots[i]!)) continue
    const at = slots[i]! - 1
    const size = sizeAt(bytes, at)
    renewed.set(bytes.subarray(at, at + size), used)
    moved[i] = used + 1
    used += size
  }
  Object.assign(list, { bytes: renewed, slots: moved, used })
}

const isValue = (slot: number): boolean => slot !== 0 && slot !== REMOVED
const sizeAt = (bytes: Uint8Array, at: number): number => 2 + (bytes[at]! | (bytes[at + 1]! << 8))

const hashOfKey = ({ seed }: Pick<ValueList, 'seed'>, key: string): number => {
  let hash = seed
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x5bd1e995)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 13), 0x85ebca6b)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Values with that key. */
function* valuesWithKey(list: ValueList, key: string): Generator<string, void> {
  const { slots, bytes } = list
  const hash = hashOfKey(list, key)
  const mask = slots.length / 2 - 1
  for (let slot = hash & mask; slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
    const at = slots[2 * slot + 1]!
    if (slots[2 * slot] !== hash || at === REMOVED) continue
    const text = textAtPlace(bytes, at - 1)
    if (keyOfText(text) === key) yield text
  }
}

/** Whether any value has the key: others are surely not equal. */
export const listHasKey = (list: ValueList, key: string): boolean => !valuesWithKey(list, key).next().done

const textAtPlace = (bytes: Uint8Array, at: number): string =>
  unpackValue(bytes.subarray(at + 2, at + sizeAt(bytes, at)))

/** Values of the list that may be equal to a value. */
export const valuesNear = (list: ValueList, face: ComparedValue): string[] =>
  keysOfFace(face).flatMap(key => [...valuesWithKey(list, key)])

/** In no order. */
export const valuesIn = ({ slots, bytes }: ValueList): string[] => {
  const values: string[] = []
  for (let i = 1; i < slots.length; i += 2) if (isValue(slots[i]!)) values.push(textAtPlace(bytes, slots[i]! - 1))
  return values
}
