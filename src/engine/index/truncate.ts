import { byKind, COUNTED_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { encodeHeader, headOfHeader, indexFrom } from './segment.ts'
import { readHeader, SEGMENT_COLUMNS, type SegmentRow, segmentInserter, segmentNumbers } from './segments.ts'
import type { Structures } from './structure.ts'
import { termOf, UNDECODED } from './terms.ts'

/** Takes all blocks above `to` out of the index. */
export const truncate = (db: Db, to: number, { all, postings }: Structures) => {
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const nextNumber = segmentNumbers(db)
  const insertSegment = segmentInserter(db)
  const rows = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE last > ?`).all(to) as SegmentRow[]
  for (const row of rows) {
    if (row.first <= to) {
      const segment = nextNumber()
      const whole = readHeader(db, row.id, row.first)
      const blocks = indexFrom(whole, to + 1)
      const header = headOfHeader(whole, blocks)
      const kept = byKind(COUNTED_KINDS, kind => (kind === 'block' ? blocks : header.ends[kind].at(-1)!))
      if (!row.emptied) for (const structure of all) structure.truncate(row.id, segment, kept)
      const undecoded = row.emptied ? 0 : postings.count(segment, termOf(0, UNDECODED))
      const events = Math.min(row.events, kept.log - undecoded)
      unlist.run(row.id)
      insertSegment(
        { ...kept, first: row.first, last: header.last, events, scoped: row.scoped, emptied: row.emptied ?? 0 },
        encodeHeader(header),
        segment,
      )
    } else unlist.run(row.id)
    for (const structure of all) while (structure.remove(row.id));
  }
}
