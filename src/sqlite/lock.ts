import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ChainsieveError, messageOf, stop, systemFault } from '../lib/errors.ts'
import { makePrivateFile, makePrivateFolder } from '../lib/files.ts'
import { version } from '../lib/runtime.ts'

/** Staging folder of a restore. */
export const restoringFolder = (data: string): string => join(data, 'restoring')

/** Locks a data folder like `lockFolder`, but refuses one with an unfinished restore. */
export const lockDataFolder = (data: string, doing: string, native?: string): { release(): void } => {
  const lock = lockFolder(data, doing, native)
  if (!isRestoring(data)) return lock
  lock.release()
  throw stop(
    'restore_unfinished',
    `a restore into the data folder ${data} was interrupted: run chainsieve restore again with the same backup, or remove ${restoringFolder(data)}`,
  )
}

/** An empty folder is of a restore that has copied nothing yet, or has ended. */
const isRestoring = (data: string): boolean =>
  existsSync(restoringFolder(data)) && readdirSync(restoringFolder(data)).length > 0

/** Like `lockDataFolder`, but undefined if another process has the lock. */
export const tryToLockDataFolder = (...asked: Parameters<typeof lockDataFolder>) => {
  try {
    return lockDataFolder(...asked)
  } catch (error) {
    if (error instanceof ChainsieveError && error.code === 'data_folder_locked') return undefined
    throw error
  }
}

/**
 * Locks a data folder for this process as its only writer. SQLite locks a separate lock file, and
 * the operating system releases it when the process ends, even by a crash.
 */
export const lockFolder = (data: string, doing: string, native?: string): { release(): void } => {
  try {
    makePrivateFolder(data)
  } catch (error) {
    throw stop(
      'data_folder_unusable',
      `the data folder ${data} cannot be created (${messageOf(error)}): choose another with --data`,
      error,
    )
  }
  const owner = join(data, 'lock.json')
  let db: Database.Database
  try {
    makePrivateFile(join(data, 'lock.sqlite'))
    // Waits, since `lockedFor` also takes the lock for a moment.
    db = new Database(join(data, 'lock.sqlite'), { timeout: ASKED_MS, ...(native ? { nativeBinding: native } : {}) })
    db.pragma('locking_mode = EXCLUSIVE')
    // Nothing is written, so no journal is needed: there is no room for one on a full disk.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
    noteOwner(owner, JSON.stringify({ pid: process.pid, doing, version, since: new Date().toISOString() }))
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY')
      throw stop(
        'data_folder_locked',
        `the data folder ${data} is in use by ${readOwner(owner)}: stop that process first, or choose another folder with --data`,
        error,
      )
    if (systemFault(error)?.code === 'damaged_file')
      throw stop(
        'lock_damaged',
        `${join(data, 'lock.sqlite')} is damaged: delete it. It only marks the folder as in use, and the next start makes it again.`,
        error,
      )
    throw stop(
      'data_folder_unusable',
      `the data folder ${data} cannot be written to (${messageOf(error)}): ${isFull(error) ? 'free some space on the disk' : 'check its owner and permissions'}, or choose another with --data`,
      error,
    )
  }
  return { release: () => void db.close() }
}

const ASKED_MS = 100

const isFull = (error: unknown): boolean => systemFault(error)?.code === 'disk_full'

/** In place of what the last one noted, whose room is there on a full disk, too. */
const noteOwner = (file: string, text: string) => {
  makePrivateFile(file)
  try {
    writeFileSync(file, text, { flag: 'r+' })
    truncateSync(file, Buffer.byteLength(text))
  } catch (error) {
    // Only messages name the owner.
    if (!isFull(error)) throw error
  }
}

/** Command of the process that locks the folder, such as `serve`; undefined if unlocked. */
export const lockedFor = (data: string, native?: string): string | undefined => {
  const file = join(data, 'lock.sqlite')
  if (!existsSync(file)) return undefined
  const options = { readonly: true, timeout: 0, ...(native ? { nativeBinding: native } : {}) }
  let db: Database.Database | undefined
  try {
    db = new Database(file, options)
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    return undefined
  } catch (error) {
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') return undefined
    return ownerIn(join(data, 'lock.json'))?.doing ?? ''
  } finally {
    db?.close()
  }
}

const readOwner = (file: string): string => {
  const owner = ownerIn(file)
  if (!owner) return 'another process'
  const { pid, doing, since } = owner
  return `process ${pid} (chainsieve ${doing}${owner.version ? ` ${owner.version}` : ''}, since ${since})`
}

const ownerIn = (file: string): { pid: number; doing: string; version?: string; since: string } | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
