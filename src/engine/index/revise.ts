import type { Db } from '../../sqlite/database.ts'
import { createRewriter } from '../documents/rewrite.ts'
import type { Revision } from './revision.ts'

/** Writes what a revision changes in documents and in their segment, but not in the index; false where the segment is no more. */
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
