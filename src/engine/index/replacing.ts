import { RECORD_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { positionOf } from '../schema.ts'
import { blockAt } from './segment.ts'
import { readHeader, type SegmentCounts } from './segments.ts'

/** Takes segments of partial blocks out, for which others come that hold the same and more. Within a transaction. */
export const createReplacing = (db: Db) => {
  const overlapping = db
    .prepare<[number, number], number>('SELECT id FROM segment WHERE first <= ? AND last >= ?')
    .pluck()
  const find = db.prepare<[number], { first: number; scoped: number }>('SELECT first, scoped FROM segment WHERE id = ?')
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const drop = db.prepare('INSERT INTO dropped (segment) VALUES (?)')
  const deleteBlock = db.prepare('DELETE FROM block WHERE number = ?')
  const deleteDocuments = RECORD_KINDS.map(kind => db.prepare(`DELETE FROM ${kind} WHERE pos >= ? AND pos < ?`))
  return {
    /** Whether these are all segments that overlap what is to be written, and all of them are partial. */
    isSame(batches: readonly Pick<SegmentCounts, 'first' | 'last'>[], replaces: readonly number[]): boolean {
      const known = new Set(replaces)
      const found = new Set(batches.flatMap(({ first, last }) => overlapping.all(last, first)))
      return known.isSupersetOf(found) && replaces.every(id => find.get(id)?.scoped === 1)
    },
    remove(segment: number) {
      const header = readHeader(db, segment, find.get(segment)!.first)
      for (let index = 0; index < header.times.length; index++) {
        const number = blockAt(header, index)
        deleteBlock.run(number)
        for (const table of deleteDocuments) table.run(positionOf(number, 0), positionOf(number + 1, 0))
      }
      unlist.run(segment)
      drop.run(segment)
    },
  }
}
