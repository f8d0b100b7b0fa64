import Database from 'better-sqlite3'
import { nativeBinding } from '../../src/lib/runtime.ts'
import { withVectors } from '../../src/store/database.ts'

/** A program of its own, for the form of an executable: uses sqlite-vec in two connections. */
const native = nativeBinding()
const answers = [1, 2].map(() => {
  const db = new Database(':memory:', native === undefined ? {} : { nativeBinding: native })
  if (!withVectors(db)) return null
  return db.prepare("SELECT vec_distance_l2('[1, 2]', '[4, 6]')").pluck().get()
})
console.log(JSON.stringify(answers))
