import { ChainsieveError } from '../lib/errors.ts'
import { openSums, type Sums } from './checksums.ts'
import { damagedBecause, damagedStore, exchanged, findFaults } from './damage.ts'
import type { Db } from './database.ts'
import { fileIdentity, findReplaced, sealPages } from './verify-pages.ts'
import { type LogEnd, readWriteAheadLog, SQLITE_PAGE_BYTES, syncWriteAheadLog } from './wal.ts'

export interface Copied {
  /** Times. */
  count: number
  seconds: number
}

/** Log pages that trigger a copy: 64 MB, so pages that change often are copied once. */
const CHECKPOINT_PAGES = 2 ** 26 / SQLITE_PAGE_BYTES

/** Checkpoints copy the WAL into a store's file, after writing the checksums of its pages. */
export type Checkpoints = ReturnType<typeof createCheckpoints>

/** `db` writes the store, and must make no checkpoints itself. */
export const createCheckpoints = (db: Db, store: string) => {
  const sums = openSums(store, 'r+') ?? sealChecked(db, store)
  const checked = createPageSet()
  /** End of the log as read so far. */
  let end: LogEnd | undefined
  /** The end of the log at the last try to copy it. */
  let tried = 0

  /** Writes checksums of the pages that the log gained since the last call. */
  const takeSums = () => {
    const log = readWriteAheadLog(store, end)
    // For pages that were in the log when it was opened, the file may have old or new content.
    if (end) refuseDamaged([...log.pages.keys()].filter(page => !checked.has(page)))
    for (const page of log.pages.keys()) checked.add(page)
    // A power cut must not leave checksums of what it took from the log.
    if (log.pages.size > 0) syncWriteAheadLog(store)
    sums.write(log.pages)
    end = log.end
  }

  const refuseDamaged = (pages: number[]) => {
    const page = findReplaced(
      store,
      sums,
      pages.sort((a, b) => a - b),
    )
    if (page === undefined) return
    sums.setDamaged(page)
    throw damagedStore(store, [page])
  }

  const copied: Copied = { count: 0, seconds: 0 }
  const checkFiles = fileCheck(store)
  const copy = (how: 'PASSIVE' | 'TRUNCATE') => {
    const began = performance.now()
    checkFiles()
    takeSums()
    const [{ checkpointed }] = db.pragma(`wal_checkpoint(${how})`) as [{ checkpointed: number }]
    // Only now the log is sure to be on the disk.
    if (end) sums.setLog(end.salts, Math.max(0, checkpointed))
    copied.count++
    copied.seconds += (performance.now() - began) / 1_000
  }

  takeSums()

  checkFiles()

  return {
    copied,
    /** Refuses if a file was removed or replaced while open: SQLite would use the old one. */
    checkFiles,
    /** Call after commits: copies once the log has grown by `least` pages since the last try. */
    settle(least: number = CHECKPOINT_PAGES) {
      const [{ log }] = db.pragma('wal_checkpoint(NOOP)') as [{ log: number }]
      if (log < tried) tried = 0
      if (log - tried < least) return
      tried = log
      try {
        copy('PASSIVE')
      } catch (error) {
        // Commits are safe in the log; a later call copies them.
        if (error instanceof ChainsieveError) throw error
      }
    },
    /** Copies all that can be copied, and closes the files. */
    close() {
      try {
        // A store that was removed has nothing left to be copied to.
        if (fileIdentity(store) !== undefined) copy('TRUNCATE')
      } finally {
        sums.close()
      }
    },
  }
}

const fileCheck = (store: string) => {
  const known = new Map<string, string>()
  return () => {
    for (const path of [store, `${store}-wal`]) {
      const [before, now] = [known.get(path), fileIdentity(path)]
      if (before !== undefined && now !== before) throw exchanged(path, now !== undefined)
      if (now !== undefined) known.set(path, now)
    }
  }
}

/** Checksums of a copy that came without any: SQLite knows how its pages fit together at least. */
const sealChecked = (db: Db, store: string): Sums => {
  const [fault] = findFaults(db, 'quick_check')
  if (fault !== undefined) throw damagedBecause(store, fault)
  return sealPages(store)
}

/** A set of page numbers, a bit each. */
const createPageSet = () => {
  let bits = new Uint8Array(1 << 12)
  return {
    has: (page: number) => ((bits[page >> 3] ?? 0) & (1 << (page & 7))) !== 0,
    add(page: number) {
      if (page >> 3 >= bits.length) {
        const larger = new Uint8Array(Math.max(bits.length * 2, (page >> 3) + 1))
        larger.set(bits)
        bits = larger
      }
      bits[page >> 3]! |= 1 << (page & 7)
    },
  }
}
