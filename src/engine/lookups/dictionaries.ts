import type { Db } from '../../sqlite/database.ts'
import { hashKeys } from '../blocks.ts'

/** The stored dictionaries, as building batches asks for them: ids that are given go on behind theirs. */
export type StoredDictionaries = ReturnType<typeof createStoredDictionaries>

export const createStoredDictionaries = (db: Db) => {
  const findAddress = db.prepare<[Buffer], number>('SELECT id FROM address WHERE bytes = ?').pluck()
  const findName = db.prepare<[string], number>('SELECT id FROM name WHERE name = ?').pluck()
  const findCode = db.prepare<[Buffer], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const digitsIn = function* (sql: string): Generator<string, void> {
    for (const bytes of db.prepare<[], Buffer>(sql).pluck().iterate()) yield bytes.toString('hex')
  }
  return {
    /** The keys of the store's hashes. */
    hashKeys: hashKeys(db),
    /** Highest id, 0 where there is none. */
    last: (of: 'address' | 'name' | 'code'): number =>
      db.prepare<[], number | null>(`SELECT max(id) FROM "${of}"`).pluck().get() ?? 0,
    /** Id of an address of 40 lower-case digits. */
    address: (digits: string): number | undefined => findAddress.get(Buffer.from(digits, 'hex')),
    /** All addresses, as digits. */
    addresses: (): Iterable<string> => digitsIn('SELECT bytes FROM address'),
    /** Those of tokens alone. */
    tokens: (): { count: number; addresses: Iterable<string> } => ({
      count: db.prepare<[], number>('SELECT count(*) FROM token').pluck().get()!,
      addresses: digitsIn('SELECT bytes FROM token JOIN address USING (id)'),
    }),
    name: (name: string): number | undefined => findName.get(name),
    code: (hash: string): number | undefined => findCode.get(Buffer.from(hash.slice(2), 'hex')),
    signatures: (): { id: number; key: string }[] =>
      db.prepare<[], { id: number; key: string }>('SELECT id, key FROM signature').all(),
  }
}
