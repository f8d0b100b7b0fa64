import { RECORD_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { createRewriter } from '../documents/rewrite.ts'
import { positionOf } from '../schema.ts'
import type { Revision } from './redecode-patch.ts'
import { blockAt } from './segment.ts'
import { readHeader, type SegmentCounts } from './segments.ts'

/** Removes segments of partial blocks in whose place others come. Within a transaction. */
export const createReplacing = (db: Db) => {
  const overlapping = db
    .prepare<[number, number], number>('SELECT id FROM segment WHERE first <= ? AND last >= ?')
    .pluck()
  const find = db.prepare<[number], { first: number; scoped: number }>('SELECT first, scoped FROM segment WHERE id = ?')
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const drop = db.prepare('INSERT INTO dropped (segment) VALUES (?)')
  const deleteBlock = db.prepare('DELETE FROM block WHERE number = ?')
  const deleteDocuments = RECORD_KINDS.map(kind => db.prepare(`DELETE FROM ${kind} WHERE pos >= ? AND pos < ?`))
  const codesIn = db.prepare<[number, number], Omit<KnownCode, 'block'>>(
    `SELECT tx, address, code, implementation, name, abi, probability FROM contract WHERE pos >= ? AND pos < ? AND code IS NOT NULL`,
  )
  const deleteContracts = db.prepare('DELETE FROM contract WHERE pos >= ? AND pos < ?')
  const restoreCode = db.prepare(
    `UPDATE contract SET code = ?, implementation = ?, name = ?, abi = ?, probability = ?
       WHERE pos >= ? AND pos < ? AND tx = ? AND address = ? AND code IS NULL`,
  )
  return {
    /** Whether exactly these segments overlap the batches, and all of them are partial. */
    isSame(batches: readonly Pick<SegmentCounts, 'first' | 'last'>[], replaces: readonly number[]): boolean {
      const known = new Set(replaces)
      const found = new Set(batches.flatMap(({ first, last }) => overlapping.all(last, first)))
      return known.isSupersetOf(found) && replaces.every(id => find.get(id)?.scoped === 1)
    },
    /** Returns the codes of the contracts, which are not read from a node again. */
    remove(segment: number): KnownCode[] {
      const codes: KnownCode[] = []
      const header = readHeader(db, segment, find.get(segment)!.first)
      for (let index = 0; index < header.times.length; index++) {
        const number = blockAt(header, index)
        deleteBlock.run(number)
        const [from, to] = [positionOf(number, 0), positionOf(number + 1, 0)]
        for (const code of codesIn.all(from, to)) codes.push({ ...code, block: number })
        for (const table of [...deleteDocuments, deleteContracts]) table.run(from, to)
      }
      unlist.run(segment)
      drop.run(segment)
      return codes
    },
    /** To be called when the contracts are stored again. */
    restore(codes: readonly KnownCode[]) {
      for (const { block, tx, address, code, implementation, name, abi, probability } of codes)
        restoreCode.run(
          ...[
            code,
            implementation,
            name,
            abi,
            probability,
            positionOf(block, 0),
            positionOf(block + 1, 0),
            tx,
            address,
          ],
        )
    },
  }
}

interface KnownCode {
  block: number
  tx: number
  address: number
  code: number
  implementation: number | null
  name: number | null
  abi: number | null
  probability: number | null
}

/** Writes changes of documents and their segment, without the index; false if it was removed. */
export const createReviser = (db: Db): ((revision: Revision) => boolean) => {
  const exists = db.prepare('SELECT 1 FROM segment WHERE id = ?').pluck()
  const rewrite = createRewriter(db)
  const setSegment = db.prepare('UPDATE segment SET events = events + ?, revised = revised + 1 WHERE id = ?')

  return ({ segment, events, ...documents }) => {
    if (exists.get(segment) === undefined) return false
    rewrite(documents)
    setSegment.run(events, segment)
    return true
  }
}
