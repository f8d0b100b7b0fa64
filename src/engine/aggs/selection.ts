import { MISSING } from '../index/column-codec.ts'
import type { Batch } from './batch.ts'
import { hazen } from './sorted.ts'
import type { RawNumbers } from './values.ts'

/** Whole numbers below 2^32 in any order, each as often as its count says; without counts each once. */
export interface Words {
  words: Uint32Array
  greatest: number
  counts?: Float64Array | undefined
}

/** The values of a batch as they come; undefined where one is too large. */
export const wordsOf = ({ values, base }: RawNumbers, { count, list, from }: Batch): Words | undefined => {
  const words = new Uint32Array(count)
  let size = 0
  let greatest = 0
  if (!list && base !== MISSING)
    for (; size < count; size++) {
      const word = base + values[from + size]!
      words[size] = word
      if (word > greatest) greatest = word
    }
  else
    for (let i = 0; i < count; i++) {
      const word = base + values[list ? list[i]! : from + i]!
      if (word === MISSING) continue
      words[size++] = word
      if (word > greatest) greatest = word
    }
  if (greatest > LARGEST) return undefined
  return { words: size === count ? words : words.slice(0, size), greatest }
}

const LARGEST = 2 ** 32 - 1

/** Values by the part of all values below them. Undefined where that is not known without sorting all. */
export type Selected = (part: number) => number | undefined

/** Values are counted by so many of their first bits. */
const BITS = 16
/** Numbers in the tables that count the last bits of the values looked for. */
const MOST = 2 ** 20

/** Looks up some quantiles in two passes that count, without sorting; undefined where the tables would be too large. */
export const selected = (all: readonly Words[], parts: readonly number[], check: () => void): Selected | undefined => {
  const greatest = all.reduce((most, one) => Math.max(most, one.greatest), 0)
  const shift = Math.max(0, 32 - Math.clz32(greatest) - BITS)
  const ends = countFirst(all, shift, (greatest >>> shift) + 1, check)
  const total = ends.at(-1)!
  if (total === 0) return () => Number.NaN
  const stretchOf = (place: number): number => placeIn(ends, 0, ends.length, place)
  const slots = slotsOf(stretchOf, parts, total)
  if (slots.size * 2 ** shift > MOST) return undefined
  const fine = countLast(all, shift, slots, check)
  const valueAt = (place: number): number | undefined => {
    const stretch = stretchOf(place)
    const slot = slots.get(stretch)
    if (slot === undefined) return undefined
    const before = stretch === 0 ? 0 : ends[stretch - 1]!
    const start = slot << shift
    return stretch * 2 ** shift + placeIn(fine, start, start + 2 ** shift, place - before) - start
  }
  return part => {
    if (!parts.includes(part)) return undefined
    return hazen(total, part, place => valueAt(place)!)
  }
}

/** How many values lie up to and with each stretch of values that share their first bits. */
const countFirst = (all: readonly Words[], shift: number, stretches: number, check: () => void): Uint32Array => {
  const ends = new Uint32Array(stretches)
  for (const { words, counts } of all) {
    check()
    if (counts) for (let i = 0; i < words.length; i++) ends[words[i]! >>> shift]! += counts[i]!
    else for (let i = 0; i < words.length; i++) ends[words[i]! >>> shift]!++
  }
  for (let i = 1; i < stretches; i++) ends[i]! += ends[i - 1]!
  return ends
}

/** The stretches in which the quantiles lie, numbered from 0. */
const slotsOf = (stretchOf: (place: number) => number, parts: readonly number[], total: number) => {
  const slots = new Map<number, number>()
  for (const part of parts)
    hazen(total, part, place => {
      const stretch = stretchOf(place)
      if (!slots.has(stretch)) slots.set(stretch, slots.size)
      return 0
    })
  return slots
}

/** How many values of these stretches lie up to and with each value, stretch by stretch. */
const countLast = (
  all: readonly Words[],
  shift: number,
  slots: ReadonlyMap<number, number>,
  check: () => void,
): Uint32Array => {
  const mask = 2 ** shift - 1
  const fine = new Uint32Array(slots.size * 2 ** shift)
  /** Where the slot of each stretch begins, and 1. */
  const startOf = new Uint32Array(2 ** BITS)
  for (const [stretch, slot] of slots) startOf[stretch] = (slot << shift) + 1
  for (const { words, counts } of all) {
    check()
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      const start = startOf[word >>> shift]!
      if (start !== 0) fine[start - 1 + (word & mask)]! += counts ? counts[i]! : 1
    }
  }
  for (let i = 1; i < fine.length; i++) if ((i & mask) !== 0) fine[i]! += fine[i - 1]!
  return fine
}

/** The first from `low` on, below `high`, that reaches beyond a place. */
const placeIn = (ends: Uint32Array, low: number, high: number, place: number): number => {
  let [from, to] = [low, high - 1]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (ends[middle]! > place) to = middle
    else from = middle + 1
  }
  return from
}
