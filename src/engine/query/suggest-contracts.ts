import type { StoreReader } from '../reader.ts'

/** A token that reports its symbol. */
export interface NamedToken {
  /** In lower case. */
  address: string
  symbol: string
  name: string | null
}

/** Most tokens suggested, first come first served: anyone can create tokens to fill the memory. */
const MAX_NAMED_TOKENS = 100_000
/** Most contracts suggested, the newest ones. */
const MAX_NAMED_CONTRACTS = 10_000

/** Tokens that are new, or whose name or symbol changed, since the last call. */
export const createTokenNews = (reader: StoreReader): (() => NamedToken[]) => {
  let last = 0
  /** Distinct ids, since a back-fill changes the same tokens repeatedly. */
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

/** Indexed contract creations with a name; undefined if unchanged since the last call. */
export const createNamedContracts = (
  reader: StoreReader,
): (() => readonly { name: string; address: string }[] | undefined) => {
  let seen = '0'
  return () => {
    // Reads only the names' index. The sum detects replacements that keep the count.
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
