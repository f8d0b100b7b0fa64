import type { Delegation, Target } from '../../decode/proxies.ts'
import type { Db } from '../../sqlite/database.ts'
import type { Lookups, StoredLink } from '../port.ts'

export const createLinkLookups = (db: Db): Pick<Lookups, 'link' | 'upgrades'> => {
  const selectLink = db.prepare<[Buffer], LinkRow>(
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
  /** A creation tells the code of a contract: of a proxy that is too little. */
  const createdLink = (address: string): StoredLink | undefined => {
    const row = selectCreated.get(bytesOf(address))
    return row && { codeHash: hexOf(row.hash), delegation: null, position: row.pos }
  }
  return {
    link(address) {
      const row = selectLink.get(bytesOf(address))
      if (!row) return createdLink(address)
      const { code, kind, targets, pos } = row
      const delegation = kind && { kind, targets: JSON.parse(targets!) as Target[] }
      return { codeHash: hexOf(code), delegation, position: pos }
    },
    upgrades: address =>
      selectUpgrades
        .all(bytesOf(address))
        .map(({ position, implementation }) => ({ position, implementation: hexOf(implementation) })),
  }
}

interface LinkRow {
  code: Buffer | null
  kind: Delegation['kind'] | null
  targets: string | null
  pos: number
}

const bytesOf = (address: string): Buffer => Buffer.from(address.slice(2), 'hex')
const hexOf = (bytes: Buffer | null): string | null => bytes && `0x${bytes.toString('hex')}`
