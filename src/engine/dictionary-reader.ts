import { documentOfKey } from '../decode/calls.ts'
import type { Delegation, Target } from '../decode/proxies.ts'
import type { EventAbi, Signature } from '../decode/types.ts'
import { memoize } from '../lib/caches.ts'
import { requirePresent } from '../sqlite/damage.ts'
import type { Db } from '../sqlite/database.ts'
import { createBlocks, hashKeys } from './blocks.ts'
import { createCoverageReader } from './coverage.ts'
import type { Lookups, StoredLink, StoredToken } from './port.ts'

/** Looks up what indexing needs of a store. */
export const createStoreLookups = (db: Db): Lookups => ({
  coverage: createCoverageReader(db),
  partial: createPartialLookup(db),
  ...createBlocks(db),
  ...createLinkLookups(db),
  token: createTokenLookup(db),
  features: createFeatureLookup(db),
  prefetch: () => {},
})

const createPartialLookup = (db: Db): Lookups['partial'] => {
  const find = db.prepare<[number, number], { id: number; first: number; last: number }>(
    'SELECT id, first, last FROM segment WHERE first <= ? AND last >= ? AND scoped = 1 ORDER BY first',
  )
  return ({ from, to }) => find.all(to, from)
}

export const createTokenLookup = (db: Db): Lookups['token'] => {
  const select = db.prepare<[Buffer], Omit<StoredToken, 'asked' | 'position'> & { asked: number; pos: number | null }>(
    `SELECT decimals, asked, pos, (SELECT name FROM name WHERE id = token.name) AS name, (SELECT name FROM name WHERE id = symbol) AS symbol,
         (SELECT name FROM name WHERE id = standard) AS standard, (SELECT name FROM name WHERE id = error) AS error
       FROM token WHERE id = (SELECT id FROM address WHERE bytes = ?)`,
  )
  return address => {
    const row = select.get(Buffer.from(address, 'hex'))
    if (!row) return undefined
    const { asked, pos, ...facts } = row
    return { ...facts, asked: asked === 1, position: pos ?? undefined }
  }
}

export const createFeatureLookup = (db: Db): Lookups['features'] => {
  const select = db
    .prepare<[Buffer], Buffer>(
      `SELECT vector FROM similar WHERE id = (SELECT id FROM code WHERE hash = ? AND (source IS NULL OR source <>
         ifnull((SELECT id FROM name WHERE name = 'bytecode'), 0)))`,
    )
    .pluck()
  return codeHash => {
    const bytes = select.get(hexToBytes(codeHash))
    return bytes && new Int8Array(new Uint8Array(bytes).buffer)
  }
}

export const createLinkLookups = (db: Db): Pick<Lookups, 'link' | 'upgrades'> => {
  const selectLink = db.prepare<[Buffer], LinkCells>(
    'SELECT code, kind, targets, pos FROM link WHERE id = (SELECT id FROM address WHERE bytes = ?)',
  )
  const selectUpgrades = db.prepare<[Buffer], { position: number; implementation: Buffer | null }>(
    `SELECT pos AS position, (SELECT bytes FROM address WHERE id = implementation) AS implementation FROM upgrade
       WHERE address = (SELECT id FROM address WHERE bytes = ?) ORDER BY pos`,
  )
  const selectCreated = db.prepare<[Buffer], { pos: number; hash: Buffer }>(
    `SELECT pos, hash FROM contract JOIN code ON code.id = contract.code
       WHERE address = (SELECT id FROM address WHERE bytes = ?) AND (source IS NULL OR (SELECT name FROM name WHERE id = source) <> 'bytecode')
       ORDER BY pos DESC LIMIT 1`,
  )
  /** The code of a contract's creation, unless it is a proxy. */
  const createdLink = (address: string): StoredLink | undefined => {
    const row = selectCreated.get(hexToBytes(address))
    return row && { codeHash: bytesToHex(row.hash), delegation: null, position: row.pos }
  }
  return {
    link(address) {
      const row = selectLink.get(hexToBytes(address))
      if (!row) return createdLink(address)
      const { code, kind, targets, pos } = row
      const delegation = kind && { kind, targets: JSON.parse(targets!) as Target[] }
      return { codeHash: bytesToHex(code), delegation, position: pos }
    },
    upgrades: address =>
      selectUpgrades
        .all(hexToBytes(address))
        .map(({ position, implementation }) => ({ position, implementation: bytesToHex(implementation) })),
  }
}

interface LinkCells {
  code: Buffer | null
  kind: Delegation['kind'] | null
  targets: string | null
  pos: number
}

const hexToBytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex')
const bytesToHex = (bytes: Buffer | null): string | null => bytes && `0x${bytes.toString('hex')}`

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
