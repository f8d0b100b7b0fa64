import { byKind, COUNTED_KINDS, type CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { decodeSegmentHeader, type SegmentHeader } from './segment.ts'

/** Neighbouring segments of one level that are merged into one of the next. */
export const FAN = 4
/** Larger segments are not merged: the range of one index probe stays cheap to rewrite. */
export const FULL_SEGMENT = 80_000
/** Blocks from which on a segment is not merged any further, however empty they are. */
const MAX_BLOCKS = 4096
export const FULL_LEVEL = 9

/** Level of a segment of this size: four segments of a level, similar in size, are merged. */
export const levelOf = (counts: SegmentCounts): number => {
  const blocks = documentCount(counts, 'block')
  // Offloaded documents need no rewriting, only the header does.
  return (!counts.emptied && documentsIn(counts) >= FULL_SEGMENT) || blocks >= MAX_BLOCKS
    ? FULL_LEVEL
    : Math.floor(Math.log(blocks) / Math.log(FAN) + 1e-9)
}

/** Size of a segment, from its row: number of documents by kind. */
export interface SegmentCounts extends Record<CountedKind, number> {
  first: number
  last: number
  /** Logs with a known name. */
  events: number
  /** 1: of each block what scopes want, else 0: all of it. */
  scoped: number
  /** 1: its documents were offloaded; else 0 or nothing. */
  emptied?: number
}

export interface SegmentRow extends SegmentCounts {
  id: number
  level: number
}

export const documentCount = (counts: Record<CountedKind, number>, kind: CountedKind): number => counts[kind]

/** Documents of all kinds, blocks among them. */
export const documentsIn = (counts: SegmentCounts): number =>
  COUNTED_KINDS.reduce((sum, kind) => sum + documentCount(counts, kind), 0)

/** Documents of the kind that has most. */
export const mostIn = (counts: SegmentCounts): number =>
  Math.max(...COUNTED_KINDS.map(kind => documentCount(counts, kind)))

/** Sums the counts of neighbouring segments, in chain order. */
export const sumOfSegments = (run: readonly SegmentCounts[]): SegmentCounts => ({
  first: run[0]!.first,
  last: run.at(-1)!.last,
  events: run.reduce((sum, { events }) => sum + events, 0),
  scoped: run[0]!.scoped,
  emptied: run[0]!.emptied ?? 0,
  ...byKind(COUNTED_KINDS, kind => run.reduce((sum, counts) => sum + counts[kind], 0)),
})

/** Columns of the table `segment` that `SegmentCounts` names. */
const COUNT_COLUMNS = ['first', 'last', 'events', 'scoped', 'emptied', ...COUNTED_KINDS]
  .map(name => `"${name}"`)
  .join(', ')
export const SEGMENT_COUNTS = `id, ${COUNT_COLUMNS}`
export const SEGMENT_COLUMNS = `${SEGMENT_COUNTS}, level`

export const readHeader = (db: Db, id: number, first: number): SegmentHeader =>
  decodeSegmentHeader(first, db.prepare('SELECT blocks FROM segment WHERE id = ?').pluck().get(id) as Buffer)

/** Gives numbers for segments that are listed later; no number is used again. */
export const segmentNumbers = (db: Db): (() => number) => {
  const reserve = db.prepare("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'segment' RETURNING seq").pluck()
  return () => reserve.get() as number
}

/** Returns the new segment's number, which is one that was never used unless it is given. */
export const segmentInserter = (db: Db) => {
  const places = ['?', '?', '?', '?', '?', ...COUNTED_KINDS.map(() => '?')].join(', ')
  const insert = db.prepare(`INSERT INTO segment (id, ${COUNT_COLUMNS}, level, blocks) VALUES (?, ${places}, ?, ?)`)
  return (counts: SegmentCounts, header: Uint8Array, id: number | null = null): number => {
    const { first, last, events, scoped, emptied = 0 } = counts
    const byKind = COUNTED_KINDS.map(kind => counts[kind])
    return Number(
      insert.run(id, first, last, events, scoped, emptied, ...byKind, levelOf(counts), header).lastInsertRowid,
    )
  }
}
