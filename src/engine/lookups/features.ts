import type { Db } from '../../sqlite/database.ts'
import type { Lookups } from '../port.ts'

export const createFeatureLookup = (db: Db): Lookups['features'] => {
  const select = db
    .prepare<[Buffer], Buffer>(
      `SELECT vector FROM similar WHERE id = (SELECT id FROM code WHERE hash = ? AND (source IS NULL OR source <>
         ifnull((SELECT id FROM name WHERE name = 'bytecode'), 0)))`,
    )
    .pluck()
  return codeHash => {
    const bytes = select.get(Buffer.from(codeHash.slice(2), 'hex'))
    return bytes && new Int8Array(new Uint8Array(bytes).buffer)
  }
}
