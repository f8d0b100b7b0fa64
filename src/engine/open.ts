import { basename } from 'node:path'
import zlib from 'node:zlib'
import { stop } from '../lib/errors.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { damagedBecause } from '../sqlite/damage.ts'
import { type Db, layoutVersion, migrate, openReadonly, openWritable, type WritableDb } from '../sqlite/database.ts'
import { networkOfFile, storeFile } from './files.ts'
import { SCHEMA, SCHEMA_VERSION, STORE_MIGRATIONS } from './schema.ts'
import { makeCursorKey } from './store-version.ts'

/** Opens the store of one network for writing, making it, or bringing it up to date, as needed. */
export const openForWriting = (path: string, native?: string): WritableDb => openWritable(path, { native, check, make })

/** Opens the store of one network for reading. */
export const openForReading = (path: string, native?: string, waitMs?: number): Db =>
  openReadonly(path, {
    native,
    waitMs,
    check(db) {
      check(db)
      if (layoutVersion(db) === 0)
        throw stop('store_empty', `${db.name} is not a store yet: chainsieve serve, index or import creates it`)
      if (layoutVersion(db) < SCHEMA_VERSION)
        throw stop(
          'store_older',
          `${db.name} was written by an older version of Chainsieve: back up and start chainsieve serve, which upgrades it`,
        )
    },
  })

/** Opens a store for as long as it is read. */
export const readStore = <T>(path: string, read: (db: Db) => T): T => {
  const db = openForReading(path, nativeBinding())
  try {
    return read(db)
  } finally {
    db.close()
  }
}

/** Whether an older version wrote the store and this one can upgrade it. Others are refused. */
export const isStoreOlder = (path: string, native?: string): boolean => {
  const db = openReadonly(path, { native, check })
  try {
    return layoutVersion(db) > 0 && layoutVersion(db) < SCHEMA_VERSION
  } finally {
    db.close()
  }
}

/** Whether there is a way from an older version to this one. */
export const mayMigrate = (from: number): boolean => {
  for (let next = from + 1; next <= SCHEMA_VERSION; next++) if (!STORE_MIGRATIONS.has(next)) return false
  return true
}

/** Refuses what another version of the program wrote, and what is no store. */
const check = (db: Db) => {
  const version = layoutVersion(db)
  checkNetworkFile(db)
  if (version > SCHEMA_VERSION)
    throw stop(
      'store_newer',
      `${db.name} was written by a newer version of Chainsieve (store version ${version}, this one knows ${SCHEMA_VERSION}): ` +
        'run that version, or index into another data folder',
    )
  if (version !== 0 && !mayMigrate(version))
    throw stop(
      'store_older',
      `${db.name} was written by an older version of Chainsieve, in a layout that this version cannot read (store version ${version}, ` +
        `this one knows ${SCHEMA_VERSION}): move the file away, or choose another data folder, and index the chain again`,
    )
}

/** Refuses files that are no store, or another network's. Older versions did not store the name. */
export const checkNetworkFile = (db: Db) => {
  const wanted = networkOfFile(db.name)
  if (layoutVersion(db) === 0) return
  if (!db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get())
    throw damagedBecause(db.name, 'it is not a store')
  if (wanted === undefined) return
  const network = db.prepare("SELECT value FROM meta WHERE key = 'network'").pluck().get()
  if (network !== undefined && network !== wanted)
    throw damagedBecause(
      db.name,
      `it is the store of ${network}`,
      `Put each file back under its own name, ${basename(storeFile('', String(network)))}, or restore a backup.`,
    )
  const id = db.pragma('application_id', { simple: true })
  if (id !== 0 && id !== networkFileId(wanted))
    throw damagedBecause(
      db.name,
      `its log ${db.name}-wal is that of another store`,
      'Put each log back next to its own file, or restore a backup.',
    )
}

/** On the first page, which nearly every transaction writes: connects a log with its file. */
const networkFileId = (network: string): number => zlib.crc32(network) | 0 || 1

const make = (db: Db) => {
  makeTables(db)
  makeCursorKey(db)
  noteNetwork(db)
}

const noteNetwork = (db: Db) => {
  const network = networkOfFile(db.name)
  if (network === undefined) return
  if (db.pragma('application_id', { simple: true }) === 0) db.pragma(`application_id = ${networkFileId(network)}`)
  if (db.prepare("SELECT 1 FROM meta WHERE key = 'network'").get()) return
  db.prepare("INSERT INTO meta (key, value) VALUES ('network', ?)").run(network)
}

const makeTables = (db: Db) => {
  if (layoutVersion(db) === SCHEMA_VERSION) return
  if (layoutVersion(db) !== 0) return migrate(db, SCHEMA_VERSION, version => STORE_MIGRATIONS.get(version)!)
  db.transaction(() => {
    for (const statement of SCHEMA) db.exec(statement)
    const meta = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)')
    const key = crypto.getRandomValues(new Uint32Array(2))
    meta.run('hash_key_0', key[0])
    meta.run('hash_key_1', key[1])
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}
