import { renameSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { stop, systemFault } from '../lib/errors.ts'
import { makePrivateFile, syncFile } from '../lib/files.ts'
import { dropSums, sumsFile } from './checksums.ts'
import { findFaults } from './damage.ts'
import { refuseDamaged, sealPages, sizeOnDisk } from './verify-pages.ts'

/**
 * Rewrites a store, which no other process may write to, without free pages. A kill leaves the old
 * store or the new one, at worst without checksums, which the next writer restores.
 */
export const compactStore = (store: string, native?: string) => {
  const made = `${store}-compact`
  const options = native ? { nativeBinding: native } : {}
  const remove = () => {
    for (const suffix of ['', '-wal', '-shm', '-sums', '-sums-new']) rmSync(made + suffix, { force: true })
  }
  remove()
  refuseDamaged(store)
  try {
    makePrivateFile(made)
    const db = new Database(store, options)
    try {
      db.prepare('VACUUM INTO ?').run(made)
    } finally {
      db.close()
    }
    const copy = new Database(made, options)
    const faults = findFaults(copy, 'quick_check')
    copy.pragma('journal_mode = WAL')
    copy.close()
    if (faults.length > 0) throw stop('store_damaged', `${store} cannot be compacted: ${faults.join('; ')}`)
    if (sizeOnDisk(`${store}-wal`) > 0)
      throw stop('store_busy', `${store} is in use: stop the programs that read or write it first`)
    replaceStore(store, made)
  } catch (error) {
    remove()
    throw systemFault(error, store) ?? error
  }
}

/** Puts a closed store in the place of another one, with checksums of its pages. */
export const replaceStore = (store: string, made: string) => {
  sealPages(made).close()
  for (const suffix of ['', '-sums']) syncFile(made + suffix)
  for (const suffix of ['-wal', '-shm']) rmSync(store + suffix, { force: true })
  dropSums(store)
  renameSync(made, store)
  renameSync(sumsFile(made), sumsFile(store))
}
