import { byKind, COUNTED_KINDS, type CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { addToFilter, buildFilter, capacityOf, createFilterKeys, filterMayHold } from './bloom-filter.ts'
import { callSignatures, kindOfField } from './field-index.ts'
import { createListBuilder } from './ordinals.ts'
import { sortPairs, type TermPairs } from './postings.ts'
import { mostIn, sumOfSegments } from './segments.ts'
import type { IndexStructure, Ordinals } from './structure.ts'
import { createTermCursor, createTermWriter, ordinalBytes, sealRow, type TermWriter } from './term-blocks.ts'
import { createSegmentCursor, mergeTerms, type OffsetsOf, writeList } from './term-merge.ts'
import { changesOf, patchTerms } from './term-patch.ts'
import { blockIndexOf, createTermReading, createTermWriting, isFiltered, type Root, rowNumbers } from './term-rows.ts'
import { fieldOfTerm, HASHED, termOf } from './terms.ts'

/** Rows that one step removes. */
const ROWS_PER_STEP = 200

export interface PostingStructure extends IndexStructure {
  /** Documents that have a term of fingerprint 0. */
  count(segment: number, term: number): number
}

/** The table `post`: terms in blocks, see term-blocks.ts. */
export const createPostingStructure = (db: Db): PostingStructure => {
  const reading = createTermReading(db)
  const writing = createTermWriting(db)
  const kindOf = createKinds(db)

  const rootOf = (segment: number): Root => reading.root(segment) ?? EMPTY_ROOT

  const writerOf = (segment: number, width: number) => {
    const numbers = rowNumbers()
    const out = createTermWriter(width, bytes => {
      const number = numbers.take()
      writing.add(segment, number, bytes)
      return number
    })
    return {
      out,
      finish() {
        const { keys, ...blocks } = out.finish()
        writing.setRoot(segment, { ...blocks, width, held: keys.length, next: numbers.next })
        if (isFiltered(blocks.rows.length)) writing.setFilter(segment, buildFilter(keys))
      },
    }
  }

  /** Writes a patched segment's filter, larger if needed; returns the number of its keys. */
  const patchFilter = (segment: number, root: Root, keys: readonly Uint32Array[]): number => {
    if (!isFiltered(root.rows.length)) return 0
    let filter = reading.filter(segment)
    let { held } = root
    for (const list of filter ? keys : [])
      for (const key of list) {
        if (filterMayHold(filter!, key)) continue
        addToFilter(filter!, key)
        held++
      }
    if (!filter || held > capacityOf(filter) * 1.25) {
      const all = createFilterKeys()
      const cursor = createSegmentCursor(reading, segment, root)
      while (cursor.next()) all.add(cursor.term)
      filter = buildFilter(all.finish())
      held = all.finish().length
    }
    writing.setFilter(segment, filter)
    return held
  }

  return {
    build({ pairs, ...batch }) {
      const rows: Buffer[] = []
      const width = ordinalBytes(mostIn(batch))
      const numbers = rowNumbers()
      const out = createTermWriter(width, bytes => {
        rows.push(sealRow(bytes))
        return numbers.take()
      })
      writePairs(pairs, out)
      const { keys, ...blocks } = out.finish()
      const filter = isFiltered(blocks.rows.length) ? buildFilter(keys) : undefined
      return segment => {
        writing.setRoot(segment, { ...blocks, width, held: keys.length, next: numbers.next })
        if (filter) writing.setFilter(segment, filter)
        const ids = rowNumbers()
        for (const row of rows) writing.addSealed(segment, ids.take(), row)
      }
    },

    patch({ segment, removed, put }) {
      const changes = changesOf(removed.pairs, put.pairs)
      return () => {
        if (changes.length === 0) return
        const { root, keys } = patchTerms(segment, rootOf(segment), changes, reading, writing)
        writing.setRoot(segment, { ...root, held: patchFilter(segment, root, keys) })
      }
    },

    *merge(segment, run) {
      const width = ordinalBytes(mostIn(sumOfSegments(run)))
      const { out, finish } = writerOf(segment, width)
      const cursors = run.map(({ id }) => createSegmentCursor(reading, id, rootOf(id)))
      const offsets = byKind(COUNTED_KINDS, kind => run.map(({ offset }) => offset[kind]))
      const offsetsOf: OffsetsOf = term => offsets[kindOf(term)]
      yield* mergeTerms(cursors, offsetsOf, out)
      finish()
      yield
    },

    truncate(from, to, kept: Ordinals) {
      const root = rootOf(from)
      const { out, finish } = writerOf(to, root.width)
      const cursor = createSegmentCursor(reading, from, root)
      const list = createListBuilder()
      while (cursor.next()) {
        list.clear()
        cursor.addBelow(list, kept[kindOf(cursor.term)])
        writeList(out, cursor.term, cursor.fingerprint, list)
      }
      finish()
    },

    remove: segment => writing.dropSome(segment, ROWS_PER_STEP),

    count(segment, term) {
      const root = rootOf(segment)
      const block = blockIndexOf(root, term, 0)
      if (block < 0) return 0
      const cursor = createTermCursor()
      cursor.open(reading.row(segment, root.rows[block]!))
      return cursor.seek(term) && cursor.term === term && cursor.fingerprint === 0 ? cursor.count : 0
    },
  }
}

const EMPTY_ROOT: Root = {
  ...{ terms: new Float64Array(0), fingerprints: new Uint32Array(0), rows: new Uint32Array(0) },
  ...{ width: 4, held: 0, next: rowNumbers().next },
}

/** The kind whose ordinals a term has. Neighbouring terms are often of few fields. */
const createKinds = (db: Db): ((term: number) => CountedKind) => {
  const calls = callSignatures(db)
  const known = new Map<number, CountedKind>()
  return term => {
    const field = fieldOfTerm(term)
    let kind = known.get(field)
    if (kind === undefined) {
      kind = kindOfField(field, calls)
      known.set(field, kind)
    }
    return kind
  }
}

export const writePairs = (pairs: TermPairs, out: TermWriter) => {
  const { fingerprints, ordinals } = pairs
  const { values, fields, order } = sortPairs(pairs)
  const list = createListBuilder()
  for (let i = 0; i < order.length; ) {
    const value = values[i]!
    const field = fields[i]!
    const fingerprint = value < HASHED ? 0 : fingerprints[order[i]!]!
    let last = ordinals[order[i++]!]!
    const first = last
    list.clear()
    for (; i < order.length && values[i] === value && fields[i] === field; i++) {
      if (value >= HASHED && fingerprints[order[i]!] !== fingerprint) break
      const ordinal = ordinals[order[i]!]!
      // A document that has the term twice counts once.
      if (ordinal === last) continue
      if (list.count === 0) list.add(first)
      list.add(ordinal)
      last = ordinal
    }
    const term = termOf(value, field)
    if (list.count === 0) out.single(term, fingerprint, first)
    else out.list(term, fingerprint, list.count, list.view())
  }
}
