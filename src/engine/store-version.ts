import { randomBytes } from 'node:crypto'
import { stop } from '../lib/errors.ts'
import { oncePerTick } from '../lib/scheduling/coalesce.ts'
import type { Db } from '../sqlite/database.ts'
/**
 * A number that changes when another connection has written to the store. Calls on a connection
 * share one query per turn of the event loop.
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

/** Caches the result of `read` until another connection has written to the store. */
export const perVersion = <T>(db: Db, read: () => T): (() => T) => {
  const versionNow = stateVersion(db)
  let known: { version: number; value: T } | undefined
  return () => {
    // A write between these lines is in `value` already, and is read again in the next turn.
    const version = versionNow()
    if (known?.version !== version) known = { version, value: read() }
    return known.value
  }
}

/**
 * Creates the key that signs a network's scroll and point-in-time ids, in `meta.cursor_key` as hex
 * for backups to include. Servers with the same remote documents share it: see `PublishedState`.
 */
export const makeCursorKey = (db: Db): void => {
  if (readCursorKey(db) === undefined) setCursorKey(db, randomBytes(32).toString('hex'))
}

export const readCursorKey = (db: Pick<Db, 'prepare'>): string | undefined =>
  db.prepare<[], string>("SELECT value FROM meta WHERE key = 'cursor_key'").pluck().get()

/** Invalidates ids signed with another key. */
export const setCursorKey = (db: Db, key: string): void =>
  void db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('cursor_key', ?)").run(key)

/** The current key. */
export const cursorKeyOf = (db: Db): (() => Buffer) =>
  perVersion(db, () => {
    const key = readCursorKey(db)
    if (key !== undefined) return Buffer.from(key, 'hex')
    throw stop(
      'store_older',
      `${db.name} was written by an older version of Chainsieve: chainsieve serve brings it up to date`,
    )
  })
