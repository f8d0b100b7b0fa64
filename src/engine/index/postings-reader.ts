import type { Db } from '../../sqlite/database.ts'
import { createTermCursor, type TermCursor } from './term-blocks.ts'
import { filterKey, mayHold } from './term-filter.ts'
import { blockOf, createTermReading, isFiltered, ordinalsAt, type Place, type Root } from './term-rows.ts'
import { FACETS_PER_VALUE } from './terms.ts'

/** One term of a segment: how many documents have it, and where their ordinals are. */
export interface Posting {
  segment: number
  term: number
  mark: number
  n: number
  /** For `ordinals` alone. */
  at: Place
}

/** What a reader must know of a segment; `revised` grows where its terms change. */
interface Listed {
  id: number
  revised: number
}

/** Bytes that a reader keeps of roots and of blocks: those of some thousand full segments, and those looked at last. */
const ROOT_BYTES = 4 << 20
const BLOCK_BYTES = 3 << 20
/** Bytes of filters: those of the first segments that are asked for. Others are looked at without. */
const FILTER_BYTES = 14 << 20
/** Filters that one look-up loads: all of them would keep the first one waiting. */
const LOADED = 8

export const createPostingsReader = (db: Db) => {
  const reading = createTermReading(db)
  const roots = createByteCache<Root>(ROOT_BYTES, ({ rows }) => 200 + rows.length * 16)
  const blocks = createByteCache<Buffer>(BLOCK_BYTES, block => 200 + block.length)
  const filters = new Map<number, Uint32Array>()
  const cursor = createTermCursor()
  let filterBytes = 0
  let listed: readonly Listed[] = []
  let revised = new Map<number, number>()

  const forget = (segment: number) => {
    filterBytes -= filters.get(segment)?.byteLength ?? 0
    filters.delete(segment)
    const root = roots.get(segment)
    roots.delete(segment)
    if (root) for (const row of root.rows) blocks.delete(keyOf(segment, row))
  }

  const rootOf = (segment: number): Root | undefined => {
    const known = roots.get(segment)
    if (known) return known
    const root = reading.root(segment)
    if (root) roots.set(segment, root)
    return root
  }

  const openBlock = (segment: number, row: number) => {
    const key = keyOf(segment, row)
    let block = blocks.get(key)
    if (!block) {
      block = reading.row(segment, row)
      blocks.set(key, block)
    }
    cursor.open(block)
  }

  let loaded = 0
  const isFilteredOut = (segment: number, root: Root, key: number | undefined): boolean => {
    if (key === undefined || !isFiltered(root.rows.length)) return false
    let filter = filters.get(segment)
    if (!filter) {
      if (loaded >= LOADED || filterBytes >= FILTER_BYTES) return false
      loaded++
      filter = reading.filter(segment)
      if (!filter) return false
      filters.set(segment, filter)
      filterBytes += filter.byteLength
    }
    return !mayHold(filter, key)
  }

  /** Terms from `first` to `last`, of this mark alone where one is given. */
  const collect = (segment: number, first: number, last: number, mark: number | undefined, found: Posting[]) => {
    const root = rootOf(segment)
    if (!root || isFilteredOut(segment, root, keyOfRange(first, last))) return
    const isOne = first === last && mark !== undefined
    for (let i = Math.max(0, blockOf(root, first, isOne ? mark : 0)); i < root.rows.length; i++) {
      if (root.terms[i]! > last) return
      openBlock(segment, root.rows[i]!)
      if (!cursor.seek(first)) continue
      do {
        if (cursor.term > last || (isOne && cursor.mark > mark)) return
        if (mark === undefined || cursor.mark === mark) found.push(postingAt(segment, cursor))
      } while (cursor.next())
    }
  }

  const between = (first: number, last: number, mark?: number): Posting[] => {
    loaded = 0
    const found: Posting[] = []
    for (const { id } of listed) collect(id, first, last, mark, found)
    return found
  }

  return {
    /** Follows the segments that there are. */
    keep(segments: readonly Listed[]) {
      const now = new Map(segments.map(segment => [segment.id, segment.revised]))
      for (const [id, state] of revised) if (now.get(id) !== state) forget(id)
      revised = now
      listed = segments
    },
    /** In all segments. */
    between,
    /** In one segment. */
    within(segment: number, first: number, last: number): Posting[] {
      loaded = 0
      const found: Posting[] = []
      collect(segment, first, last, undefined, found)
      return found
    },
    ordinals: ({ segment, at }: Posting): Uint32Array => ordinalsAt(reading, segment, at),
  }
}

/** Of a range of more than one value there is no key. */
const keyOfRange = (first: number, last: number): number | undefined => {
  const value = Math.floor(first / FACETS_PER_VALUE)
  return first === last || (value > 0 && Math.floor(last / FACETS_PER_VALUE) === value) ? filterKey(first) : undefined
}

const postingAt = (segment: number, { term, mark, count, ordinal, row, start, end, bytes }: TermCursor): Posting => ({
  ...{ segment, term, mark, n: count },
  at: { count, ordinal, row, start, end, bytes },
})

/** Numbers of segments and rows are far below 2^31 and 2^20. */
const keyOf = (segment: number, row: number): number => segment * 2 ** 20 + row

/** Drops what was asked for least recently once it holds more than so many bytes. */
const createByteCache = <T>(limit: number, sizeOf: (value: T) => number) => {
  const entries = new Map<number, T>()
  let bytes = 0
  const remove = (key: number) => {
    const value = entries.get(key)
    if (value === undefined) return
    bytes -= sizeOf(value)
    entries.delete(key)
  }
  return {
    get(key: number): T | undefined {
      const value = entries.get(key)
      if (value !== undefined) {
        entries.delete(key)
        entries.set(key, value)
      }
      return value
    },
    set(key: number, value: T) {
      entries.set(key, value)
      bytes += sizeOf(value)
      for (const [oldest] of entries) {
        if (bytes <= limit) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}
