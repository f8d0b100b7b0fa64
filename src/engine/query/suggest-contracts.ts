import type { StoreReader } from '../reader.ts'

/** A token that tells its symbol. */
export interface NamedToken {
  /** In lower case. */
  address: string
  symbol: string
  name: string | null
}

/** Tokens up to which the first ones that come are suggested: what anyone can make as many of as they like must not fill the memory. */
const MAX_NAMED_TOKENS = 100_000
/** Contracts that are suggested, the newest ones. */
const MAX_NAMED_CONTRACTS = 10_000

/** Tokens of the store that are new, or tell something else, since the last call. */
export const createTokenNews = (reader: StoreReader): (() => NamedToken[]) => {
  let last = 0
  /** A back-fill changes the same ones again and again. */
  const known = new Set<number>()
  return () => {
    const rows = reader
      .prepare(
        `SELECT change, id, (SELECT name FROM name WHERE id = symbol) AS symbol, (SELECT name FROM name WHERE id = token.name) AS name
         FROM token WHERE change > ? AND pos IS NOT NULL ORDER BY change LIMIT ?`,
      )
      .all(last, MAX_NAMED_TOKENS - known.size) as {
      change: number
      id: number
      symbol: string | null
      name: string | null
    }[]
    last = rows.at(-1)?.change ?? last
    for (const { id } of rows) known.add(id)
    return rows.flatMap(({ id, symbol, name }) =>
      symbol ? [{ address: `0x${reader.addressDigits(id)}`, symbol, name }] : [],
    )
  }
}

/** Contracts that were created under the eyes of the index and have a name; undefined where they are those of the last call. */
export const createNamedContracts = (
  reader: StoreReader,
): (() => readonly { name: string; address: string }[] | undefined) => {
  let seen = '0'
  return () => {
    // The index of names alone is read. As many as before may be others, where a node for development was cut back.
    const state = reader
      .prepare(
        `SELECT count(*) || coalesce('/' || max(pos) || '/' || sum(name), '') FROM contract WHERE name IS NOT NULL`,
      )
      .pluck()
      .get() as string
    if (state === seen) return undefined
    seen = state
    const rows = reader
      .prepare(
        `SELECT DISTINCT address, (SELECT name FROM name WHERE id = contract.name) AS name FROM contract WHERE contract.name IS NOT NULL
         ORDER BY pos DESC LIMIT ?`,
      )
      .all(MAX_NAMED_CONTRACTS) as { address: number; name: string }[]
    return rows.map(({ address, name }) => ({ name, address: `0x${reader.addressDigits(address)}` }))
  }
}
