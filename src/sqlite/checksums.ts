import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
// Default import: a named one that an older Node lacks would fail before the version check.
import zlib from 'node:zlib'
import { makePrivateFile } from '../lib/files.ts'
import { damagedBecause } from './damage.ts'

/**
 * Checksums of a store's pages, in a file next to it: 4 bytes a page, in order. Valid for all pages
 * outside the write-ahead log: written before SQLite copies a page from there; see verify-pages.ts.
 */
export type Sums = ReturnType<typeof createSums>

export const sumsFile = (store: string): string => `${store}-sums`

/** CRC-32 of a page's number and content, which also detects a misplaced page. */
export const pageSum = (page: number, content: Uint8Array): number => zlib.crc32(content, page)

/** Header, little-endian: 8 bytes of mark, 8 of log salts, 4 of log frames, 4 of damaged page. */
const SUMS_MARK = Buffer.from('chsums\0\x01', 'latin1')
const SUMS_HEAD_BYTES = 24
/** Checksums that are read and written together: one page of a disk. */
const SUMS_PER_RUN = 1024

/** Undefined without checksums: an old store, or a copy of its file alone. */
export const openSums = (store: string, mode: 'r' | 'r+'): Sums | undefined => {
  let file: number
  try {
    file = openSync(sumsFile(store), mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const mark = Buffer.alloc(SUMS_MARK.length)
  readSync(file, mark, 0, SUMS_MARK.length, 0)
  if (mark.equals(SUMS_MARK)) return createSums(file)
  closeSync(file)
  // New checksums would accept any damage that the store's file has by now.
  throw damagedBecause(sumsFile(store), 'it does not begin as a file of checksums does', WITHOUT_SUMS)
}

const WITHOUT_SUMS =
  'Check the disk, and restore a backup. Without one, remove this file: the store gets new checksums then, and damage that it has by now goes unnoticed.'

/** Recreates the file with what `fill` writes: a kill leaves no file rather than a partial one. */
export const makeSums = (store: string, fill: (sums: Sums) => void): Sums => {
  const made = `${sumsFile(store)}-new`
  makePrivateFile(made)
  const file = openSync(made, 'w+')
  const sums = createSums(file)
  try {
    writeSync(file, Buffer.concat([SUMS_MARK, Buffer.alloc(SUMS_HEAD_BYTES - SUMS_MARK.length)]), 0, SUMS_HEAD_BYTES, 0)
    fill(sums)
    fdatasyncSync(file)
    renameSync(made, sumsFile(store))
    return sums
  } catch (error) {
    sums.close()
    rmSync(made, { force: true })
    throw error
  }
}

export const dropSums = (store: string) => rmSync(sumsFile(store), { force: true })

const createSums = (file: number) => {
  const head = Buffer.alloc(SUMS_HEAD_BYTES)
  const readHead = () => {
    readSync(file, head, 0, SUMS_HEAD_BYTES, 0)
    return head
  }
  const count = () => Math.max(0, Math.floor((fstatSync(file).size - SUMS_HEAD_BYTES) / 4))

  const read = (first: number, wanted: number): Uint32Array => {
    const sums = new Uint32Array(wanted)
    const size = readSync(file, sums, 0, wanted * 4, SUMS_HEAD_BYTES + (first - 1) * 4)
    return sums.subarray(0, size >> 2)
  }

  return {
    /** Number of pages with a checksum: the file has at least these, except those in the log. */
    count,
    /** Checksums of neighbouring pages, fewer at the end of the file. Pages count from 1. */
    read,
    /** Writes checksums by page, and syncs them. */
    write(sums: ReadonlyMap<number, number>): void {
      const pages = Uint32Array.from(sums.keys()).sort()
      for (let i = 0; i < pages.length; ) {
        const first = pages[i]! - ((pages[i]! - 1) % SUMS_PER_RUN)
        const run = new Uint32Array(SUMS_PER_RUN)
        const before = read(first, SUMS_PER_RUN)
        run.set(before)
        let size = before.length
        for (; i < pages.length && pages[i]! < first + SUMS_PER_RUN; i++) {
          const at = pages[i]! - first
          run[at] = sums.get(pages[i]!)!
          size = Math.max(size, at + 1)
        }
        writeSync(file, run, 0, size * 4, SUMS_HEAD_BYTES + (first - 1) * 4)
      }
      fdatasyncSync(file)
    },
    /** Log salts and frames known to be on disk: a shorter log is damaged. */
    log(): { salts: bigint; frames: number } {
      const head = readHead()
      return { salts: head.readBigUInt64LE(8), frames: head.readUInt32LE(16) }
    },
    setLog(salts: bigint, frames: number): void {
      const log = Buffer.alloc(12)
      log.writeBigUInt64LE(salts, 0)
      log.writeUInt32LE(frames, 8)
      writeSync(file, log, 0, log.length, 8)
    },
    /** The first page recorded as damaged; 0 for none. */
    damaged: (): number => readHead().readUInt32LE(20),
    setDamaged(page: number): void {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32LE(page)
      writeSync(file, bytes, 0, 4, 20)
    },
    close: (): void => closeSync(file),
  }
}
