import { createByteWriter } from '../../lib/bytes.ts'
import { impossible } from '../../sqlite/damage.ts'

/** The inverted index of one segment, sorted by term and mark: what the table `post` holds of it. */
export interface Postings {
  terms: Float64Array<ArrayBuffer>
  marks: Uint32Array<ArrayBuffer>
  counts: Uint32Array<ArrayBuffer>
  /** Of a posting with one document its ordinal; else where its list ends in `lists` (it starts where the last one ended). */
  places: Uint32Array<ArrayBuffer>
  lists: Uint8Array<ArrayBuffer>
}

/** Terms of documents as they come, on their way to the thread that writes: document by document, so that ordinals of a term ascend. */
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

/** Groups pairs by term: terms are numbered in an open-addressing table, and the pairs are sorted by counting. */
export const groupPairs = (pairs: Pairs): Postings => {
  const total = pairs.terms.length
  const mask = 2 ** Math.ceil(Math.log2(total + 1) + 1) - 1
  const slots = new Int32Array(mask + 1).fill(-1)
  const first = new Uint32Array(total)
  const counts = new Uint32Array(total)
  const latest = new Uint32Array(total)
  const groups = new Int32Array(total)
  let size = 0
  for (let i = 0; i < total; i++) {
    const term = pairs.terms[i]!
    const mark = pairs.marks[i]!
    let slot = hashOf(term, mark) & mask
    let group = slots[slot]!
    while (group >= 0 && (pairs.terms[first[group]!] !== term || pairs.marks[first[group]!] !== mark)) {
      slot = (slot + 1) & mask
      group = slots[slot]!
    }
    if (group < 0) {
      group = size++
      slots[slot] = group
      first[group] = i
    } else if (latest[group] === pairs.ordinals[i]) {
      // A document that has the term twice counts once.
      groups[i] = -1
      continue
    }
    groups[i] = group
    counts[group]!++
    latest[group] = pairs.ordinals[i]!
  }

  const starts = new Uint32Array(size + 1)
  for (let group = 0; group < size; group++) starts[group + 1] = starts[group]! + counts[group]!
  const next = starts.slice()
  const sorted = new Uint32Array(starts[size]!)
  for (let i = 0; i < total; i++) if (groups[i]! >= 0) sorted[next[groups[i]!]!++] = pairs.ordinals[i]!

  const order = sortedOrder(pairs, first, size)
  const result = {
    terms: new Float64Array(size),
    marks: new Uint32Array(size),
    counts: new Uint32Array(size),
    places: new Uint32Array(size),
  }
  const lists = createByteWriter(total + 16)
  for (let at = 0; at < size; at++) {
    const group = order[at]!
    const start = starts[group]!
    const count = counts[group]!
    result.terms[at] = pairs.terms[first[group]!]!
    result.marks[at] = pairs.marks[first[group]!]!
    result.counts[at] = count
    if (count > 1) writeOrdinals(lists, sorted, start, start + count)
    result.places[at] = count === 1 ? sorted[start]! : lists.length
  }
  return { ...result, lists: lists.take() }
}

const hashOf = (term: number, mark: number): number => {
  const high = Math.floor(term / 4294967296)
  const mixed = Math.imul((term >>> 0) ^ Math.imul(high, 0x9e3779b1) ^ mark, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/** Ascending ordinals as varints of their differences. */
export const writeOrdinals = (
  out: ReturnType<typeof createByteWriter>,
  ordinals: ArrayLike<number>,
  start = 0,
  end = ordinals.length,
) => {
  let last = 0
  for (let i = start; i < end; i++) {
    out.varint(ordinals[i]! - last)
    last = ordinals[i]!
  }
}

/** The ordinals of a posting as the table holds it: one number, or a list of `count`. */
export const readOrdinals = (ords: number | Uint8Array, count: number): Uint32Array => {
  if (typeof ords === 'number') return Uint32Array.of(ords)
  // Each takes a byte at least.
  if (ords.length < count) throw impossible('a list of the index')
  const result = new Uint32Array(count)
  let last = 0
  let at = 0
  for (let i = 0; i < count; i++) {
    let byte = ords[at++]!
    let gap = byte & 0x7f
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = ords[at++]!
      gap |= (byte & 0x7f) << shift
    }
    last += gap
    result[i] = last
  }
  if (at > ords.length) throw impossible('a list of the index')
  return result
}

const enlarged = <T extends Float64Array | Uint32Array>(from: T, to: T): T => {
  to.set(from)
  return to
}

/**
 * Groups by term, then mark. Comparing functions are slow, plain numbers are sorted natively: so the terms alone are sorted, and
 * each is then looked up. Terms with several marks are rare and put in order afterwards.
 */
const sortedOrder = (pairs: Pairs, first: Uint32Array, size: number): Uint32Array => {
  const terms = new Float64Array(size)
  for (let group = 0; group < size; group++) terms[group] = pairs.terms[first[group]!]!
  const ascending = terms.slice().sort()
  const mask = 2 ** Math.ceil(Math.log2(size + 1) + 1) - 1
  const slots = new Int32Array(mask + 1).fill(-1)
  const slotOf = (term: number): number => {
    let slot = hashOf(term, 0) & mask
    while (slots[slot]! >= 0 && ascending[slots[slot]!] !== term) slot = (slot + 1) & mask
    return slot
  }
  for (let at = size - 1; at >= 0; at--) slots[slotOf(ascending[at]!)] = at
  const order = new Uint32Array(size)
  const taken = new Uint8Array(size)
  for (let group = 0; group < size; group++) {
    let at = slots[slotOf(terms[group]!)]!
    const mark = pairs.marks[first[group]!]!
    // Among equal terms, insertion by mark.
    while (taken[at]) at++
    while (at > 0 && ascending[at - 1] === terms[group] && pairs.marks[first[order[at - 1]!]!]! > mark) {
      order[at] = order[at - 1]!
      taken[at] = 1
      at--
    }
    order[at] = group
    taken[at] = 1
  }
  return order
}
