import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { ChainsieveError } from '../lib/errors.ts'
import { makePrivateFile } from '../lib/private-files.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints.ts'
import { readDamage } from './damage.ts'
import { checkQuickly, refuseEmptied, sizeOnDisk } from './pages.ts'
import { dropSums } from './sums.ts'

export type Db = Database.Database

/** A connection that writes. Closing it copies what is committed into the store's file. */
export interface WritableDb extends Db {
  /** To be called after commits: does what they leave to be done now and then. */
  settle: Checkpoints['settle']
  copied: Checkpoints['copied']
  checkFiles: Checkpoints['checkFiles']
}

interface OpenOptions {
  /** SQLite's native part, where it is not found by itself. */
  native?: string | undefined
  /** How long to wait for what another connection locks, in milliseconds; a few seconds by default. */
  waitMs?: number | undefined
  /** Refuses, by throwing, a file whose tables are not the ones that are expected. Called before anything is written. */
  check(db: Db): void
}

/** Opens a file for writing with its checksums, making it as needed. `make` makes the tables of one that has none yet. */
export const openWritable = (path: string, { native, check, make }: OpenOptions & { make(db: Db): void }): WritableDb =>
  nameDamagedFile(path, () => {
    checkQuickly(path)
    if (sizeOnDisk(path) === 0) dropSums(path)
    makePrivateFile(path)
    const db = connectFile(path, { native })
    closingOnFault(db, () => check(db))
    // WAL lets readers go on while a batch is written. NORMAL loses nothing on a crash of the process, and on a power cut at most
    // the last commits, never consistency; what is lost then is indexed again.
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('cache_size = -131072')
    db.pragma('temp_store = MEMORY')
    // Only what has its checksum is copied from the log.
    db.pragma('wal_autocheckpoint = 0')
    const kept = withChecksums(db, path, native)
    make(kept)
    return kept
  })

/** Opens a file that is there for reading. */
export const openReadonly = (path: string, { native, waitMs, check }: OpenOptions): Db =>
  nameDamagedFile(path, () => {
    refuseEmptied(path)
    const db = connectFile(path, { readonly: true, native, waitMs })
    closingOnFault(db, () => check(db))
    db.pragma('cache_size = -65536')
    db.pragma('mmap_size = 17179869184')
    db.pragma('temp_store = MEMORY')
    return db
  })

/**
 * Keeps a store's file open while a thread writes it, until what it answers is called. SQLite copies the log when the last connection
 * closes that may write, without checksums; where a thread is ended, its connections close in any order. With one in another thread none of
 * them is the last. The file must be there.
 */
export const holdOpen = (path: string, native?: string): (() => void) =>
  nameDamagedFile(path, () => {
    const db = connectFile(path, { readonly: true, native })
    db.pragma('user_version')
    return () => {
      db.close()
      // A connection that only reads leaves the log's file behind. One that may write removes it; it copies nothing where nothing is left.
      if (sizeOnDisk(`${path}-wal`) === 0 && existsSync(`${path}-wal`)) connectOnce(path, native)
    }
  })

/** Pages of the file that a connection keeps in memory. */
export const keepPages = (db: Pick<Db, 'pragma'>, mb: number): void => void db.pragma(`cache_size = -${mb * 1024}`)

const connectOnce = (path: string, native: string | undefined) => {
  const db = connectFile(path, { native })
  try {
    db.pragma('user_version')
  } finally {
    db.close()
  }
}

const closingOnFault = (db: Db, work: () => void) => {
  try {
    work()
  } catch (error) {
    db.close()
    throw error
  }
}

/** Keeps the checksums of a store's pages as long as it is open for writing. */
const withChecksums = (db: Db, path: string, native: string | undefined): WritableDb => {
  // Where the checksums cannot be written, closing must not copy the log: SQLite does not while this one is open.
  const other = connectFile(path, { readonly: true, native })
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
  const { settle, copied, checkFiles } = checkpoints
  return Object.assign(db, { settle, copied, checkFiles, close })
}

/** Has errors that come of damage name the file. */
const nameDamagedFile = <T>(path: string, open: () => T): T => {
  try {
    return open()
  } catch (error) {
    throw readDamage(error, path)
  }
}

const connectFile = (
  path: string,
  { readonly = false, native, waitMs = 5000 }: { readonly?: boolean } & Omit<OpenOptions, 'check'>,
): Db =>
  new Database(path, {
    readonly,
    fileMustExist: readonly,
    timeout: waitMs,
    ...(native ? { nativeBinding: native } : {}),
  })

export const layoutVersion = (db: Db): number => db.pragma('user_version', { simple: true }) as number
/**
 * Brings a file to a version, step by step. `stepTo` gives the statements that lead to a version from the one before; what was released of them
 * is never edited. All is one transaction: a kill leaves the old version or the new one.
 */
export const migrate = (db: Db, version: number, stepTo: (version: number) => readonly string[]) =>
  db
    .transaction(() => {
      // Another process may have been first.
      for (let next = layoutVersion(db) + 1; next <= version; next++)
        for (const statement of stepTo(next)) db.exec(statement)
      db.pragma(`user_version = ${version}`)
    })
    .immediate()
