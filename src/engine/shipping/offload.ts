import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import { RECORD_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { newestBlock } from '../blocks.ts'
import { appendChecksum } from '../documents/records/rows.ts'
import { SEGMENT_COLUMNS, type SegmentRow, segmentInserter } from '../index/segments.ts'
import { createPendingDeletions } from '../pending-deletions.ts'
import { positionOf } from '../schema.ts'
import { createChangedBlocks } from './partial-blocks.ts'

/**
 * Offloads the documents of shipped segments. The row continues under another id as `emptied`, and
 * the old id's index is removed in steps, as after merging. Blocks' hashes and headers, contracts
 * and tokens stay.
 */
export type Offloading = ReturnType<typeof createOffloading>

/** Newest blocks that retain their documents, as reorganisations mostly affect only those. */
export const MIN_LOCAL_BLOCKS = 256

/** `kept`: number of newest blocks that retain their documents. */
export const createOffloading = (db: Db, kept = MIN_LOCAL_BLOCKS) => {
  const newest = newestBlock(db)
  const changed = createChangedBlocks(db)
  const next = db.prepare<[number], SegmentRow>(
    `SELECT ${SEGMENT_COLUMNS} FROM segment INDEXED BY segment_journal WHERE emptied = 0 AND last <= ? AND scoped = 0
       AND EXISTS (SELECT 1 FROM shelf WHERE shelf.first <= segment.first AND shelf.last >= segment.last) ORDER BY first LIMIT 1`,
  )
  const header = db.prepare<[number], Buffer>('SELECT blocks FROM segment WHERE id = ?').pluck()
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const drop = db.prepare('INSERT INTO dropped (segment) VALUES (?)')
  const insertSegment = segmentInserter(db)
  const emptyBlock = db.prepare('UPDATE block SET hashes = ?, ends = ? WHERE number = ?')
  const deleteDocuments = RECORD_KINDS.map(kind => db.prepare(`DELETE FROM ${kind} WHERE pos >= ? AND pos < ?`))
  const [hashes, ends] = [sealedRow(() => {}), sealedRow(out => out.varint(0))]
  const runs = createPendingDeletions(db, 'emptying', number => {
    emptyBlock.run(hashes, ends, number)
    for (const table of deleteDocuments) table.run(positionOf(number, 0), positionOf(number + 1, 0))
  })
  return {
    /**
     * Marks the lowest segment to offload and returns its first block. Not those of scopes, which
     * are rewritten when scopes change. Call within a transaction.
     */
    mark(): number | undefined {
      // Remote documents of changed blocks are outdated.
      if (changed.next()) return undefined
      const segment = next.get(newest() - kept)
      if (!segment) return undefined
      const { id, first, last } = segment
      const bytes = header.get(id)!
      unlist.run(id)
      drop.run(id)
      insertSegment({ ...segment, emptied: 1 }, bytes)
      runs.add({ from: first, to: last })
      return first
    },
    /** Removes some marked documents; returns whether more are left. Call within a transaction. */
    sweep: runs.step,
    /** These blocks were removed, or are stored again. */
    forget: runs.forget,
  }
}

const sealedRow = (write: (out: ByteWriter) => void): Uint8Array => {
  const out = createByteWriter(8)
  write(out)
  appendChecksum(out, 0)
  return out.take()
}
