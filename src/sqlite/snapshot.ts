import { fstatSync, readSync } from 'node:fs'
import Database from 'better-sqlite3'
import { openSums, pageSum } from './checksums.ts'
import { asDamage, damagedBecause, damagedStore, findFaults } from './damage.ts'
import type { Db } from './database.ts'
import { LOCK_PAGE, rawFile, refuseEmptied } from './verify-pages.ts'
import { type LogFile, readLoggedPage, readWriteAheadLog, SQLITE_PAGE_BYTES } from './wal.ts'

/**
 * One state of a database file, page by page, during writes. Its read transaction keeps SQLite from
 * copying newer pages into the file and from emptying the log while the snapshot is open.
 */
export type FileSnapshot = ReturnType<typeof pinned>

/** Pages that may be read in one go. */
export const SNAPSHOT_RUN = 256

export const openSnapshot = (path: string, native?: string, check: (db: Db) => void = () => {}): FileSnapshot => {
  refuseEmptied(path)
  const open = () =>
    new Database(path, {
      readonly: true,
      fileMustExist: true,
      timeout: 5_000,
      ...(native ? { nativeBinding: native } : {}),
    })
  const db = open()
  try {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    check(db)
    return pinned(path, db, open)
  } catch (error) {
    db.close()
    throw asDamage(error, path)
  }
}

const pinned = (path: string, db: Db, openAnother: () => Db) => {
  // Before the log: a checksum that is newer than the file's page is then one of a page in the log.
  const sums = readSnapshotSums(path)
  const log = readWriteAheadLog(path)
  const file = rawFile(path)
  const pages = log.size || Math.ceil(fstatSync(file).size / SQLITE_PAGE_BYTES)
  if (pages === 0) throw damagedBecause(path, 'it has 0 bytes')
  // Without checksums SQLite at least knows how its pages fit together.
  const checkStructure = (db: Db) => {
    const [fault] = sums ? [] : findFaults(db, 'quick_check')
    if (fault !== undefined) throw damagedBecause(path, fault)
  }
  checkStructure(db)
  const buffer = Buffer.alloc(SNAPSHOT_RUN * SQLITE_PAGE_BYTES)

  const known = (first: number, count: number) =>
    Array.from({ length: count }, (_, i) => log.pages.get(first + i) ?? sums?.[first + i - 1])

  return {
    path,
    /** Number of pages. They count from 1. */
    pages,
    /** Checksums that need no reading of pages; undefined if the file has none. */
    known,
    /** Content of neighbouring pages; the next call reuses the buffer. Throws on a damaged page. */
    read(first: number, count: number): Buffer {
      const content = buffer.subarray(0, count * SQLITE_PAGE_BYTES)
      content.fill(0)
      const size = readSync(file, content, 0, content.length, (first - 1) * SQLITE_PAGE_BYTES)
      for (let page = first; page < first + count; page++) {
        const bytes = content.subarray((page - first) * SQLITE_PAGE_BYTES, (page - first + 1) * SQLITE_PAGE_BYTES)
        if (page === LOCK_PAGE) bytes.fill(0)
        else if (log.pages.has(page)) readLogged(path, log, page, bytes)
        else if ((page - first + 1) * SQLITE_PAGE_BYTES > size || (sums && pageSum(page, bytes) !== sums[page - 1]))
          throw damagedStore(path, [page])
      }
      return content
    },
    /** Throws if a file without checksums is damaged by now: earlier reads may have been, too. */
    checkAgain(): void {
      if (sums) return
      // The first one remembers the pages that it has read.
      const another = openAnother()
      try {
        checkStructure(another)
      } catch (error) {
        throw asDamage(error, path)
      } finally {
        another.close()
      }
    },
    close: (): void => void db.close(),
  }
}

/** `bytes`: the file's content, which is right if the log was copied and a new one begun. */
const readLogged = (path: string, log: LogFile, page: number, bytes: Buffer) => {
  const sum = log.pages.get(page)
  if (pageSum(page, bytes) === sum) return
  if (!readLoggedPage(path, log.places.get(page)!, bytes) || pageSum(page, bytes) !== sum)
    throw damagedStore(path, [page])
}

const readSnapshotSums = (path: string): Uint32Array | undefined => {
  const sums = openSums(path, 'r')
  if (!sums) return undefined
  try {
    if (sums.damaged() > 0) throw damagedStore(path, [sums.damaged()])
    return sums.read(1, sums.count())
  } finally {
    sums.close()
  }
}
