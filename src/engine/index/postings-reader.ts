import type { Db } from '../../sqlite/database.ts'
import { filterKey, filterMayHold } from './bloom-filter.ts'
import { createSegmentCache } from './segment-cache.ts'
import { createTermCursor, type TermCursor } from './term-blocks.ts'
import {
  blockIndexOf,
  createTermReading,
  isFiltered,
  type ListLocation,
  ordinalsAt,
  type Root,
  rowId,
} from './term-rows.ts'
import { FIELDS_PER_VALUE } from './terms.ts'

export interface Posting {
  segment: number
  term: number
  fingerprint: number
  n: number
  at: ListLocation
}

/** `revised` grows with each change of the segment's terms. */
interface ReadableSegment {
  id: number
  revised: number
}

interface SegmentView extends ReadableSegment {
  root: Root | undefined
  filter: Uint32Array | undefined
}

/**
 * Bytes that a reader caches: roots (3 MB at five million logs), the latest blocks, filters (13
 * MB), and long lists. Without room for a segment's filter, it is read without one.
 */
const CACHE_BYTES = { roots: 6 << 20, blocks: 3 << 20, filters: 14 << 20, ordinals: 4 << 20 }
/** Documents from which on the list of a term is cached: shorter ones are read as fast as found. */
const MIN_CACHED_LIST = 64
/** Postings cached until the state changes: scores request the terms that found the matches. */
const MAX_CACHED_POSTINGS = 2_000
/** Filters that one look-up loads: all of them would keep the first one waiting. */
const MAX_LOADED_FILTERS = 8

export type PostingsReader = ReturnType<typeof createPostingsReader>

