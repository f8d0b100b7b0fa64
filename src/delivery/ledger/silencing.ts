import type { Action } from '../../rules/rule.ts'
import type { FindSilence } from '../silences.ts'
import { atomically, type Db } from './file.ts'
import { createLoad } from './messages.ts'

export const createSilencing = (db: Db) => {
  const load = createLoad(db)
  const markSilenced = db.prepare(
    `UPDATE delivery SET state = 'cancelled', silence = ?, settled_at = ?, last_error = ? WHERE id = ? AND state = 'queued'`,
  )

  return {
    /** Ends deliveries that a silence covers, in one transaction; returns their channels. */
    silence: (ids: readonly number[], now: number, find: FindSilence): Action['type'][] =>
      atomically(db, () =>
        ids.flatMap(id => {
          const { account, action, messages } = load([id])
          const found = find({ account, channel: action.type, message: messages[0]! }, now)
          if (!found || markSilenced.run(found.id, now, silencedBy(found), id).changes === 0) return []
          return [action.type]
        }),
      ),
  }
}

const silencedBy = ({ id, to, author, reason }: NonNullable<ReturnType<FindSilence>>): string =>
  `silence ${id} of ${author}, until ${new Date(to).toISOString()}: ${reason}`
