import { byKind, COUNTED_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { encodeSegmentHeader, headOfHeader, indexFrom, joinHeaders } from './segment.ts'
import {
  documentCount,
  FAN,
  FULL_LEVEL,
  readHeader,
  SEGMENT_COLUMNS,
  type SegmentRow,
  segmentInserter,
  segmentNumbers,
  sumOfSegments,
} from './segments.ts'
import type { IndexStructure, SegmentPart, Structures } from './structure.ts'
import { termOf, UNDECODED } from './terms.ts'

/**
 * Merges (compacts) neighbouring segments in small transactions, to delay no block. Segments that
 * are not listed are invisible, so their index can be written and deleted incrementally.
 * `dropped` lists the segments to delete, also after the program was killed or crashed.
 */
export type Merging = ReturnType<typeof createMerging>

export const createMerging = (db: Db, structures: readonly IndexStructure[]) => {
  const at = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first <= ? ORDER BY first DESC LIMIT 1`)
  const after = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first > ? ORDER BY first LIMIT 1`)
  const before = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first < ? ORDER BY first DESC LIMIT 1`)
  const nextNumber = segmentNumbers(db)
  const drop = db.prepare('INSERT INTO dropped (segment) VALUES (?)')
  const gone = db.prepare('DELETE FROM dropped WHERE segment = ?')
  const oldest = db.prepare('SELECT segment FROM dropped LIMIT 1').pluck()
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const insertSegment = segmentInserter(db)
  let work: Iterator<void> | undefined

  /** The neighbouring segments of one level around a block, if they are enough to merge. */
  const runAround = (block: number): SegmentRow[] | undefined => {
    const middle = at.get(block) as SegmentRow | undefined
    if (!middle || middle.last < block || middle.level >= FULL_LEVEL) return undefined
    const run = [middle]
    while (run.length < FAN) {
      const next = before.get(run[0]!.first) as SegmentRow | undefined
      if (next?.level !== middle.level || !areNeighbours(next, run[0]!)) break
      run.unshift(next)
    }
    while (run.length < FAN) {
      const next = after.get(run.at(-1)!.last) as SegmentRow | undefined
      if (next?.level !== middle.level || !areNeighbours(run.at(-1)!, next)) break
      run.push(next)
    }
    return run.length < FAN ? undefined : run
  }

  function* merge(run: readonly SegmentRow[]): Generator<void, void> {
    const segment = nextNumber()
    drop.run(segment)
    const parts = withOffsets(run)
    // An emptied one has no index.
    if (!run[0]!.emptied) for (const structure of structures) yield* structure.merge(segment, parts)
    const header = joinHeaders(run.map(({ id, first }) => readHeader(db, id, first)))
    for (const { id } of run) {
      unlist.run(id)
      drop.run(id)
    }
    insertSegment(sumOfSegments(run), encodeSegmentHeader(header), segment)
    gone.run(segment)
  }

  /** Deletes the rows of an unlisted segment, such as a half-written merge. */
  const sweep = (segment: number) => {
    for (const structure of structures) if (structure.remove(segment)) return
    gone.run(segment)
  }

  return {
    /** One step of a merge around this block, in a transaction; returns whether more may follow. */
    step(block: number): boolean {
      if (!work) {
        const segment = oldest.get() as number | undefined
        if (segment !== undefined) {
          sweep(segment)
          return true
        }
        const run = runAround(block)
        if (!run) return false
        work = merge(run)
      }
      if (work.next().done) work = undefined
      return true
    },
    /** Gives up the merge, since the segments change or a step failed. */
    abandon(): void {
      work = undefined
    },
  }
}

/** Segments of scopes need not touch: blocks between them hold nothing. */
const areNeighbours = (below: SegmentRow, above: SegmentRow): boolean =>
  below.scoped === above.scoped &&
  below.emptied === above.emptied &&
  (below.scoped === 1 || below.last === above.first - 1)

const withOffsets = (run: readonly SegmentRow[]): SegmentPart[] => {
  const seen = byKind(COUNTED_KINDS, () => 0)
  return run.map(row => {
    const part = { ...row, offset: { ...seen } }
    for (const kind of COUNTED_KINDS) seen[kind] += documentCount(row, kind)
    return part
  })
}

/** Removes all blocks above `to` from the index. */
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
        encodeSegmentHeader(header),
        segment,
      )
    } else unlist.run(row.id)
    for (const structure of all) while (structure.remove(row.id));
  }
}
