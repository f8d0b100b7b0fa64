import { messageOf, refuse } from '../lib/errors.ts'
import { useVectorExtension } from '../lib/runtime.ts'
import type { Db } from './database.ts'

/** Has a connection know the functions of sqlite-vec. Whoever asks for them where it cannot be loaded is refused, with the reason. */
export const loadVectors = (db: Db) => {
  // Its types do not know of the second parameter.
  const load: (path: string, entryPoint: string) => unknown = db.loadExtension
  try {
    useVectorExtension(path => load.call(db, path, 'sqlite3_vec_init'))
  } catch (error) {
    // Files of the server are nothing for its clients.
    const reason = messageOf(error).replaceAll(/\S*[/\\]\S*/g, '…')
    throw refuse(
      'not_implemented_exception',
      `Similar contracts, events and calls need sqlite-vec, which cannot be loaded on this server (${process.platform} ${process.arch}): ${reason}. Everything else works.`,
      error,
    )
  }
}
