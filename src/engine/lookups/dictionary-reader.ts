import { documentOfKey } from '../../decode/calls.ts'
import type { EventAbi, Signature } from '../../decode/types.ts'
import { memoize } from '../../lib/caches.ts'
import { requirePresent } from '../../sqlite/damage.ts'
import type { Db } from '../../sqlite/database.ts'
import { hashKeys } from '../blocks.ts'

export interface StoredSignature extends Signature {
  id: number
}

/** Caches frequent entries, which never change. `version` is that of the state that is read. */
export const createDictionaryReader = (db: Db, version: () => unknown) => {
  const selectSignatures = db.prepare(
    'SELECT id, key, topic, indexed, abi, probability, error FROM signature WHERE id > ? ORDER BY id',
  )
  const selectAddressId = db.prepare('SELECT id FROM address WHERE bytes = ?').pluck()
  const selectAddress = db.prepare('SELECT bytes FROM address WHERE id = ?').pluck()
  const selectNameId = db.prepare('SELECT id FROM name WHERE name = ?').pluck()
  const selectNames = db.prepare('SELECT id, name FROM name WHERE id > ? ORDER BY id')
  const selectName = db.prepare('SELECT name FROM name WHERE id = ?').pluck()
  let signatures: StoredSignature[] = []
  let bySort: Record<'log' | 'call', StoredSignature[]> = { log: [], call: [] }
  const signaturesById = new Map<number, StoredSignature>()
  /** `version` is that of the state in which they were read last. */
  let allNames: { names: string[]; last: number; version: unknown } = { names: [], last: 0, version: undefined }
  const addressIds = new Map<string, number>()

  return {
    /** Reads the signatures of a new state. */
    loadSignatures(): void {
      const more = selectSignatures.all(signatures.at(-1)?.id ?? 0) as SignatureRow[]
      if (more.length === 0) return
      signatures = [...signatures, ...more.map(fromRow)]
      for (const signature of signatures) signaturesById.set(signature.id, signature)
      bySort = {
        log: signatures.filter(({ of }) => of === 'log'),
        call: signatures.filter(({ of }) => of === 'call'),
      }
    },
    signatures: (of: 'log' | 'call'): readonly StoredSignature[] => bySort[of],
    signature: (id: number): StoredSignature => requirePresent(signaturesById.get(id), 'the number of a signature'),
    addressId(digits: string): number | undefined {
      let id = addressIds.get(digits)
      if (id !== undefined) return id
      id = selectAddressId.get(Buffer.from(digits, 'hex')) as number | undefined
      if (addressIds.size >= ADDRESS_IDS) addressIds.clear()
      // An unknown one may come with the next block.
      if (id !== undefined) addressIds.set(digits, id)
      return id
    },
    /** 40 lower-case hex digits. */
    addressDigits: memoize(30_000, (id: number) =>
      requirePresent(selectAddress.get(id) as Buffer | undefined, 'the number of an address').toString('hex'),
    ),
    nameId: (name: string): number | undefined => selectNameId.get(name) as number | undefined,
    name: memoize(10_000, (id: number) =>
      requirePresent(selectName.get(id) as string | undefined, 'the number of a name'),
    ),
    /** In the order of their ids. */
    names(): readonly string[] {
      if (allNames.version !== version()) {
        const more = selectNames.all(allNames.last) as { id: number; name: string }[]
        const last = more.at(-1)?.id ?? allNames.last
        const names = more.length > 0 ? [...allNames.names, ...more.map(({ name }) => name)] : allNames.names
        allNames = { names, last, version: version() }
      }
      return allNames.names
    },
  }
}

const ADDRESS_IDS = 10_000

interface SignatureRow {
  id: number
  key: string
  topic: Buffer | null
  indexed: number
  abi: string | null
  probability: number
  error: string | null
}

const fromRow = ({ topic, abi, ...row }: SignatureRow): StoredSignature => ({
  ...row,
  of: documentOfKey(row.key),
  topic: topic && `0x${topic.toString('hex')}`,
  event: abi === null ? null : (JSON.parse(abi) as EventAbi),
})

/** The stored dictionaries, for building batches: new ids follow theirs. */
export type StoredDictionaries = ReturnType<typeof createStoredDictionaries>
export const createStoredDictionaries = (db: Db) => {
  const findAddress = db.prepare<[Buffer], number>('SELECT id FROM address WHERE bytes = ?').pluck()
  const findName = db.prepare<[string], number>('SELECT id FROM name WHERE name = ?').pluck()
  const findCode = db.prepare<[Buffer], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const digitsIn = function* (sql: string): Generator<string, void> {
    for (const bytes of db.prepare<[], Buffer>(sql).pluck().iterate()) yield bytes.toString('hex')
  }
  return {
    hashKeys: hashKeys(db),
    last: (of: 'address' | 'name' | 'code'): number =>
      db.prepare<[], number | null>(`SELECT max(id) FROM "${of}"`).pluck().get() ?? 0,
    address: (digits: string): number | undefined => findAddress.get(Buffer.from(digits, 'hex')),
    addresses: (): Iterable<string> => digitsIn('SELECT bytes FROM address'),
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
