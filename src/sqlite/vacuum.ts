import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { damagedBecause } from './damage.ts'
import { findFaults } from './integrity.ts'
import { sizeOf } from './pages.ts'

/** Has SQLite rewrite a small file in place, while others may have it open. A file that does not exist is skipped. */
export const vacuum = (
  file: string,
  open: () => Database.Database,
): { file: string; before: number; after: number }[] => {
  if (!existsSync(file)) return []
  const db = open()
  try {
    const [fault] = findFaults(db, 'quick_check')
    if (fault !== undefined) throw damagedBecause(file, fault, 'Check the disk, and restore a backup.')
    const before = sizeOf(file)
    db.exec('VACUUM')
    db.pragma('wal_checkpoint(TRUNCATE)')
    return [{ file, before, after: sizeOf(file) }]
  } finally {
    db.close()
  }
}
