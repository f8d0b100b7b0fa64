import type { Db } from '../../sqlite/database.ts'
import type { Revision } from './revision.ts'

/** Writes what a revision changes in documents and in their segment, but not in the index; false where the segment is no more. */
export const createReviser = (db: Db): ((revision: Revision) => boolean) => {
  const exists = db.prepare('SELECT 1 FROM segment WHERE id = ?').pluck()
  const setLog = db.prepare('UPDATE log SET signature = ?, decimals = ? WHERE pos = ?')
  const setTopics = db.prepare('UPDATE log SET topics = ? WHERE pos = ?')
  const setCall = db.prepare('UPDATE call SET signature = ?, decimals = ? WHERE pos = ?')
  const setMethod = db.prepare('UPDATE tx SET method = ? WHERE pos = ?')
  const setSegment = db.prepare('UPDATE segment SET events = events + ?, revised = revised + 1 WHERE id = ?')

  return ({ segment, logs, calls, txs, events }) => {
    if (exists.get(segment) === undefined) return false
    for (const { position, signature, decimals, topics } of logs) {
      setLog.run(signature, decimals, position)
      if (topics !== undefined) setTopics.run(topics, position)
    }
    for (const { position, signature, decimals } of calls) setCall.run(signature, decimals, position)
    for (const { position, method } of txs) setMethod.run(method, position)
    setSegment.run(events, segment)
    return true
  }
}
