import { closeSync, fdatasyncSync, fstatSync, openSync, readSync } from 'node:fs'
import { sumOf } from './sums.ts'

/** The write-ahead log beside a store: committed pages that SQLite has not copied into the store's file yet. */
export interface LogFile {
  /** Changes with each log that is begun; 0 where there is none. */
  salts: bigint
  /** Whether it has no head that holds: then SQLite takes it for empty. */
  broken: boolean
  /** Frames up to and with the last commit. */
  frames: number
  /** Checksums of what was last committed of each page. */
  pages: ReadonlyMap<number, number>
  /** To go on from later. */
  end: LogEnd
}

/** Where a reading of the log ended, and SQLite's own checksum up to there. */
export interface LogEnd {
  salts: bigint
  frames: number
  sum: readonly [number, number]
}

export const PAGE = 4096
/** Size of a log that holds nothing but its head. */
const HEAD = 32
const FRAME_HEAD = 24
const FRAME = FRAME_HEAD + PAGE
/** SQLite's mark of a log whose checksums are over little-endian words, as all machines have them that Node runs on. */
const MAGIC = 0x377f0682
/** Frames that are read at a time: some 1 MB. */
const FRAMES = 256

/** What the log holds behind `after`, or all of it where another one was begun since. */
export const readLog = (store: string, after?: LogEnd): LogFile => {
  const file = open(`${store}-wal`)
  if (file === undefined) return NO_LOG
  try {
    if (fstatSync(file).size === 0) return NO_LOG
    const head = readHead(file)
    if (!head) return { ...NO_LOG, broken: true }
    return readFrames(file, after?.salts === head.salts ? after : head)
  } finally {
    closeSync(file)
  }
}

/** Has the disk keep what the log holds. */
export const syncLog = (store: string) => {
  const file = open(`${store}-wal`, 'r+')
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
  pages: new Map(),
  end: { salts: 0n, frames: 0, sum: [0, 0] },
}

const open = (path: string, mode = 'r'): number | undefined => {
  try {
    return openSync(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const readHead = (file: number): LogEnd | undefined => {
  const head = Buffer.alloc(HEAD)
  if (readSync(file, head, 0, HEAD, 0) < HEAD) return undefined
  const sum = chain(wordsOf(head), 0, 6, [0, 0])
  const holds =
    head.readUInt32BE(0) === MAGIC &&
    head.readUInt32BE(8) === PAGE &&
    head.readInt32BE(24) === sum[0] &&
    head.readInt32BE(28) === sum[1]
  return holds ? { salts: head.readBigUInt64BE(16), frames: 0, sum } : undefined
}

const readFrames = (file: number, from: LogEnd): LogFile => {
  const chunk = Buffer.alloc(FRAMES * FRAME)
  const words = wordsOf(chunk)
  const pages = new Map<number, number>()
  let pending: [page: number, sum: number][] = []
  let end = from
  let { frames, sum } = from
  for (;;) {
    const size = readSync(file, chunk, 0, chunk.length, HEAD + frames * FRAME)
    const whole = Math.floor(size / FRAME)
    for (let i = 0; i < whole; i++) {
      const at = i * FRAME
      if (chunk.readBigUInt64BE(at + 8) !== from.salts) return { ...end, broken: false, pages, end }
      sum = chain(words, at / 4, at / 4 + 2, sum)
      sum = chain(words, (at + FRAME_HEAD) / 4, (at + FRAME) / 4, sum)
      if (chunk.readInt32BE(at + 16) !== sum[0] || chunk.readInt32BE(at + 20) !== sum[1])
        return { ...end, broken: false, pages, end }
      frames++
      const page = chunk.readUInt32BE(at)
      pending.push([page, sumOf(page, chunk.subarray(at + FRAME_HEAD, at + FRAME))])
      if (chunk.readUInt32BE(at + 4) === 0) continue
      for (const [page, sum] of pending) pages.set(page, sum)
      pending = []
      end = { salts: from.salts, frames, sum }
    }
    if (whole < FRAMES) return { ...end, broken: false, pages, end }
  }
}

/** SQLite's checksum of its log, over pairs of words. */
const chain = (words: Int32Array, from: number, to: number, [a, b]: readonly [number, number]): [number, number] => {
  for (let i = from; i < to; i += 2) {
    a = (a + words[i]! + b) | 0
    b = (b + words[i + 1]! + a) | 0
  }
  return [a, b]
}

const wordsOf = (bytes: Buffer): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
