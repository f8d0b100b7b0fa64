import type { Db } from '../../sqlite/database.ts'
import type { Lookups, StoredToken } from '../port.ts'

export const createTokenLookup = (db: Db): Lookups['token'] => {
  const select = db.prepare<[Buffer], Row>(
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

type Row = Omit<StoredToken, 'asked' | 'position'> & { asked: number; pos: number | null }
