import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

/** Files are private to the user that runs the program, whatever the umask: they hold alerts and rules of all accounts. */
export const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/** Creates a folder. An existing one keeps its mode, which its owner may have chosen. */
export const makePrivateFolder = (path: string) => {
  if (mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER }) !== undefined) chmodSync(path, PRIVATE_FOLDER)
}

/** Creates a file for SQLite that nobody else may open; SQLite gives its other files the same mode. */
export const makePrivateFile = (path: string) => {
  createIfMissing(path)
  for (const suffix of ['', '-wal', '-shm', '-sums', '-journal']) keepPrivate(path + suffix)
}

/** An existing file is not opened: closing it would release the locks of this process's connections. */
const createIfMissing = (path: string) => {
  try {
    closeSync(openSync(path, 'ax', PRIVATE_FILE))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Opening something that is not a file fails with a clear error.
    if (!statSync(path).isFile()) closeSync(openSync(path, 'a'))
  }
}

const keepPrivate = (path: string) => {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined || (mode & 0o777) === PRIVATE_FILE) return
  try {
    chmodSync(path, PRIVATE_FILE)
  } catch (error) {
    // It is its owner's to say who may open it.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

export const syncFile = (path: string) => {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/**
 * The time that a data folder was last in use by a clock that was believed: a clock that is wrong must not make what is kept look old. It
 * is the modification time of a file without content, since that can be set on a full disk, too.
 */
const fileIn = (folder: string): string => join(folder, 'last-clock')
/** Undefined if the folder was not used since it is recorded. */
export const readLastClock = (folder: string): number | undefined =>
  statSync(fileIn(folder), { throwIfNoEntry: false })?.mtimeMs
export const noteLastClock = (folder: string, time: number): void => {
  const path = fileIn(folder)
  closeSync(openSync(path, 'a', PRIVATE_FILE))
  utimesSync(path, time / 1_000, time / 1_000)
}

/** Epoch milliseconds up to which ages are counted for removal. */
export const ageClock = (folder: string, now: number = Date.now()): number =>
  Math.min(now, readLastClock(folder) ?? now)
