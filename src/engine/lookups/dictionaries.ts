import type { Db } from '../../sqlite/database.ts'
import { hashKeys } from '../blocks.ts'

/** The stored dictionaries, as building batches asks for them: ids that are given go on behind theirs. */
export interface StoredDictionaries {
  /** The keys of the store's hashes. */
  hashKeys: [number, number]
  /** Highest id, 0 where there is none. */
  last(of: 'address' | 'name' | 'code'): number
  /** Id of an address of 40 lower-case digits. */
  address(digits: string): number | undefined
  /** All addresses, as digits. */
  addresses(): Iterable<string>
  /** Those of tokens alone. */
  tokens(): { count: number; addresses: Iterable<string> }
  name(name: string): number | undefined
  code(hash: string): number | undefined
  signatures(): { id: number; key: string }[]
}

export const createStoredDictionaries = (db: Db): StoredDictionaries => {
  const findAddress = db.prepare<[Buffer], number>('SELECT id FROM address WHERE bytes = ?').pluck()
  const findName = db.prepare<[string], number>('SELECT id FROM name WHERE name = ?').pluck()
  const findCode = db.prepare<[Buffer], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const digitsIn = function* (sql: string): Generator<string, void> {
    for (const bytes of db.prepare<[], Buffer>(sql).pluck().iterate()) yield bytes.toString('hex')
  }
  return {
    hashKeys: hashKeys(db),
    last: of => db.prepare<[], number | null>(`SELECT max(id) FROM "${of}"`).pluck().get() ?? 0,
    address: digits => findAddress.get(Buffer.from(digits, 'hex')),
    addresses: () => digitsIn('SELECT bytes FROM address'),
    tokens: () => ({
      count: db.prepare<[], number>('SELECT count(*) FROM token').pluck().get()!,
      addresses: digitsIn('SELECT bytes FROM token JOIN address USING (id)'),
    }),
    name: name => findName.get(name),
    code: hash => findCode.get(Buffer.from(hash.slice(2), 'hex')),
    signatures: () => db.prepare<[], { id: number; key: string }>('SELECT id, key FROM signature').all(),
  }
}