export const createPostingsReader = (db: Db, kept = CACHE_BYTES) => {
  const reading = createTermReading(db)
  const blocks = createBlockCache<Buffer>(kept.blocks)
  const cursor = createTermCursor()
  const lists = createSegmentCache<Uint32Array, Posting>({
    load: ({ id }, _, { at }) => ordinalsAt(reading, id, at),
    bytesOf: ({ byteLength }) => byteLength,
    capacity: () => kept.ordinals,
  })
  let views: SegmentView[] = []
  let byId = new Map<number, SegmentView>()
  let rootBytes = 0
  let filterBytes = 0
  let loaded = 0
  const answers = new Map<string, readonly Posting[]>()
  let answered = 0

  const keepAnswer = (key: string, found: readonly Posting[]) => {
    answered += 1 + found.length
    if (answered > MAX_CACHED_POSTINGS) {
      answers.clear()
      answered = 1 + found.length
    }
    if (answered <= MAX_CACHED_POSTINGS) answers.set(key, found)
  }

  const forget = ({ id, root, filter }: SegmentView) => {
    filterBytes -= filter?.byteLength ?? 0
    if (!root) return
    rootBytes -= rootBytesOf(root)
    for (const row of root.rows) blocks.delete(rowId(id, row))
  }

  const loadRoot = (view: SegmentView): Root | undefined => {
    const root = reading.root(view.id)
    if (!root) return undefined
    rootBytes += rootBytesOf(root)
    if (rootBytes > kept.roots) {
      for (const other of views) other.root = undefined
      rootBytes = rootBytesOf(root)
    }
    view.root = root
    return root
  }

  const loadFilter = (view: SegmentView): Uint32Array | undefined => {
    if (loaded >= MAX_LOADED_FILTERS || filterBytes >= kept.filters) return undefined
    loaded++
    view.filter = reading.filter(view.id)
    filterBytes += view.filter?.byteLength ?? 0
    return view.filter
  }

  const lacks = (view: SegmentView, root: Root, key: number): boolean => {
    const filter = view.filter ?? (isFiltered(root.rows.length) ? loadFilter(view) : undefined)
    return filter !== undefined && !filterMayHold(filter, key)
  }

  const openBlock = (segment: number, row: number) => {
    const key = rowId(segment, row)
    const block = blocks.get(key) ?? blocks.set(key, reading.row(segment, row))
    cursor.open(block)
  }

  const collect = (view: SegmentView, { first, last, fingerprint, key }: TermRange, found: Posting[]) => {
    const root = view.root ?? loadRoot(view)
    if (!root || (key !== undefined && lacks(view, root, key))) return
    const isOne = first === last && fingerprint !== undefined
    for (let i = Math.max(0, blockIndexOf(root, first, isOne ? fingerprint : 0)); i < root.rows.length; i++) {
      if (root.terms[i]! > last) return
      openBlock(view.id, root.rows[i]!)
      if (!cursor.seek(first)) continue
      do {
        if (cursor.term > last || (isOne && cursor.fingerprint > fingerprint)) return
        if (fingerprint === undefined || cursor.fingerprint === fingerprint) found.push(postingAt(view.id, cursor))
      } while (cursor.next())
    }
  }

  /** Visits the terms of a range in one segment, without caching its blocks. */
  const each = (segment: number, first: number, last: number, visit: (cursor: TermCursor) => void) => {
    const view = byId.get(segment)
    const root = view && (view.root ?? loadRoot(view))
    if (!root) return
    for (let i = Math.max(0, blockIndexOf(root, first, 0)); i < root.rows.length; i++) {
      if (root.terms[i]! > last) return
      cursor.open(reading.row(segment, root.rows[i]!))
      if (!cursor.seek(first)) continue
      do {
        if (cursor.term > last) return
        visit(cursor)
      } while (cursor.next())
    }
  }

  const inSome = (ids: ReadonlySet<number>, range: TermRange): Posting[] => {
    loaded = 0
    const found: Posting[] = []
    for (const id of ids) {
      const view = byId.get(id)
      if (view) collect(view, range, found)
    }
    return found
  }

  return {
    keep(segments: readonly ReadableSegment[]) {
      answers.clear()
      answered = 0
      const before = byId
      views = segments.map(({ id, revised }) => {
        const view = before.get(id)
        return view?.revised === revised ? view : { id, revised, root: undefined, filter: undefined }
      })
      byId = new Map(views.map(view => [view.id, view]))
      for (const view of before.values()) if (byId.get(view.id) !== view) forget(view)
      lists.keep(views)
    },
    between(first: number, last: number, fingerprint?: number, among?: ReadonlySet<number>): readonly Posting[] {
      if (among) return inSome(among, { first, last, fingerprint, key: keyOfRange(first, last) })
      const key = `${first} ${last} ${fingerprint}`
      const known = answers.get(key)
      if (known) return known
      loaded = 0
      const found: Posting[] = []
      const range = { first, last, fingerprint, key: keyOfRange(first, last) }
      for (const view of views) collect(view, range, found)
      keepAnswer(key, found)
      return found
    },
    within(segment: number, first: number, last: number): Posting[] {
      loaded = 0
      const found: Posting[] = []
      const view = byId.get(segment)
      if (view) collect(view, { first, last, fingerprint: undefined, key: keyOfRange(first, last) }, found)
      return found
    },
    each,
    ordinalsOf: (segment: number, at: ListLocation): Uint32Array => ordinalsAt(reading, segment, at),
    /** Not to be written to. */
    ordinals(posting: Posting): Uint32Array {
      const { segment, term, fingerprint, n, at } = posting
      const view = byId.get(segment)
      // Terms of hashes may be shared by several fingerprints.
      if (n < MIN_CACHED_LIST || fingerprint !== 0 || !view) return ordinalsAt(reading, segment, at)
      return lists.get(view, term, posting)!
    },
  }
}

interface TermRange {
  first: number
  last: number
  fingerprint: number | undefined
  key: number | undefined
}

const rootBytesOf = ({ rows }: Root): number => 200 + rows.length * 16

/** A range of several values has no key. */
const keyOfRange = (first: number, last: number): number | undefined => {
  const value = Math.floor(first / FIELDS_PER_VALUE)
  return first === last || (value > 0 && Math.floor(last / FIELDS_PER_VALUE) === value) ? filterKey(first) : undefined
}

const postingAt = (
  segment: number,
  { term, fingerprint, count, ordinal, row, start, end, bytes }: TermCursor,
): Posting => ({
  ...{ segment, term, fingerprint, n: count },
  at: { count, ordinal, row, start, end, bytes },
})

/** Caches by size, in two generations: when one is full, the other is dropped. */
const createBlockCache = <T extends { length: number }>(limit: number) => {
  let young = new Map<number, T>()
  let old = new Map<number, T>()
  let bytes = 0
  const set = (key: number, value: T): T => {
    bytes += value.length
    if (bytes > limit / 2) {
      old = young
      young = new Map()
      bytes = value.length
    }
    young.set(key, value)
    return value
  }
  return {
    get(key: number): T | undefined {
      const value = young.get(key)
      if (value) return value
      const older = old.get(key)
      return older && set(key, older)
    },
    set,
    delete(key: number) {
      young.delete(key)
      old.delete(key)
    },
  }
}
