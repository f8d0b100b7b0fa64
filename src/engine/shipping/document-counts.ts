import { partsIn, type Range } from '../../lib/ranges.ts'
import type { CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { blockAt } from '../index/segment.ts'
import { readHeader } from '../index/segments.ts'
import { blockOf, PLACES_PER_BLOCK, positionOf } from '../schema.ts'

/** Counts of offloaded documents, from what remains in the store. */
export type OffloadedCounts = ReturnType<typeof createOffloadedCounts>

export const createOffloadedCounts = (db: Db) => {
  const segments = db.prepare<[number, number], { id: number; first: number; last: number; events: number }>(
    'SELECT id, first, last, events FROM segment WHERE first <= ? AND last >= ? ORDER BY first',
  )
  const emptied = db.prepare<[number, number], Range>(
    'SELECT first AS "from", last AS "to" FROM segment WHERE emptied = 1 AND first <= ? AND last >= ? ORDER BY first',
  )
  const contracts = db
    .prepare<[number, number], number>('SELECT pos FROM contract WHERE pos BETWEEN ? AND ? ORDER BY pos')
    .pluck()
  const hashes = db.prepare<[number], Buffer>('SELECT hash FROM block WHERE number = ?').pluck()
  /** Hash of a stored block. */
  const hash = (block: number): string | undefined => {
    const bytes = hashes.get(block)
    return bytes && `0x${bytes.toString('hex')}`
  }
  const countsOf = (kind: CountedKind | 'contract', { from, to }: Range): Map<number, number> => {
    const counts = new Map<number, number>()
    if (kind === 'contract') {
      for (const position of contracts.all(positionOf(from, 0), positionOf(to, PLACES_PER_BLOCK - 1)))
        counts.set(blockOf(position), (counts.get(blockOf(position)) ?? 0) + 1)
      return counts
    }
    for (const { id, first } of segments.all(to, from)) {
      const header = readHeader(db, id, first)
      for (let i = 0; i < header.times.length; i++) {
        const block = blockAt(header, i)
        if (block < from || block > to) continue
        const ends = kind === 'block' ? undefined : header.ends[kind]
        const count = ends ? ends[i]! - (i > 0 ? ends[i - 1]! : 0) : 1
        if (count > 0) counts.set(block, count)
      }
    }
    return counts
  }
  return {
    hash,
    /** Blocks with documents of a kind, ascending. */
    counts: (kind: CountedKind | 'contract', range: Range) =>
      [...countsOf(kind, range)].flatMap(([block, count]) => {
        const is = hash(block)
        return is === undefined ? [] : [{ block, hash: is, count }]
      }),
    /** Least number of events per run of blocks; later ABIs may have decoded more of them. */
    events: ({ from, to }: Range) =>
      segments
        .all(to, from)
        .filter(({ first, last }) => first >= from && last <= to)
        .map(({ first, last, events }) => ({ from: first, to: last, count: events })),
    /** Blocks whose documents were offloaded. */
    emptied: ({ from, to }: Range) => partsIn(emptied.all(to, from), from, to),
  }
}
