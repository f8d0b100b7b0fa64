import { merged, type Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'

/** Blocks of which a store holds what scopes want. It keeps their documents also where they lie in a cluster. */
export interface PartialBlocks {
  /** Runs from the first one to the last one of a segment, ascending; between them blocks may hold nothing that is wanted. */
  ranges(): Range[]
  /** The lowest stored block from this one on; infinite where there is none. */
  next(number: number): number
  /** How many blocks of a run are stored. */
  count(range: Range): number
}

export const createPartialBlocks = (db: Db): PartialBlocks => {
  const segments = db.prepare<[], Range>(
    'SELECT first AS "from", last AS "to" FROM segment WHERE scoped = 1 ORDER BY first',
  )
  const next = db.prepare<[number], number | null>('SELECT min(number) FROM block WHERE number >= ?').pluck()
  const count = db.prepare<[number, number], number>('SELECT count(*) FROM block WHERE number BETWEEN ? AND ?').pluck()
  return {
    ranges: () => merged(segments.all()),
    next: number => next.get(number) ?? Number.POSITIVE_INFINITY,
    count: ({ from, to }) => count.get(from, to)!,
  }
}
