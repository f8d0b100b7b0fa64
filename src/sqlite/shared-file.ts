import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { stop } from '../lib/errors.ts'
import { makePrivateFile, makePrivateFolder, syncFile } from '../lib/files.ts'
import { damagedBecause, findFaults } from './damage.ts'
import { type Db, layoutVersion, migrate } from './database.ts'
import { findEmptied, sizeOnDisk } from './verify-pages.ts'

/** A small file of a data folder that several processes may have open at once. */
interface SharedFileOptions {
  file: string
  /** Content of the file; error codes begin with it. */
  holds: 'accounts' | 'deliveries'
  /** A table that every version has. */
  table: string
  /** Step n migrates version n to n + 1. Released steps are never edited. */
  steps: readonly string[]
  /** Error code of a damaged file, and the loss that its message adds to moving it away. */
  damage: { code: string; loses: string }
  /** Set before anything is in the file. */
  layout?: readonly string[]
  /** Set for each connection. */
  pragmas: readonly string[]
  /** Converts a fault of SQLite or the system; `damaged` makes the error for a damaged file. */
  explain(error: unknown, path: string, damaged: (why: string, cause: unknown) => Error): unknown
}

type Tables = (db: Db) => void

export const sharedFile = (options: SharedFileOptions) => {
  const { file, holds, table, steps, damage, layout = [], pragmas, explain } = options

  const damaged = (path: string, why: string, cause?: unknown) =>
    stop(
      damage.code,
      `${path} is damaged: ${why}. Restore a backup with chainsieve restore; without one, move it away with those whose names ` +
        `begin like it${damage.loses}.`,
      cause,
    )

  /** SQLite would treat an empty file as new, and silently lose its content. */
  const refuseEmptied = (path: string) => {
    const found = findEmptied(path, true)
    if (found) throw damaged(found.file, found.why)
  }

  const explaining = <T>(folder: string, work: (path: string) => T): T => {
    const path = join(folder, file)
    try {
      return work(path)
    } catch (error) {
      throw explain(error, path, (why, cause) => damaged(path, why, cause))
    }
  }

  /** Refuses a database that holds something else. */
  const checkHolds = (db: Db) => {
    if (layoutVersion(db) > 0 && !db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table))
      throw damagedBecause(
        db.name,
        `it does not hold ${holds}`,
        'Put each file back under its own name, or restore a backup.',
      )
  }

  const isOlderIn = (db: Db): boolean => {
    checkHolds(db)
    const version = layoutVersion(db)
    if (version > steps.length)
      throw stop(
        `${holds}_newer`,
        `${db.name} was written by a newer version of Chainsieve (${holds} version ${version}, this one knows ` +
          `${steps.length}): run that version, or choose another data folder with --data`,
      )
    return version > 0 && version < steps.length
  }

  const upgradeTables: Tables = db => migrate(db, steps.length, version => [steps[version - 1]!])

  /**
   * Creates the tables of a new file. Refuses an older version: only the holder of the data folder
   * upgrades it, since a server of that version may have it open.
   */
  const makeTables: Tables = db => {
    if (isOlderIn(db))
      throw stop(
        `${holds}_older`,
        `${db.name} was written by an older version of Chainsieve (${holds} version ${layoutVersion(db)}, this one knows ` +
          `${steps.length}): back up and start chainsieve serve, which upgrades it; beside a running server, use its version`,
      )
    if (layoutVersion(db) === 0) upgradeTables(db)
  }

  const open = (folder: string, native: string | undefined, tables: Tables, more: readonly string[] = []): Db =>
    explaining(folder, path => {
      makePrivateFolder(folder)
      refuseEmptied(path)
      makeDatabase(path, native, [...layout, 'journal_mode = WAL'])
      makePrivateFile(path)
      const db = new Database(path, { timeout: WAIT_MS, ...binding(native) })
      if (db.pragma('page_count', { simple: true }) === 0) for (const pragma of layout) db.pragma(pragma)
      for (const pragma of ['journal_mode = WAL', 'foreign_keys = ON', ...pragmas, ...more]) db.pragma(pragma)
      tables(db)
      const [fault] = isLarge(db) ? [] : findFaults(db, 'quick_check')
      if (fault !== undefined) {
        db.close()
        throw damaged(path, fault)
      }
      return db
    })

  const connect = (folder: string, native: string | undefined, more?: readonly string[]): Db =>
    open(folder, native, makeTables, more)

  return {
    /** Opens the file, created if missing; its caller closes it. `more`: further pragmas. */
    connect,
    checkHolds,
    /** Whether an older version wrote the file, without changing it. Refuses a newer version. */
    isOlder: (folder: string, native: string | undefined): boolean =>
      explaining(folder, path => {
        refuseEmptied(path)
        if (!existsSync(path)) return false
        const db = new Database(path, { readonly: true, timeout: WAIT_MS, ...binding(native) })
        try {
          return isOlderIn(db)
        } finally {
          db.close()
        }
      }),
    /** Only for the process that locks the data folder. */
    upgrade: (folder: string, native: string | undefined) => void open(folder, native, upgradeTables).close(),
    /** Integrity faults found by SQLite. */
    faults(folder: string, native: string | undefined): string[] {
      const path = join(folder, file)
      refuseEmptied(path)
      const db = new Database(path, { readonly: true, ...binding(native) })
      try {
        return findFaults(db, 'integrity_check')
      } finally {
        db.close()
      }
    },
    /** Frees unused space, even while others have the file open. Skips a missing file. */
    compact(folder: string, native: string | undefined): { file: string; before: number; after: number }[] {
      const path = join(folder, file)
      if (!existsSync(path)) return []
      const db = connect(folder, native)
      try {
        const [fault] = findFaults(db, 'quick_check')
        if (fault !== undefined) throw damagedBecause(path, fault, 'Check the disk, and restore a backup.')
        const before = sizeOnDisk(path)
        db.exec('VACUUM')
        db.pragma('wal_checkpoint(TRUNCATE)')
        return [{ file: path, before, after: sizeOnDisk(path) }]
      } finally {
        db.close()
      }
    },
  }
}

const WAIT_MS = 5_000

const binding = (native: string | undefined) => (native ? { nativeBinding: native } : {})

/** Whether a check of all pages would take longer than a start may. */
const isLarge = (db: Db): boolean => {
  const [pages, size] = ['page_count', 'page_size'].map(pragma => db.pragma(pragma, { simple: true }) as number)
  return pages! * size! > 64 * 2 ** 20
}

/**
 * Creates a missing database file atomically, even in several processes at once: a new one is never
 * empty. One of the pragmas must write something.
 */
const makeDatabase = (path: string, native: string | undefined, pragmas: readonly string[]) => {
  if (existsSync(path)) return
  const made = `${path}-new-${process.pid}-${threadId}`
  try {
    makePrivateFile(made)
    const db = new Database(made, binding(native))
    try {
      for (const pragma of pragmas) db.pragma(pragma)
    } finally {
      db.close()
    }
    syncFile(made)
    place(made, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(made + suffix, { force: true })
  }
}

const place = (made: string, path: string) => {
  try {
    linkSync(made, path)
  } catch {
    // Another process was first, or the file system has no second name for a file.
    if (!existsSync(path)) renameSync(made, path)
  }
}
