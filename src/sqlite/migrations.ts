import type { Db } from './database.ts'

export const versionOf = (db: Db): number => db.pragma('user_version', { simple: true }) as number

/**
 * Brings a file to a version, step by step. `stepTo` gives the statements that lead to a version from the one before; what was released of them
 * is never edited. All is one transaction: a kill leaves the old version or the new one.
 */
export const migrate = (db: Db, version: number, stepTo: (version: number) => readonly string[]) =>
  db
    .transaction(() => {
      // Another process may have been first.
      for (let next = versionOf(db) + 1; next <= version; next++)
        for (const statement of stepTo(next)) db.exec(statement)
      db.pragma(`user_version = ${version}`)
    })
    .immediate()
