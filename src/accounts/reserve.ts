import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { systemFault } from '../lib/errors.ts'

const FILE = 'accounts.reserve'
const SIZE = 1 << 20
/** More than SQLite needs to open the file and to commit a small change. */
const STEP = 128 << 10

const pathIn = (folder: string) => join(folder, FILE)

/** Takes room on the disk while there is some, for what must be written when there is none. */
export const keepReserve = (folder: string): void => {
  try {
    const fd = openSync(pathIn(folder), 'a', 0o600)
    try {
      // Not zeros, which some file systems store in no room at all.
      for (let size = statSync(pathIn(folder)).size; size < SIZE; size += STEP) writeSync(fd, randomBytes(STEP))
    } finally {
      closeSync(fd)
    }
  } catch {
    // The disk is full or not writable: the next write says so.
  }
}

/** Does what must be done also on a full disk, such as a revocation: the room that was kept for it is given up bit by bit. */
export const withReserve = <T>(folder: string, work: () => T): T => {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (systemFault(error)?.code !== 'disk_full' || !giveUp(folder)) throw error
    }
  }
}

/** Returns whether there was something left to give up. */
const giveUp = (folder: string): boolean => {
  try {
    const { size } = statSync(pathIn(folder))
    if (size === 0) return false
    const fd = openSync(pathIn(folder), 'r+')
    try {
      ftruncateSync(fd, Math.max(0, size - STEP))
    } finally {
      closeSync(fd)
    }
    return true
  } catch {
    return false
  }
}
