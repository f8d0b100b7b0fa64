import { randomBytes } from 'node:crypto'
import { stop } from '../lib/errors.ts'
import type { Db } from '../sqlite/database.ts'
import { perVersion } from './store-version.ts'

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
