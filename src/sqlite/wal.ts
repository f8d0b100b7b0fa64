import { closeSync, fdatasyncSync, fstatSync, openSync, readSync } from 'node:fs'
import { pageSum } from './checksums.ts'

/** SQLite's write-ahead log (WAL): committed pages that await a checkpoint. */
export interface LogFile {
  /** Changes with each new log; 0 without one. */
  salts: bigint
  /** Whether its header is invalid: SQLite then treats it as empty. */
  broken: boolean
  /** Frames up to and with the last commit. */
  frames: number
  /** First damaged frame, or the first one after the log. */
  stop: number
  /** Checksum of each page's last commit. */
  pages: ReadonlyMap<number, number>
  /** Frame number of each page in the log, from 0. */
  places: ReadonlyMap<number, number>
  /** Size of the store in pages at the last commit read; 0 without one. */
  size: number
  /** Start of the next read. */
  end: LogEnd
}

/** Position where reading ended, and SQLite's own checksum up to it. */
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
/** SQLite's magic number for little-endian checksums, as on all machines that run Node. */
const MAGIC = 0x377f0682
/** Frames per read: some 1 MB. */
const FRAMES = 256

/** Reads the log after `after`, or all of it if another log was begun since. */
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
 * Counts transactions after a damaged frame, where the log ends for SQLite. A write that was cut
 * short, as by a kill, has nothing after it.
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
