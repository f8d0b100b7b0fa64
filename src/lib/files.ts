import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Private to the user under any umask: files contain alerts and rules of all accounts. */
export const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/** Creates a folder; an existing one keeps the mode that its owner may have chosen. */
export const makePrivateFolder = (path: string) => {
  if (mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER }) !== undefined) chmodSync(path, PRIVATE_FOLDER)
}

/** Creates a private file for SQLite, which gives its other files the same mode. */
export const makePrivateFile = (path: string) => {
  createIfMissing(path)
  for (const suffix of ['', '-wal', '-shm', '-sums', '-journal']) keepPrivate(path + suffix)
}

/** Never opens an existing file: closing it would release the locks of this process. */
const createIfMissing = (path: string) => {
  try {
    closeSync(openSync(path, 'ax', PRIVATE_FILE))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Opens anything but a file, which fails with a clear error.
    if (!statSync(path).isFile()) closeSync(openSync(path, 'a'))
  }
}

const keepPrivate = (path: string) => {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined || (mode & 0o777) === PRIVATE_FILE) return
  try {
    chmodSync(path, PRIVATE_FILE)
  } catch (error) {
    // Only the owner may change who can open it.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

export const syncFile = (path: string) => {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Syncs the directory entries of a folder. Windows has no such call, and needs none. */
export const syncFolder = (path: string) => {
  if (process.platform === 'win32') return
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

export const writeDurably = (path: string, content: string | Uint8Array) => {
  writeFileSync(path, content, { mode: PRIVATE_FILE })
  syncFile(path)
}

/** Writes a whole file, or leaves the one before: a power cut after a mere rename may leave an empty one. */
export const replaceFile = (path: string, content: string) => {
  writeDurably(`${path}.new`, content)
  renameSync(`${path}.new`, path)
  syncFolder(dirname(path))
}

/**
 * Its modification time is the last trusted time: a wrong clock must not make data look old. It
 * can be set even on a full disk.
 */
const fileIn = (folder: string): string => join(folder, 'last-clock')
/** Undefined if no time was recorded yet. */
export const readLastClock = (folder: string): number | undefined =>
  statSync(fileIn(folder), { throwIfNoEntry: false })?.mtimeMs
export const noteLastClock = (folder: string, time: number): void => {
  const path = fileIn(folder)
  closeSync(openSync(path, 'a', PRIVATE_FILE))
  utimesSync(path, time / 1_000, time / 1_000)
}

/** Epoch milliseconds that ages are measured to, for removal. */
export const ageClock = (folder: string, now: number = Date.now()): number =>
  Math.min(now, readLastClock(folder) ?? now)

const READ_SIZE = 1 << 20
/** Reads a file, pipe or device; undefined, without reading on, beyond `most` bytes. */
export const readAtMost = (path: string, most: number): Buffer | undefined => {
  const file = openSync(path, 'r')
  try {
    const parts: Buffer[] = []
    for (let total = 0; ; ) {
      const part = Buffer.allocUnsafe(READ_SIZE)
      const size = readSync(file, part, 0, READ_SIZE, null)
      if (size === 0) return Buffer.concat(parts)
      total += size
      if (total > most) return undefined
      parts.push(part.subarray(0, size))
    }
  } finally {
    closeSync(file)
  }
}
/** Collects a stream; undefined beyond `most` bytes. */
export const collectAtMost = async (stream: AsyncIterable<unknown>, most: number): Promise<Buffer | undefined> => {
  const parts: Buffer[] = []
  let total = 0
  for await (const chunk of stream) {
    const part = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer)
    total += part.length
    if (total > most) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
