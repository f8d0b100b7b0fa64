import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { ChainsieveError } from '../lib/errors.ts'
import { makePrivateFile } from '../lib/files.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints.ts'
import { dropSums } from './checksums.ts'
import { asDamage } from './damage.ts'
import { checkQuickly, findEmptied, refuseEmptied, sizeOnDisk } from './verify-pages.ts'

export type Db = Database.Database

/** A connection that writes. Closing it copies what is committed into the store's file. */
export interface WritableDb extends Db {
  /** Call after commits: copies the log now and then. */
  settle: Checkpoints['settle']
  copied: Checkpoints['copied']
  checkFiles: Checkpoints['checkFiles']
}

interface OpenOptions {
  /** Path of SQLite's native binding, if it is not found by default. */
  native?: string | undefined
  /** Maximum wait for another connection's lock, in milliseconds; a few seconds by default. */
  waitMs?: number | undefined
  /** Throws if the tables are not the expected ones. Called before anything is written. */
  check(db: Db): void
}

/** Opens a file for writing with checksums, created if missing. `make` creates its tables. */
export const openWritable = (path: string, { native, check, make }: OpenOptions & { make(db: Db): void }): WritableDb =>
  nameDamagedFile(path, () => {
    checkQuickly(path)
    if (sizeOnDisk(path) === 0) dropSums(path)
    makePrivateFile(path)
    const db = connectFile(path, { native })
    closingOnFault(db, () => check(db))
    // WAL lets readers continue while a batch is written. With NORMAL, a crash loses nothing, and a
    // power cut at most the last commits, never consistency; these are indexed again.
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('cache_size = -131072')
    db.pragma('temp_store = MEMORY')
    // Checkpoints are explicit: only pages with a checksum are copied from the log.
    db.pragma('wal_autocheckpoint = 0')
    const kept = withChecksums(db, path, native)
    make(kept)
    return kept
  })

/** Opens a file that is there for reading. */
export const openReadonly = (path: string, { native, waitMs, check }: OpenOptions): Db =>
  nameDamagedFile(path, () => {
    refuseEmptied(path)
    rollBackMaking(path, native, waitMs)
    const db = connectFile(path, { readonly: true, native, waitMs })
    closingOnFault(db, () => check(db))
    db.pragma('cache_size = -65536')
    db.pragma('mmap_size = 17179869184')
    db.pragma('temp_store = MEMORY')
    return db
  })

/**
 * Keeps a store's existing file open, in a thread other than its writer's, until the result is
 * called. Otherwise the last writable connection to close copies the log without checksums.
 */
export const holdOpen = (path: string, native?: string): (() => void) =>
  nameDamagedFile(path, () => {
    const db = connectFile(path, { readonly: true, native })
    db.pragma('user_version')
    return () => {
      db.close()
      // Read-only connections leave the log file behind; a writable one removes the empty log.
      if (sizeOnDisk(`${path}-wal`) === 0 && existsSync(`${path}-wal`)) connectOnce(path, native)
    }
  })

/** Pages of the file that a connection keeps in memory. */
export const keepPages = (db: Pick<Db, 'pragma'>, mb: number): void => void db.pragma(`cache_size = -${mb * 1024}`)

/** After a kill before the file had its write-ahead log: only a connection that writes rolls this back. */
const rollBackMaking = (path: string, native: string | undefined, waitMs?: number) => {
  if (sizeOnDisk(`${path}-journal`) > 0) connectOnce(path, native, waitMs)
}

/** Whether a kill left the file before anything was in it: the next writer makes it. */
export const isUnmade = (path: string, native?: string): boolean => {
  if (!existsSync(path)) return false
  rollBackMaking(path, native)
  return sizeOnDisk(path) === 0 && !findEmptied(path)
}

const connectOnce = (path: string, native: string | undefined, waitMs?: number) => {
  const db = connectFile(path, { native, waitMs })
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
  // If checksums cannot be written, closing must not copy the log: this connection prevents it.
  const other = connectFile(path, { readonly: true, native })
  let checkpoints: Checkpoints
  try {
    other.pragma('user_version')
    checkpoints = createCheckpoints(db, path)
  } catch (error) {
    // Retries on a full disk must not leak two connections each.
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
      // Commits are safe in the log, and are copied once there is room again.
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
    throw asDamage(error, path)
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
 * Migrates a file step by step, in one transaction. `stepTo` gives the statements that lead to a
 * version from the one before; released steps are never edited.
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
