import { randomUUID } from 'node:crypto'
import type { Db } from '../../sqlite/database.ts'

/**
 * The indices of a cluster that hold what is on the shelf, each by the identity that the cluster gave it: one that is restored from a snapshot or made anew has
 * another. The table `meta` holds them as `index:` and the name, and as `indices` the serial of this state of them. Of an index that is not among them any is the
 * right one.
 */
export interface KnownIndices {
  of(index: string): string | undefined
  all(): Record<string, string>
  /** Another one with each change; undefined where none was ever known. */
  serial(): string | undefined
}

/** Each verb is called within a transaction. */
export interface KnownIndicesWriter extends KnownIndices {
  /** Takes those that are not known for what they should be. */
  learn(found: ReadonlyMap<string, string>): void
  accept(index: string, identity: string): void
  forget(index: string): void
  /** Takes over what another process knows. */
  adopt(told: ToldIndices): void
}

/** What a process that ships tells others of them. */
export interface ToldIndices {
  serial: string | undefined
  indices: Readonly<Record<string, string>>
}

const PREFIX = 'index:'

export const createKnownIndices = (db: Db): KnownIndicesWriter => {
  const get = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck()
  const all = db.prepare<[], { key: string; value: string }>(
    `SELECT key, value FROM meta WHERE key >= '${PREFIX}' AND key < 'index;' ORDER BY key`,
  )
  const set = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  const add = db.prepare('INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM meta WHERE key = ?')
  const clear = db.prepare(`DELETE FROM meta WHERE key >= '${PREFIX}' AND key < 'index;'`)
  const serial = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'indices'").pluck()
  const noteIf = (isChanged: boolean) => {
    if (isChanged) set.run('indices', randomUUID())
  }
  return {
    of: index => get.get(PREFIX + index),
    all: () => Object.fromEntries(all.all().map(({ key, value }) => [key.slice(PREFIX.length), value])),
    serial: () => serial.get(),
    learn(found) {
      let added = 0
      for (const [index, identity] of found) added += add.run(PREFIX + index, identity).changes
      noteIf(added > 0)
    },
    accept(index, identity) {
      set.run(PREFIX + index, identity)
      noteIf(true)
    },
    forget: index => noteIf(remove.run(PREFIX + index).changes > 0),
    adopt(told) {
      clear.run()
      for (const [index, identity] of Object.entries(told.indices)) add.run(PREFIX + index, identity)
      if (told.serial === undefined) remove.run('indices')
      else set.run('indices', told.serial)
    },
  }
}
