import type { Db } from '../sqlite/database.ts'

/** Has work read one state of a store. `version` is another one once another connection has written anything. */
export const createVersionedReads = (db: Db): (<T>(work: (version: number) => T) => T) => {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  const read = db.transaction((work: (version: number) => unknown) => work(version.get()!))
  return <T>(work: (version: number) => T) => read(work) as T
}
