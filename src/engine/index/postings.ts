import { doubled, joinDoubleArrays, joinMoved, joinWordArrays } from '../../lib/arrays.ts'
import { FIELDS_PER_VALUE, HASHED } from './terms.ts'

/** Terms in the order of documents. Only hashed values have a fingerprint other than 0. */
export interface TermPairs {
  terms: Float64Array<ArrayBuffer>
  fingerprints: Uint32Array<ArrayBuffer>
  ordinals: Uint32Array<ArrayBuffer>
}

export const createPairsBuilder = (capacity = 1 << 12) => {
  let terms = new Float64Array(capacity)
  let fingerprints = new Uint32Array(capacity)
  let ordinals = new Uint32Array(capacity)
  let count = 0
  return {
    add(term: number, fingerprint: number, ordinal: number) {
      if (count === terms.length) {
        terms = doubled(terms)
        fingerprints = doubled(fingerprints)
        ordinals = doubled(ordinals)
      }
      terms[count] = term
      fingerprints[count] = fingerprint
      ordinals[count++] = ordinal
    },
    finish: (): TermPairs => ({
      terms: terms.subarray(0, count),
      fingerprints: fingerprints.subarray(0, count),
      ordinals: ordinals.subarray(0, count),
    }),
  }
}

/** The ordinals of a term must ascend from part to part. */
export const joinPairs = (parts: readonly { part: TermPairs; by: number }[]): TermPairs => ({
  terms: joinDoubleArrays(parts.map(({ part }) => part.terms)),
  fingerprints: joinWordArrays(parts.map(({ part }) => part.fingerprints)),
  ordinals: joinMoved(parts.map(({ part, by }) => ({ values: part.ordinals, by }))),
})

/** In the order of term, fingerprint and ordinal; `order` has the indices of the pairs. */
export interface SortedPairs {
  values: Uint32Array
  fields: Uint32Array
  order: Uint32Array
}

const DIGIT = 11
const DIGIT_VALUES = 2 ** DIGIT
/** Least significant digits first: two of the field, three of the value. */
const PASSES = 5

/** Radix sort. Moves all columns, as lookups by index would miss the processor's cache. */
export const sortPairs = ({ terms, fingerprints }: TermPairs): SortedPairs => {
  const count = terms.length
  let from = newSortedPairs(count)
  const places = Array.from({ length: PASSES }, () => new Uint32Array(DIGIT_VALUES))
  const [low, high, first, second, third] = places as [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array]
  for (let i = 0; i < count; i++) {
    const value = Math.floor(terms[i]! / FIELDS_PER_VALUE)
    const field = terms[i]! - value * FIELDS_PER_VALUE
    from.values[i] = value
    from.fields[i] = field
    from.order[i] = i
    low[field & (DIGIT_VALUES - 1)]!++
    high[field >>> DIGIT]!++
    first[value & (DIGIT_VALUES - 1)]!++
    second[(value >>> DIGIT) & (DIGIT_VALUES - 1)]!++
    third[value >>> (2 * DIGIT)]!++
  }
  let to = newSortedPairs(count)
  for (let pass = 0; pass < PASSES; pass++) {
    const keys = pass < 2 ? from.fields : from.values
    const shift = (pass < 2 ? pass : pass - 2) * DIGIT
    if (count === 0 || places[pass]![(keys[0]! >>> shift) & (DIGIT_VALUES - 1)] === count) continue
    sortByDigit(keys, shift, places[pass]!, from, to)
    const sorted = to
    to = from
    from = sorted
  }
  sortFingerprints(fingerprints, from)
  return from
}

const newSortedPairs = (count: number): SortedPairs => {
  const all = new Uint32Array(count * 3)
  return {
    values: all.subarray(0, count),
    fields: all.subarray(count, count * 2),
    order: all.subarray(count * 2),
  }
}

const sortByDigit = (keys: Uint32Array, shift: number, places: Uint32Array, from: SortedPairs, to: SortedPairs) => {
  let sum = 0
  for (let digit = 0; digit < DIGIT_VALUES; digit++) {
    const size = places[digit]!
    places[digit] = sum
    sum += size
  }
  const { values, fields, order } = from
  const { values: toValues, fields: toFacets, order: toOrder } = to
  for (let i = 0; i < keys.length; i++) {
    const place = places[(keys[i]! >>> shift) & (DIGIT_VALUES - 1)]!++
    toValues[place] = values[i]!
    toFacets[place] = fields[i]!
    toOrder[place] = order[i]!
  }
}

/** Terms with several fingerprints are rare: hashes that agree in their first 30 bits. */
const sortFingerprints = (fingerprints: Uint32Array, { values, fields, order }: SortedPairs) => {
  for (let i = 1; i < order.length; i++) {
    if (values[i]! < HASHED || values[i - 1] !== values[i]) continue
    const index = order[i]!
    let to = i
    for (; to > 0 && values[to - 1] === values[i] && fields[to - 1] === fields[i]; to--) {
      if (fingerprints[order[to - 1]!]! <= fingerprints[index]!) break
      order[to] = order[to - 1]!
    }
    order[to] = index
  }
}
