import { lowerBound } from '../../../lib/arrays.ts'

/**
 * Immutable sets of ordinals of one segment, all below `size`: sorted lists if rare, bitmaps
 * (bitsets) if dense, runs if consecutive. Operations accept any mix.
 */
export type OrdinalSet =
  /** From `from` to `to`, exclusive. */
  | { readonly form: 'run'; readonly from: number; readonly to: number }
  /** Ascending, without repeats. */
  | { readonly form: 'list'; readonly list: Uint32Array }
  | { readonly form: 'bits'; readonly bits: Uint32Array; readonly count: number }

export const EMPTY_SET: OrdinalSet = { form: 'run', from: 0, to: 0 }

export const run = (from: number, to: number): OrdinalSet => (from < to ? { form: 'run', from, to } : EMPTY_SET)
export const listed = (list: Uint32Array): OrdinalSet => (list.length ? { form: 'list', list } : EMPTY_SET)
/** A set of ordinals in any order; repeats count once. */
export const collected = (ordinals: Uint32Array, size: number): OrdinalSet => {
  if (isDenseList(ordinals, size)) {
    const bits = new Uint32Array((size + 31) >>> 5)
    for (let i = 0; i < ordinals.length; i++) bits[ordinals[i]! >>> 5]! |= 1 << (ordinals[i]! & 31)
    return countedBits(bits)
  }
  const sorted = ordinals.slice().sort()
  let kept = 0
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[kept++] = sorted[i]!
  return listed(sorted.subarray(0, kept))
}

/** A list that takes few bytes is not worth being made smaller. */
const SMALL_LIST = 1024

/** The same set, in no more bytes than a bit for each ordinal below `size` takes, or in few. */
export const packed = (set: OrdinalSet, size: number): OrdinalSet => {
  if (set.form !== 'list') return set
  const { list } = set
  if (list.length > SMALL_LIST && isDenseList(list, size)) return collected(list, size)
  // Copies the start of a larger array, to free the rest.
  return list.buffer.byteLength > list.byteLength ? listed(list.slice()) : set
}

export const count = (set: OrdinalSet): number =>
  set.form === 'run' ? set.to - set.from : set.form === 'list' ? set.list.length : set.count

export const isEmptySet = (set: OrdinalSet): boolean => count(set) === 0

export const hasOrdinal = (set: OrdinalSet, ordinal: number): boolean => {
  if (set.form === 'run') return ordinal >= set.from && ordinal < set.to
  if (set.form === 'bits') return (set.bits[ordinal >>> 5]! & (1 << (ordinal & 31))) !== 0
  const at = lowerBound(set.list, ordinal)
  return set.list[at] === ordinal
}

export const and = (a: OrdinalSet, b: OrdinalSet, size: number): OrdinalSet => {
  if (count(a) > count(b)) return and(b, a, size)
  if (isEmptySet(a)) return EMPTY_SET
  // From here on the smaller set comes first.
  if (a.form === 'run' && b.form === 'run') return run(Math.max(a.from, b.from), Math.min(a.to, b.to))
  if (b.form === 'run') return clipped(a, b.from, b.to, size)
  if (a.form === 'run') return clipped(b, a.from, a.to, size)
  if (a.form === 'list') return b.form === 'list' ? intersected(a.list, b.list) : kept(a.list, b)
  if (b.form === 'list') return kept(b.list, a)
  const bits = new Uint32Array(a.bits.length)
  for (let i = 0; i < bits.length; i++) bits[i] = a.bits[i]! & b.bits[i]!
  return countedBits(bits)
}

export const or = (sets: readonly OrdinalSet[], size: number): OrdinalSet => {
  const parts = sets.filter(set => !isEmptySet(set))
  if (parts.length <= 1) return parts[0] ?? EMPTY_SET
  const total = parts.reduce((sum, set) => sum + count(set), 0)
  if (parts.every(set => set.form === 'list') && total * DENSE <= size)
    return listed(unitedOf(parts.map(set => set.list)))
  const bits = new Uint32Array((size + 31) >>> 5)
  for (const set of parts) addToBits(bits, set)
  return countedBits(bits)
}

