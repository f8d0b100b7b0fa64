import { createListBuilder, type ListBuilder } from './ordinals.ts'
import { createTermCursor, rowContent, type TermCursor, type TermWriter } from './term-blocks.ts'
import { ordinalsAt, type Root, type TermReading } from './term-rows.ts'

/** Goes through all terms of a segment, block by block. */
export interface SegmentCursor extends Pick<TermCursor, 'term' | 'fingerprint'> {
  /** False at the end. */
  next(): boolean
  /** Adds the ordinals of the current term to a list. */
  addTo(list: ListBuilder, offset: number): void
  /** Adds only ordinals below a limit. */
  addBelow(list: ListBuilder, limit: number): void
}

export const createSegmentCursor = (reading: TermReading, segment: number, root: Root): SegmentCursor => {
  const at = createTermCursor()
  let block = 0
  const isOpen = () => {
    if (block === root.rows.length) return false
    at.open(reading.row(segment, root.rows[block++]!))
    return true
  }
  const cursor: SegmentCursor = {
    ...{ term: -1, fingerprint: 0 },
    next() {
      if (block === 0 && !isOpen()) return false
      while (!at.next()) if (!isOpen()) return false
      cursor.term = at.term
      cursor.fingerprint = at.fingerprint
      return true
    },
    addTo(list, offset) {
      if (at.count === 1) list.add(at.ordinal + offset)
      else if (at.row < 0) list.append(at.bytes, at.start, at.end, at.count, offset)
      else {
        const bytes = rowContent(reading.row(segment, at.row))
        list.append(bytes, 0, bytes.length, at.count, offset)
      }
    },
    addBelow(list, limit) {
      for (const ordinal of ordinalsAt(reading, segment, at)) {
        if (ordinal >= limit) break
        list.add(ordinal)
      }
    },
  }
  return cursor
}

/** Offset added to the ordinals of a term, for each part. */
export type OffsetsOf = (term: number) => readonly number[]

/** Terms that are merged before the next step. */
const TERMS = 8_000

/** Puts the terms of neighbouring segments together, in the order of the chain. */
export function* mergeTerms(cursors: readonly SegmentCursor[], offsetsOf: OffsetsOf, out: TermWriter): Generator<void> {
  const list = createListBuilder()
  /** Cursors before their end, with their index in the offsets. */
  const live: { cursor: SegmentCursor; part: number }[] = []
  for (const [part, cursor] of cursors.entries()) if (cursor.next()) live.push({ cursor, part })
  for (let terms = 1; live.length > 0; terms++) {
    let { term, fingerprint } = live[0]!.cursor
    for (let i = 1; i < live.length; i++) {
      const other = live[i]!.cursor
      if (other.term > term || (other.term === term && other.fingerprint >= fingerprint)) continue
      term = other.term
      fingerprint = other.fingerprint
    }
    const offsets = offsetsOf(term)
    list.clear()
    for (let i = 0; i < live.length; i++) {
      const { cursor, part } = live[i]!
      if (cursor.term !== term || cursor.fingerprint !== fingerprint) continue
      cursor.addTo(list, offsets[part]!)
      if (!cursor.next()) live.splice(i--, 1)
    }
    writeList(out, term, fingerprint, list)
    if (terms % TERMS === 0) yield
  }
}

export const writeList = (out: TermWriter, term: number, fingerprint: number, list: ListBuilder) => {
  if (list.count === 1) out.single(term, fingerprint, list.last)
  else if (list.count > 1) out.list(term, fingerprint, list.count, list.view())
}
