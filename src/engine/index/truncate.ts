import type { Db } from '../../sqlite/database.ts'
import { encodeHeader, type SegmentHeader } from './segment.ts'
import { readHeader, SEGMENT_COLUMNS, type SegmentRow, segmentInserter, segmentNumbers } from './segments.ts'
import type { Structures } from './structure.ts'
import { FACETS, termOf } from './terms.ts'

/** Takes all blocks above `to` out of the index. */
export const truncate = (db: Db, to: number, { all, postings }: Structures) => {
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const nextNumber = segmentNumbers(db)
  const insertSegment = segmentInserter(db)
  const rows = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE last > ?`).all(to) as SegmentRow[]
  for (const row of rows) {
    if (row.first <= to) {
      const segment = nextNumber()
      const header = firstBlocks(readHeader(db, row.id, row.first), to - row.first + 1)
      const kept = documentsOf(header)
      for (const structure of all) structure.truncate(row.id, segment, kept)
      const counts = {
        ...{ first: row.first, last: to },
        ...{ txs: kept.tx, logs: kept.log, traces: kept.trace, calls: kept.call },
        events: kept.log - postings.count(segment, termOf(0, FACETS.undecoded)),
      }
      unlist.run(row.id)
      insertSegment(counts, encodeHeader(header), header, segment)
    } else unlist.run(row.id)
    for (const structure of all) while (structure.remove(row.id));
  }
}

const firstBlocks = (header: SegmentHeader, blocks: number): SegmentHeader => ({
  first: header.first,
  last: header.first + blocks - 1,
  txEnds: header.txEnds.slice(0, blocks),
  logEnds: header.logEnds.slice(0, blocks),
  traceEnds: header.traceEnds.slice(0, blocks),
  callEnds: header.callEnds.slice(0, blocks),
  times: header.times.slice(0, blocks),
  excerpts: new Map([...header.excerpts].filter(([index]) => index < blocks)),
})

const documentsOf = ({ times, txEnds, logEnds, traceEnds, callEnds }: SegmentHeader) => ({
  block: times.length,
  tx: txEnds.at(-1)!,
  log: logEnds.at(-1)!,
  trace: traceEnds.at(-1)!,
  call: callEnds.at(-1)!,
})
