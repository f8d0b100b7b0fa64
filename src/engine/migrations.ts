import type { Db } from '../sqlite/database.ts'

/** A layout of the store, and the way to it from the ones before. */
export interface Layout {
  version: number
  /** Statements that bring a store to this version from the one before it. What was released is never edited. */
  migrations: ReadonlyMap<number, readonly string[]>
}

/** Whether there is a way from an older version. */
export const mayMigrate = (from: number, { version, migrations }: Layout): boolean => {
  for (let next = from + 1; next <= version; next++) if (!migrations.has(next)) return false
  return true
}

/** Brings a store up to date, in one transaction: a kill leaves the old version or the new one. */
export const migrate = (db: Db, layout: Layout) =>
  db
    .transaction(() => {
      const from = db.pragma('user_version', { simple: true }) as number
      for (let next = from + 1; next <= layout.version; next++)
        for (const statement of layout.migrations.get(next)!) db.exec(statement)
      db.pragma(`user_version = ${layout.version}`)
    })
    .immediate()