export const complement = (set: OrdinalSet, size: number): OrdinalSet => {
  if (isEmptySet(set)) return run(0, size)
  if (set.form === 'run' && set.from === 0) return run(set.to, size)
  if (set.form === 'run' && set.to === size) return run(0, set.from)
  const bits = new Uint32Array((size + 31) >>> 5)
  addToBits(bits, set)
  for (let i = 0; i < bits.length; i++) bits[i] = ~bits[i]!
  if (size & 31) bits[bits.length - 1]! &= (1 << (size & 31)) - 1
  return { form: 'bits', bits, count: size - count(set) }
}

/** Ordinals of a set that are not in another one. */
export const minus = (set: OrdinalSet, other: OrdinalSet, size: number): OrdinalSet => {
  if (isEmptySet(other)) return set
  if (set.form !== 'list') return and(set, complement(other, size), size)
  if (other.form !== 'list') return listed(set.list.filter(ordinal => !hasOrdinal(other, ordinal)))
  const left = new Uint32Array(set.list.length)
  let length = 0
  let next = 0
  for (const ordinal of set.list) {
    while (other.list[next]! < ordinal) next++
    if (other.list[next] !== ordinal) left[length++] = ordinal
  }
  return listed(left.subarray(0, length))
}

/** Ordinals in at least `least` of the sets. */
export const atLeast = (sets: readonly OrdinalSet[], least: number, size: number): OrdinalSet => {
  if (least <= 0) return run(0, size)
  if (least === 1) return or(sets, size)
  if (least > sets.length) return EMPTY_SET
  const times = new Uint16Array(size)
  for (const set of sets) eachOrdinal(set, ordinal => void times[ordinal]!++)
  const found: number[] = []
  for (let ordinal = 0; ordinal < size; ordinal++) if (times[ordinal]! >= least) found.push(ordinal)
  return collected(Uint32Array.from(found), size)
}

/** All ordinals, ascending; not to be written to. */
export const toArray = (set: OrdinalSet): Uint32Array => {
  if (set.form === 'list') return set.list
  const found = new Uint32Array(count(set))
  let size = 0
  if (set.form === 'run') for (let ordinal = set.from; ordinal < set.to; ordinal++) found[size++] = ordinal
  else
    for (let word = 0; word < set.bits.length; word++) {
      let bits = set.bits[word]!
      const first = word * 32
      if (bits === FULL_WORD) for (let bit = 0; bit < 32; bit++) found[size++] = first + bit
      else for (; bits !== 0; bits &= bits - 1) found[size++] = first + 31 - Math.clz32(bits & -bits)
    }
  return found
}

/** All 32 bits, as an array of unsigned words has them. */
export const FULL_WORD = 2 ** 32 - 1

/** Calls for each ordinal, ascending. */
export const eachOrdinal = (set: OrdinalSet, visit: (ordinal: number) => void) => {
  if (set.form === 'run') for (let ordinal = set.from; ordinal < set.to; ordinal++) visit(ordinal)
  else if (set.form === 'list') for (const ordinal of set.list) visit(ordinal)
  else
    for (let word = 0; word < set.bits.length; word++)
      for (let bits = set.bits[word]!; bits !== 0; bits &= bits - 1) visit(word * 32 + 31 - Math.clz32(bits & -bits))
}

/** The first `limit` ordinals ascending, or the last ones descending. */
export const takeOrdinals = (set: OrdinalSet, limit: number, descending: boolean): number[] => {
  const found: number[] = []
  if (set.form === 'run') {
    const length = Math.min(limit, set.to - set.from)
    for (let i = 0; i < length; i++) found.push(descending ? set.to - 1 - i : set.from + i)
  } else if (set.form === 'list') {
    const length = Math.min(limit, set.list.length)
    for (let i = 0; i < length; i++) found.push(set.list[descending ? set.list.length - 1 - i : i]!)
  } else if (descending)
    for (let word = set.bits.length - 1; word >= 0 && found.length < limit; word--) {
      let bits = set.bits[word]!
      while (bits !== 0 && found.length < limit) {
        const bit = 31 - Math.clz32(bits)
        found.push(word * 32 + bit)
        bits &= ~(1 << bit)
      }
    }
  else
    for (let word = 0; word < set.bits.length && found.length < limit; word++)
      for (let bits = set.bits[word]!; bits !== 0 && found.length < limit; bits &= bits - 1)
        found.push(word * 32 + 31 - Math.clz32(bits & -bits))
  return found
}

