import type { Delegation, Target } from '../../decode/proxies.ts'
import type { Db } from '../../sqlite/database.ts'
import { createBlocks } from '../blocks.ts'
import { createCoverageReader } from '../coverage.ts'
import type { Lookups, StoredLink, StoredToken } from '../port.ts'

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
