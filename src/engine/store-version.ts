import { randomBytes } from 'node:crypto'
import { stop } from '../lib/errors.ts'
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

/**
 * The key by which the ids of scrolls and points in time of a network are signed, as hex digits in `meta.cursor_key`. It lies in the store, so that
 * backups have it. Servers that share the network's remote documents share it: see `PublishedState`.
 */
export const makeCursorKey = (db: Db): void => {
  if (readCursorKey(db) === undefined) setCursorKey(db, randomBytes(32).toString('hex'))
}
export const readCursorKey = (db: Pick<Db, 'prepare'>): string | undefined =>
  db.prepare<[], string>("SELECT value FROM meta WHERE key = 'cursor_key'").pluck().get()
/** Ids that were signed by another key are not known any more. */
export const setCursorKey = (db: Db, key: string): void =>
  void db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('cursor_key', ?)").run(key)
/** The key as it is now. */
export const cursorKeyOf = (db: Db): (() => Buffer) =>
  perVersion(db, () => {
    const key = readCursorKey(db)
    if (key !== undefined) return Buffer.from(key, 'hex')
    throw stop(
      'store_older',
      `${db.name} was written by an older version of Chainsieve: chainsieve serve brings it up to date`,
    )
  })
