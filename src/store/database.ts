import Database from 'better-sqlite3'
import { ChainsieveError, stop } from '../lib/errors.ts'
import { makePrivateFile } from '../lib/private.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints.ts'
import { readDamage } from './damage.ts'
import { checkQuickly, sizeOf } from './pages.ts'
import {
  ALERT_SCHEMA,
  CALL_SCHEMA,
  CONTRACT_SCHEMA,
  LINK_SCHEMA,
  MERGING_SCHEMA,
  REVISION_SCHEMA,
  SCHEMA,
  SCHEMA_VERSION,
  TRACE_SCHEMA,
} from './schema.ts'
import { SIMILAR_SCHEMA } from './similar.ts'
import { dropSums } from './sums.ts'

export type Db = Database.Database

/** A connection that writes. Closing it copies what is committed into the store's file. */
export interface WritableDb extends Db {
  /** To be called after commits: does what they leave to be done now and then. */
  settle: Checkpoints['settle']
}

/** Opens the store of one network for writing, creating or migrating it as needed. */
export const openForWriting = (path: string, native?: string): WritableDb => naming(path, () => open(path, native))

const open = (path: string, native: string | undefined): WritableDb => {
  // What is left of a store that was removed says nothing of the one that is made.
  if (sizeOf(path) === 0) dropSums(path)
  makePrivateFile(path)
  checkQuickly(path)
  const db = connect(path, { native })
  const version = versionOf(db, path)
  // WAL lets readers go on while a batch is written. NORMAL loses nothing on a crash of the process, and on a power cut at most
  // the last commits, never consistency; what is lost then is indexed again.
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.pragma('cache_size = -131072')
  db.pragma('temp_store = MEMORY')
  // Only what has its checksum is copied from the log.
  db.pragma('wal_autocheckpoint = 0')
  const kept = withChecksums(db, path, native)
  migrate(kept, version)
  return kept
}

/** Keeps the checksums of a store's pages as long as it is open for writing. */
const withChecksums = (db: Db, path: string, native: string | undefined): WritableDb => {
  // SQLite copies the log when the last connection closes that may write, also where its thread was ended: it does not while this one is open.
  const other = connect(path, { readonly: true, native })
  let checkpoints: Checkpoints
  try {
    other.pragma('user_version')
    checkpoints = createCheckpoints(db, path)
  } catch (error) {
    // Whoever tries again until there is room on the disk must not leave two connections behind each time.
    db.close()
    other.close()
    throw error
  }
  const closeFirst = db.close.bind(db)
  const close = () => {
    if (!db.open) return db
    try {
      checkpoints.close()
      other.close()
      return closeFirst()
    } catch (error) {
      closeFirst()
      other.close()
      // What is committed is safe in the log; it is taken over when there is room again.
      if (error instanceof ChainsieveError) throw error
      return db
    }
  }
  return Object.assign(db, { settle: checkpoints.settle, close })
}

/** Opens the store of one network for reading. */
export const openForReading = (path: string, native?: string): Db => naming(path, () => openReadonly(path, native))

const openReadonly = (path: string, native: string | undefined): Db => {
  const db = connect(path, { readonly: true, native })
  const version = versionOf(db, path)
  if (version < SCHEMA_VERSION) {
    db.close()
    throw stop(
      'store_older',
      `${path} is not in the form that this version of Chainsieve reads (store version ${version}, it should be ${SCHEMA_VERSION}): ` +
        'chainsieve serve, index or import bring it there',
    )
  }
  db.pragma('cache_size = -65536')
  db.pragma('mmap_size = 17179869184')
  db.pragma('temp_store = MEMORY')
  return db
}

/** Has errors that come of damage name the file. */
const naming = <T>(path: string, open: () => T): T => {
  try {
    return open()
  } catch (error) {
    throw readDamage(error, path)
  }
}

const connect = (path: string, { readonly = false, native }: { readonly?: boolean; native: string | undefined }): Db =>
  new Database(path, { readonly, fileMustExist: readonly, timeout: 5000, ...(native ? { nativeBinding: native } : {}) })

const versionOf = (db: Db, path: string): number => {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version <= SCHEMA_VERSION) return version
  db.close()
  throw stop(
    'store_newer',
    `${path} was written by a newer version of Chainsieve (store version ${version}, this one knows ${SCHEMA_VERSION}): ` +
      'run that version, or index into another data folder',
  )
}

const migrate = (db: Db, version: number) => {
  if (version === SCHEMA_VERSION) return
  db.transaction(() => {
    for (let from = version; from < SCHEMA_VERSION; from++) MIGRATIONS[from]!(db)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  })()
}

const execute = (statements: readonly string[]) => (db: Db) => {
  for (const statement of statements) db.exec(statement)
}

/** Step n brings a store from version n to n + 1; the first one makes it. */
const MIGRATIONS: ((db: Db) => void)[] = [
  db => {
    execute(SCHEMA)(db)
    const meta = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)')
    const key = crypto.getRandomValues(new Uint32Array(2))
    meta.run('hash_key_0', key[0])
    meta.run('hash_key_1', key[1])
  },
  ...[
    ALERT_SCHEMA,
    TRACE_SCHEMA,
    CALL_SCHEMA,
    CONTRACT_SCHEMA,
    MERGING_SCHEMA,
    SIMILAR_SCHEMA,
    REVISION_SCHEMA,
    LINK_SCHEMA,
  ].map(execute),
]
