import { createByteWriter } from '../lib/bytes.ts'

/** The inverted index of one segment, sorted by term and mark: what the table `post` holds of it. */
export interface Postings {
  terms: Float64Array<ArrayBuffer>
  marks: Uint32Array<ArrayBuffer>
  counts: Uint32Array<ArrayBuffer>
  /** Of a posting with one document its ordinal; else where its list ends in `lists` (it starts where the last one ended). */
  places: Uint32Array<ArrayBuffer>
  lists: Uint8Array<ArrayBuffer>
}

export interface PostingsBuilder {
  /** Ordinals of one term come in ascending order; one that repeats the last counts once. */
  add(term: number, mark: number, ordinal: number): void
  finish(): Postings
}

/** Collects (term, ordinal) pairs; terms are numbered in an open-addressing table, and the pairs are sorted by counting. */
export const createPostingsBuilder = (expected = 1 << 12): PostingsBuilder => {
  let mask = 2 ** Math.ceil(Math.log2(expected * 2)) - 1
  let slots = new Int32Array(mask + 1).fill(-1)
  let terms = new Float64Array(expected)
  let marks = new Uint32Array(expected)
  let counts = new Uint32Array(expected)
  let latest = new Uint32Array(expected)
  let size = 0
  let pairTerms = new Uint32Array(expected * 2)
  let pairOrdinals = new Uint32Array(expected * 2)
  let pairs = 0

  const slotOf = (term: number, mark: number): number => {
    const high = Math.floor(term / 4294967296)
    let h = Math.imul((term >>> 0) ^ Math.imul(high, 0x9e3779b1) ^ mark, 0x85ebca6b)
    h ^= h >>> 15
    let slot = h & mask
    for (;;) {
      const id = slots[slot]!
      if (id < 0 || (terms[id] === term && marks[id] === mark)) return slot
      slot = (slot + 1) & mask
    }
  }

  const grow = () => {
    terms = enlarged(terms, new Float64Array(size * 2))
    marks = enlarged(marks, new Uint32Array(size * 2))
    counts = enlarged(counts, new Uint32Array(size * 2))
    latest = enlarged(latest, new Uint32Array(size * 2))
    mask = mask * 2 + 1
    slots = new Int32Array(mask + 1).fill(-1)
    for (let id = 0; id < size; id++) slots[slotOf(terms[id]!, marks[id]!)] = id
  }

  return {
    add(term, mark, ordinal) {
      let slot = slotOf(term, mark)
      let id = slots[slot]!
      if (id < 0) {
        if (size === terms.length) {
          grow()
          slot = slotOf(term, mark)
        }
        id = size++
        slots[slot] = id
        terms[id] = term
        marks[id] = mark
      } else if (latest[id] === ordinal) return
      counts[id]!++
      latest[id] = ordinal
      if (pairs === pairTerms.length) {
        pairTerms = enlarged(pairTerms, new Uint32Array(pairs * 2))
        pairOrdinals = enlarged(pairOrdinals, new Uint32Array(pairs * 2))
      }
      pairTerms[pairs] = id
      pairOrdinals[pairs++] = ordinal
    },
    finish() {
      const order = sortedOrder(terms, marks, size)
      const starts = new Uint32Array(size + 1)
      for (let id = 0; id < size; id++) starts[id + 1] = starts[id]! + counts[id]!
      const next = starts.slice()
      const sorted = new Uint32Array(pairs)
      for (let i = 0; i < pairs; i++) sorted[next[pairTerms[i]!]!++] = pairOrdinals[i]!
      const result = {
        terms: new Float64Array(size),
        marks: new Uint32Array(size),
        counts: new Uint32Array(size),
        places: new Uint32Array(size),
      }
      const lists = createByteWriter(pairs + 16)
      for (let at = 0; at < size; at++) {
        const id = order[at]!
        const start = starts[id]!
        const count = counts[id]!
        result.terms[at] = terms[id]!
        result.marks[at] = marks[id]!
        result.counts[at] = count
        if (count > 1) writeOrdinals(lists, sorted, start, start + count)
        result.places[at] = count === 1 ? sorted[start]! : lists.length
      }
      return { ...result, lists: lists.take() }
    },
  }
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
  const result = new Uint32Array(count)
  if (typeof ords === 'number') {
    result[0] = ords
    return result
  }
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
  return result
}

const enlarged = <T extends Float64Array | Uint32Array>(from: T, to: T): T => {
  to.set(from)
  return to
}

/** Ids by term, then mark. Terms are sorted as plain numbers, which is fast; the rare equal ones by their marks afterwards. */
const sortedOrder = (terms: Float64Array, marks: Uint32Array, size: number): Uint32Array => {
  const order = new Uint32Array(size)
  for (let id = 0; id < size; id++) order[id] = id
  return order.sort((a, b) => terms[a]! - terms[b]! || marks[a]! - marks[b]!)
}
