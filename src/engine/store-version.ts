import { oncePerTick } from '../lib/scheduling/coalesce.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * Which state of a store a connection reads: another number once another connection has written anything. Of all that goes by the same connection,
 * only the first one in a turn looks.
 */
export const stateVersion = (db: Db): (() => number) => {
  let known = versions.get(db)
  if (!known) {
    const version = db.prepare<[], number>('PRAGMA data_version').pluck()
    known = oncePerTick(() => version.get()!)
    versions.set(db, known)
  }
  return known
}
const versions = new WeakMap<Db, () => number>()

/** What `read` tells, read anew once another connection has written to the store. */
export const perVersion = <T>(db: Db, read: () => T): (() => T) => {
  const versionNow = stateVersion(db)
  let known: { version: number; value: T } | undefined
  return () => {
    // What is written between the two is read by now, and once more in the next turn.
    const version = versionNow()
    if (known?.version !== version) known = { version, value: read() }
    return known.value
  }
}
