import { randomUUID } from 'node:crypto'
import type { Db } from '../../sqlite/database.ts'

/**
 * Remote indices with shipped documents, each with the identity from its creation: an index that is
 * restored or created again has another. Table `meta` stores them as `index:` + name, and as
 * `indices` the serial of their state. An index without a stored identity may have any.
 * Change within a transaction.
 */
export type IndexIdentities = ReturnType<typeof createIndexIdentities>

/** Identities that the shipping process publishes. */
export interface PublishedIndices {
  serial: string | undefined
  indices: Readonly<Record<string, string>>
}

const INDEX_KEY = 'index:'

export const createIndexIdentities = (db: Db) => {
  const get = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck()
  const all = db.prepare<[], { key: string; value: string }>(
    `SELECT key, value FROM meta WHERE key >= '${INDEX_KEY}' AND key < 'index;' ORDER BY key`,
  )
  const set = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  const add = db.prepare('INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM meta WHERE key = ?')
  const clear = db.prepare(`DELETE FROM meta WHERE key >= '${INDEX_KEY}' AND key < 'index;'`)
  const serial = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'indices'").pluck()
  const noteIf = (isChanged: boolean) => {
    if (isChanged) set.run('indices', randomUUID())
  }
  return {
    of: (index: string) => get.get(INDEX_KEY + index),
    all: () => Object.fromEntries(all.all().map(({ key, value }) => [key.slice(INDEX_KEY.length), value])),
    /** Changes with each write; undefined where none was ever stored. */
    serial: () => serial.get(),
    /** Accepts the identities of unknown indices. */
    learn(found: ReadonlyMap<string, string>) {
      let added = 0
      for (const [index, identity] of found) added += add.run(INDEX_KEY + index, identity).changes
      noteIf(added > 0)
    },
    accept(index: string, identity: string) {
      set.run(INDEX_KEY + index, identity)
      noteIf(true)
    },
    forget: (index: string) => noteIf(remove.run(INDEX_KEY + index).changes > 0),
    /** Replaces all identities by those of another process. */
    adopt(told: PublishedIndices) {
      clear.run()
      for (const [index, identity] of Object.entries(told.indices)) add.run(INDEX_KEY + index, identity)
      if (told.serial === undefined) remove.run('indices')
      else set.run('indices', told.serial)
    },
  }
}
