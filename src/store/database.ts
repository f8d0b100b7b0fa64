import Database from 'better-sqlite3'
import { stop } from '../lib/errors.ts'
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

export type Db = Database.Database

/** Opens the store of one network for writing, creating or migrating it as needed. */
export const openForWriting = (path: string, native?: string): Db => {
  const db = connect(path, { native })
  // WAL lets readers go on while a batch is written. NORMAL loses nothing on a crash of the process, and on a power cut at most
  // the last commits, never consistency; what is lost then is indexed again.
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  // A commit that copies the log back into the file takes many times longer: by 64 MB at a time, pages that change often are copied once.
  db.pragma('wal_autocheckpoint = 16384')
  db.pragma('cache_size = -131072')
  db.pragma('temp_store = MEMORY')
  migrate(db, path)
  return db
}

/** Opens the store of one network for reading. */
export const openForReading = (path: string, native?: string): Db => {
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

const migrate = (db: Db, path: string) => {
  const version = versionOf(db, path)
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
