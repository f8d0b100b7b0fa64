import { closeSync, fdatasyncSync, fstatSync, openSync, readSync } from 'node:fs'
import { pageSum } from './sums.ts'

/** The write-ahead log beside a store: committed pages that SQLite has not copied into the store's file yet. */
export interface LogFile {
  /** Changes with each log that is begun; 0 where there is none. */
  salts: bigint
  /** Whether it has no head that holds: then SQLite takes it for empty. */
  broken: boolean
  /** Frames up to and with the last commit. */
  frames: number
  /** The frame that is not what was written, or the first one behind the log. */
  stop: number
  /** Checksums of what was last committed of each page. */
  pages: ReadonlyMap<number, number>
  /** Where in the log that is: number of the frame, from 0. */
  places: ReadonlyMap<number, number>
  /** Pages of the whole store as of the last commit that was read; 0 where none was. */
  size: number
  /** To go on from later. */
  end: LogEnd
}

/** Where a reading of the log ended, and SQLite's own checksum up to there. */
export interface LogEnd {
  salts: bigint
  frames: number
  sum: readonly [number, number]
}

export const SQLITE_PAGE_BYTES = 4096
/** Size of a log that holds nothing but its head. */
const LOG_HEAD_BYTES = 32
const FRAME_HEAD = 24
const LOG_FRAME_BYTES = FRAME_HEAD + SQLITE_PAGE_BYTES
/** SQLite's mark of a log whose checksums are over little-endian words, as all machines have them that Node runs on. */
const MAGIC = 0x377f0682
/** Frames that are read at a time: some 1 MB. */
const FRAMES = 256

/** What the log holds behind `after`, or all of it where another one was begun since. */
export const readWriteAheadLog = (store: string, after?: LogEnd): LogFile => {
  const file = openLog(`${store}-wal`)
  if (file === undefined) return NO_LOG
  try {
    if (fstatSync(file).size === 0) return NO_LOG
    const head = readLogHead(file)
    if (!head) return { ...NO_LOG, broken: true }
    return readLogFrames(file, after?.salts === head.salts ? after : head)
  } finally {
    closeSync(file)
  }
}

/** Reads what a frame of the log holds into `into`; false where the log is not that long. */
export const readLoggedPage = (store: string, place: number, into: Buffer): boolean => {
  const file = openLog(`${store}-wal`)
  if (file === undefined) return false
  try {
    return (
      readSync(file, into, 0, SQLITE_PAGE_BYTES, LOG_HEAD_BYTES + place * LOG_FRAME_BYTES + FRAME_HEAD) ===
      SQLITE_PAGE_BYTES
    )
  } finally {
    closeSync(file)
  }
}

/**
 * Transactions that the log holds behind a frame which is not what was written. SQLite takes the log to end there. A write that was cut
 * short, as by a kill, has nothing behind it.
 */
export const countDropped = (store: string): number => {
  const { broken, stop, ...log } = readWriteAheadLog(store)
  const file = openLog(`${store}-wal`)
  if (file === undefined) return 0
  try {
    const head = Buffer.alloc(FRAME_HEAD)
    const readFrame = (place: number) =>
      readSync(file, head, 0, FRAME_HEAD, LOG_HEAD_BYTES + place * LOG_FRAME_BYTES) === FRAME_HEAD &&
      head.readBigUInt64BE(8)
    const salts = broken ? readFrame(0) : log.salts
    const frames = Math.floor((fstatSync(file).size - LOG_HEAD_BYTES) / LOG_FRAME_BYTES)
    let commits = 0
    for (let place = broken ? 0 : stop + 1; place < frames; place++)
      if (readFrame(place) === salts && head.readUInt32BE(4) > 0) commits++
    return commits
  } finally {
    closeSync(file)
  }
}

/** Has the disk keep what the log holds. */
export const syncWriteAheadLog = (store: string) => {
  const file = openLog(`${store}-wal`, 'r+')
  if (file === undefined) return
  try {
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

const NO_LOG: LogFile = {
  salts: 0n,
  broken: false,
  frames: 0,
  stop: 0,
  pages: new Map(),
  places: new Map(),
  size: 0,
  end: { salts: 0n, frames: 0, sum: [0, 0] },
}

const openLog = (path: string, mode = 'r'): number | undefined => {
  try {
    return openSync(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const readLogHead = (file: number): LogEnd | undefined => {
  const head = Buffer.alloc(LOG_HEAD_BYTES)
  if (readSync(file, head, 0, LOG_HEAD_BYTES, 0) < LOG_HEAD_BYTES) return undefined
  const sum = logChecksum(int32Words(head), 0, 6, [0, 0])
  const holds =
    head.readUInt32BE(0) === MAGIC &&
    head.readUInt32BE(8) === SQLITE_PAGE_BYTES &&
    head.readInt32BE(24) === sum[0] &&
    head.readInt32BE(28) === sum[1]
  return holds ? { salts: head.readBigUInt64BE(16), frames: 0, sum } : undefined
}

const readLogFrames = (file: number, from: LogEnd): LogFile => {
  const chunk = Buffer.alloc(FRAMES * LOG_FRAME_BYTES)
  const words = int32Words(chunk)
  const pages = new Map<number, number>()
  const places = new Map<number, number>()
  let size = 0
  let pending: [page: number, sum: number, place: number][] = []
  let end = from
  let { frames, sum } = from
  const found = (): LogFile => ({ ...end, stop: frames, broken: false, pages, places, size, end })
  for (;;) {
    const read = readSync(file, chunk, 0, chunk.length, LOG_HEAD_BYTES + frames * LOG_FRAME_BYTES)
    const whole = Math.floor(read / LOG_FRAME_BYTES)
    for (let i = 0; i < whole; i++) {
      const at = i * LOG_FRAME_BYTES
      if (chunk.readBigUInt64BE(at + 8) !== from.salts) return found()
      sum = logChecksum(words, at / 4, at / 4 + 2, sum)
      sum = logChecksum(words, (at + FRAME_HEAD) / 4, (at + LOG_FRAME_BYTES) / 4, sum)
      if (chunk.readInt32BE(at + 16) !== sum[0] || chunk.readInt32BE(at + 20) !== sum[1]) return found()
      const page = chunk.readUInt32BE(at)
      pending.push([page, pageSum(page, chunk.subarray(at + FRAME_HEAD, at + LOG_FRAME_BYTES)), frames])
      frames++
      const committed = chunk.readUInt32BE(at + 4)
      if (committed === 0) continue
      for (const [page, sum, place] of pending) {
        pages.set(page, sum)
        places.set(page, place)
      }
      pending = []
      size = committed
      end = { salts: from.salts, frames, sum }
    }
    if (whole < FRAMES) return found()
  }
}

/** SQLite's checksum of its log, over pairs of words. */
const logChecksum = (
  words: Int32Array,
  from: number,
  to: number,
  [a, b]: readonly [number, number],
): [number, number] => {
  for (let i = from; i < to; i += 2) {
    a = (a + words[i]! + b) | 0
    b = (b + words[i + 1]! + a) | 0
  }
  return [a, b]
}

const int32Words = (bytes: Buffer): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
