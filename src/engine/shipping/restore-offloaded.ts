import type { Range } from '../../lib/ranges.ts'
import {
  byKind,
  COUNTED_KINDS,
  type CountedKind,
  KINDS,
  type Kind,
  RECORD_KINDS,
  ROW_KINDS,
} from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import type { SegmentBatch } from '../documents/batch.ts'
import { blockAt, encodeSegmentHeader, headOfHeader, indexFrom, type SegmentHeader } from '../index/segment.ts'
import { readHeader, SEGMENT_COLUMNS, type SegmentRow, segmentInserter } from '../index/segments.ts'
import { positionOf } from '../schema.ts'

/**
 * Restores offloaded documents: the newest blocks of the last offloaded segment become a segment,
 * as in indexing, and the rest stays offloaded. `meta.returned`: blocks restored but not yet verified.
 */

/** Kinds that are offloaded; those stored as rows stay. */
export const OFFLOADED_KINDS: readonly Kind[] = KINDS.filter(kind => !(ROW_KINDS as readonly Kind[]).includes(kind))

/** Blocks with remote documents, and the numbers of these. */
export interface OffloadedBlocks extends Range {
  counts: Partial<Record<CountedKind | 'event', number>>
}

export interface OffloadedRun extends OffloadedBlocks {
  /** The segment that ends with them. */
  segment: number
  /** All blocks of that segment. */
  all: OffloadedBlocks
}

export type OffloadedReader = ReturnType<typeof createOffloadedReader>

const DOCUMENT_SUM = COUNTED_KINDS.map(kind => `"${kind}"`).join(' + ')

export const createOffloadedReader = (db: Db) => {
  const newest = db.prepare<[], SegmentRow>(
    `SELECT ${SEGMENT_COLUMNS} FROM segment WHERE emptied = 1 ORDER BY first DESC LIMIT 1`,
  )
  const left = db.prepare<[], { blocks: number; emptied: number; documents: number }>(
    `SELECT coalesce(sum(block), 0) AS blocks, coalesce(sum(block * emptied), 0) AS emptied, coalesce(sum((${DOCUMENT_SUM}) * emptied), 0) AS documents FROM segment`,
  )
  const unverified = createUnverifiedRange(db)
  return {
    /** The newest blocks to restore, with about that many documents; undefined if none are left. */
    next(documents: number, blocks: number) {
      const row = newest.get()
      if (!row) return undefined
      const header = readHeader(db, row.id, row.first)
      const size = header.times.length
      const until = (index: number) => RECORD_KINDS.reduce((sum, kind) => sum + (header.ends[kind][index] ?? 0), 0)
      let from = size - 1
      while (from > 0 && size - from < blocks && until(size - 1) - until(from - 2) <= documents) from--
      return {
        from: blockAt(header, from),
        to: row.last,
        segment: row.id,
        counts: countsAfter(header, from),
        all: {
          from: row.first,
          to: row.last,
          counts: { ...byKind(COUNTED_KINDS, kind => row[kind]), event: row.events },
        },
      }
    },
    /** Blocks that were restored but not verified. */
    unverified: unverified.get,
    /** Numbers of blocks, and of blocks and documents still to restore. */
    left: () => left.get()!,
  }
}

const countsAfter = ({ ends, times }: SegmentHeader, from: number): Record<CountedKind, number> =>
  byKind(COUNTED_KINDS, kind => {
    const size = times.length
    return kind === 'block' ? size - from : ends[kind][size - 1]! - (from > 0 ? ends[kind][from - 1]! : 0)
  })

/** Call each method within a transaction. */
export const createRestoreWriter = (db: Db) => {
  const find = db.prepare<[number], SegmentRow>(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE id = ? AND emptied = 1`)
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const insertSegment = segmentInserter(db)
  const deleteBlocks = db.prepare('DELETE FROM block WHERE number BETWEEN ? AND ?')
  const deleteDocuments = RECORD_KINDS.map(kind => db.prepare(`DELETE FROM ${kind} WHERE pos >= ? AND pos < ?`))
  const note = createUnverifiedRange(db)
  return {
    /** Removes offloaded blocks from the end of a segment. False if the segment has changed. */
    take({ first, last, events }: Pick<SegmentBatch, 'first' | 'last' | 'events'>, segment: number) {
      const row = find.get(segment)
      if (!row || row.first > first || row.last !== last) return false
      const header = readHeader(db, segment, row.first)
      unlist.run(segment)
      if (row.first < first) {
        const rest = headOfHeader(header, indexFrom(header, first))
        const counts = byKind(COUNTED_KINDS, kind => (kind === 'block' ? rest.times.length : rest.ends[kind].at(-1)!))
        insertSegment(
          { ...row, ...counts, last: rest.last, events: Math.max(0, row.events - events) },
          encodeSegmentHeader(rest),
        )
      }
      // Some documents may still await offloading.
      deleteBlocks.run(first, last)
      for (const table of deleteDocuments) table.run(positionOf(first, 0), positionOf(last + 1, 0))
      note.set({ from: first, to: last })
      return true
    },
    /** The blocks restored last were verified. */
    verified: note.clear,
  }
}

/** Blocks that were restored but not verified. */
export const createUnverifiedRange = (db: Db) => {
  const get = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'returned'").pluck()
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('returned', ?)")
  const clear = db.prepare("DELETE FROM meta WHERE key = 'returned'")
  return {
    get(): Range | undefined {
      const text = get.get()
      return text === undefined ? undefined : (JSON.parse(text) as Range)
    },
    set: (range: Range) => void set.run(JSON.stringify(range)),
    clear: () => void clear.run(),
  }
}