/** A list becomes a bitmap if it has more than one in this number of ordinals. */
const DENSE = 32
export const isDenseList = (list: Uint32Array, size: number): boolean => list.length * DENSE > size

const clipped = (set: OrdinalSet, from: number, to: number, size: number): OrdinalSet => {
  if (from === 0 && to === size) return set
  if (set.form === 'list') return listed(set.list.subarray(lowerBound(set.list, from), lowerBound(set.list, to)))
  if (set.form === 'run') return run(Math.max(set.from, from), Math.min(set.to, to))
  const bits = new Uint32Array(set.bits.length)
  const [first, last] = [from >>> 5, (to - 1) >>> 5]
  bits.set(set.bits.subarray(first, last + 1), first)
  bits[first]! &= -1 << (from & 31)
  if (to & 31) bits[last]! &= (1 << (to & 31)) - 1
  return countedBits(bits)
}

const intersected = (a: Uint32Array, b: Uint32Array): OrdinalSet => {
  const found = new Uint32Array(a.length)
  let length = 0
  if (b.length > a.length * 16) {
    for (const ordinal of a) if (b[lowerBound(b, ordinal)] === ordinal) found[length++] = ordinal
  } else
    for (let i = 0, j = 0; i < a.length && j < b.length; ) {
      const [left, right] = [a[i]!, b[j]!]
      if (left === right) found[length++] = left
      if (left <= right) i++
      if (right <= left) j++
    }
  return listed(found.subarray(0, length))
}

const kept = (list: Uint32Array, { bits }: Extract<OrdinalSet, { form: 'bits' }>): OrdinalSet => {
  const found = new Uint32Array(list.length)
  let length = 0
  for (let i = 0; i < list.length; i++) {
    const ordinal = list[i]!
    // Without a branch, which half of all bits would mislead.
    found[length] = ordinal
    length += (bits[ordinal >>> 5]! >>> (ordinal & 31)) & 1
  }
  return listed(found.subarray(0, length))
}

/** Merges lists pairwise, to read each ordinal log n times. */
const unitedOf = (lists: readonly Uint32Array[]): Uint32Array => {
  if (lists.length === 1) return lists[0]!
  const half = lists.length >>> 1
  return united(unitedOf(lists.slice(0, half)), unitedOf(lists.slice(half)))
}

const united = (a: Uint32Array, b: Uint32Array): Uint32Array => {
  const found = new Uint32Array(a.length + b.length)
  let length = 0
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const [left, right] = [a[i]!, b[j]!]
    found[length++] = Math.min(left, right)
    if (left <= right) i++
    if (right <= left) j++
  }
  while (i < a.length) found[length++] = a[i++]!
  while (j < b.length) found[length++] = b[j++]!
  return found.subarray(0, length)
}

const addToBits = (bits: Uint32Array, set: OrdinalSet) => {
  if (set.form === 'list') {
    const { list } = set
    for (let i = 0; i < list.length; i++) bits[list[i]! >>> 5]! |= 1 << (list[i]! & 31)
  } else if (set.form === 'bits') for (let i = 0; i < bits.length; i++) bits[i]! |= set.bits[i]!
  else {
    const [first, last] = [set.from >>> 5, (set.to - 1) >>> 5]
    const head = -1 << (set.from & 31)
    const tail = set.to & 31 ? (1 << (set.to & 31)) - 1 : -1
    if (first === last) bits[first]! |= head & tail
    else {
      bits[first]! |= head
      bits.fill(-1, first + 1, last)
      bits[last]! |= tail
    }
  }
}

/** The set of these bits. */
export const countedBits = (bits: Uint32Array): OrdinalSet => {
  let count = 0
  for (let i = 0; i < bits.length; i++) count += bitsIn(bits[i]!)
  return count ? { form: 'bits', bits, count } : EMPTY_SET
}

export const bitsIn = (word: number): number => {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
