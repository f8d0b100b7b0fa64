import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

/** What is kept is for the user alone that runs the program, whatever the umask: alerts and rules of all accounts are in it. */
export const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/** Makes a folder. One that is there keeps its mode, which its owner may have meant: what lies in it has its own. */
export const makePrivateFolder = (path: string) => {
  if (mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER }) !== undefined) chmodSync(path, PRIVATE_FOLDER)
}

/** Creates a file for SQLite that nobody else may open; SQLite gives its other files the same mode. */
export const makePrivateFile = (path: string) => {
  createIfMissing(path)
  for (const suffix of ['', '-wal', '-shm', '-sums', '-journal']) keepPrivate(path + suffix)
}

/** One that is there is not opened: to close it again would give up the locks of this process's connections to it. */
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

/** Has the disk keep a file. */
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
/** Undefined where the folder has not been in use since it is noted. */
export const readLastClock = (folder: string): number | undefined =>
  statSync(fileIn(folder), { throwIfNoEntry: false })?.mtimeMs
export const noteLastClock = (folder: string, time: number): void => {
  const path = fileIn(folder)
  closeSync(openSync(path, 'a', PRIVATE_FILE))
  utimesSync(path, time / 1_000, time / 1_000)
}

/** Epoch milliseconds that ages are counted up to, where what is too old is removed. */
export const ageClock = (folder: string, now: number = Date.now()): number =>
  Math.min(now, readLastClock(folder) ?? now)
