import { closeSync, openSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { PRIVATE_FILE } from './private.ts'

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
