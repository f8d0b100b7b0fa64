import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { stop } from '../lib/errors.ts'
import { damagedBecause } from './damage.ts'
import { findFaults } from './integrity.ts'
import { findEmptied } from './pages.ts'

/** The layout of a file that several processes open: step n leads from version n to n + 1. What was released is never edited. */
export interface Steps {
  /** What the file holds; error codes begin with it. */
  holds: 'accounts' | 'deliveries'
  /** A table that every version has. */
  table: string
  steps: readonly string[]
  /** Code of the error of a damaged file, and how the sentence goes on that has it moved away. */
  damage: { code: string; loses: string }
}

export const damagedFile = (file: string, why: string, { damage }: Steps, cause?: unknown) =>
  stop(
    damage.code,
    `${file} is damaged: ${why}. Restore a backup with chainsieve restore; without one, move it away with those whose names ` +
      `begin like it${damage.loses}.`,
    cause,
  )

/** SQLite would take an empty file for a new one, and what it held would be forgotten without a word. */
export const refuseEmptied = (path: string, layout: Steps) => {
  const found = findEmptied(path, true)
  if (found) throw damagedFile(found.file, found.why, layout)
}

/** What is wrong with a file, by the check of SQLite. */
export const faultsIn = (path: string, native: string | undefined, layout: Steps): string[] => {
  refuseEmptied(path, layout)
  const db = new Database(path, { readonly: true, ...(native ? { nativeBinding: native } : {}) })
  try {
    return findFaults(db, 'integrity_check')
  } finally {
    db.close()
  }
}

/** Whether an older version wrote a file, without a change of it. One of a newer version is refused. */
export const isFileOlder = (path: string, native: string | undefined, layout: Steps): boolean => {
  refuseEmptied(path, layout)
  if (!existsSync(path)) return false
  const db = new Database(path, { readonly: true, timeout: 5_000, ...(native ? { nativeBinding: native } : {}) })
  try {
    return isOlder(db, layout)
  } finally {
    db.close()
  }
}

/** Refuses a database that holds something else. */
export const checkHolds = (db: Database.Database, { holds, table }: Steps) => {
  if (versionOf(db) > 0 && !db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table))
    throw damagedBecause(
      db.name,
      `it does not hold ${holds}`,
      'Put each file back under its own name, or restore a backup.',
    )
}

const isOlder = (db: Database.Database, layout: Steps): boolean => {
  checkHolds(db, layout)
  const { holds, steps } = layout
  const version = versionOf(db)
  if (version > steps.length)
    throw stop(
      `${holds}_newer`,
      `${db.name} was written by a newer version of Chainsieve (${holds} version ${version}, this one knows ` +
        `${steps.length}): run that version, or choose another data folder with --data`,
    )
  return version > 0 && version < steps.length
}

/**
 * Gives a new file its tables. An older one is refused: only whoever keeps the whole data folder upgrades it, since a server of that version
 * may have it open.
 */
export const makeTables = (db: Database.Database, layout: Steps) => {
  if (isOlder(db, layout))
    throw stop(
      `${layout.holds}_older`,
      `${db.name} was written by an older version of Chainsieve (${layout.holds} version ${versionOf(db)}, this one knows ` +
        `${layout.steps.length}): back up and start chainsieve serve, which upgrades it; beside a running server, use the version of that`,
    )
  if (versionOf(db) === 0) upgrade(db, layout)
}

/** In one transaction: a kill leaves the old version or the new one. */
export const upgrade = (db: Database.Database, { steps }: Steps) =>
  db
    .transaction(() => {
      // Another process may have been first.
      for (const step of steps.slice(versionOf(db))) db.exec(step)
      db.pragma(`user_version = ${steps.length}`)
    })
    .immediate()

const versionOf = (db: Database.Database): number => db.pragma('user_version', { simple: true }) as number
