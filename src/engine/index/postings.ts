import { FACETS_PER_VALUE } from './terms.ts'

/**
 * Terms of documents as they come, on their way to the thread that writes: document by document, so that ordinals of a term ascend.
 * A mark other than 0 stands beside hashed values alone.
 */
export interface Pairs {
  terms: Float64Array<ArrayBuffer>
  marks: Uint32Array<ArrayBuffer>
  ordinals: Uint32Array<ArrayBuffer>
}

export const createPairsBuilder = (capacity = 1 << 12) => {
  let terms = new Float64Array(capacity)
  let marks = new Uint32Array(capacity)
  let ordinals = new Uint32Array(capacity)
  let count = 0
  return {
    add(term: number, mark: number, ordinal: number) {
      if (count === terms.length) {
        terms = enlarged(terms, new Float64Array(count * 2))
        marks = enlarged(marks, new Uint32Array(count * 2))
        ordinals = enlarged(ordinals, new Uint32Array(count * 2))
      }
      terms[count] = term
      marks[count] = mark
      ordinals[count++] = ordinal
    },
    finish: (): Pairs => ({
      terms: terms.slice(0, count),
      marks: marks.slice(0, count),
      ordinals: ordinals.slice(0, count),
    }),
  }
}

/** Takes the pairs' indices in the order of term, mark and ordinal. */
export const sortPairs = ({ terms, marks }: Pairs): Uint32Array => {
  const count = terms.length
  const values = new Uint32Array(count)
  const facets = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    const value = Math.floor(terms[i]! / FACETS_PER_VALUE)
    values[i] = value
    facets[i] = terms[i]! - value * FACETS_PER_VALUE
  }
  let order = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = i
  let other = new Uint32Array(count)
  // Least significant digits first; each pass keeps the order of the one before among equals.
  for (const [keys, shift] of [
    [facets, 0],
    [facets, DIGIT],
    [values, 0],
    [values, DIGIT],
    [values, 2 * DIGIT],
  ] as const) {
    if (!sortByDigit(keys, shift, order, other)) continue
    const sorted = other
    other = order
    order = sorted
  }
  sortMarks(terms, marks, order)
  return order
}

const DIGIT = 11
const DIGITS = 2 ** DIGIT

/** False where all digits are the same: nothing is moved then. */
const sortByDigit = (keys: Uint32Array, shift: number, from: Uint32Array, to: Uint32Array): boolean => {
  const places = new Uint32Array(DIGITS)
  for (let i = 0; i < keys.length; i++) places[(keys[i]! >>> shift) & (DIGITS - 1)]!++
  if (keys.length === 0 || places[(keys[0]! >>> shift) & (DIGITS - 1)] === keys.length) return false
  let sum = 0
  for (let digit = 0; digit < DIGITS; digit++) {
    const size = places[digit]!
    places[digit] = sum
    sum += size
  }
  for (let i = 0; i < from.length; i++) {
    const index = from[i]!
    to[places[(keys[index]! >>> shift) & (DIGITS - 1)]!++] = index
  }
  return true
}

/** Terms with several marks are rare: hashes that agree in their first 30 bits. */
const sortMarks = (terms: Float64Array, marks: Uint32Array, order: Uint32Array) => {
  for (let i = 1; i < order.length; i++) {
    const index = order[i]!
    let to = i
    while (to > 0 && marks[order[to - 1]!]! > marks[index]! && terms[order[to - 1]!] === terms[index]) {
      order[to] = order[to - 1]!
      to--
    }
    order[to] = index
  }
}

const enlarged = <T extends Float64Array | Uint32Array>(from: T, to: T): T => {
  to.set(from)
  return to
}
