import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { makePrivateFile, syncFile } from '../lib/private.ts'

/**
 * Makes a database file where there is none, whole or not at all, also where several processes do so at once: then one of 0 bytes is never
 * new. `make` has to write something.
 */
export const makeDatabase = (path: string, native: string | undefined, make: (db: Database.Database) => void) => {
  if (existsSync(path)) return
  const made = `${path}-new-${process.pid}-${threadId}`
  try {
    makePrivateFile(made)
    const db = new Database(made, native ? { nativeBinding: native } : {})
    try {
      make(db)
    } finally {
      db.close()
    }
    syncFile(made)
    place(made, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(made + suffix, { force: true })
  }
}

const place = (made: string, path: string) => {
  try {
    linkSync(made, path)
  } catch {
    // Another process was first, or the file system has no second name for a file.
    if (!existsSync(path)) renameSync(made, path)
  }
}
