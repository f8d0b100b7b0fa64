import type { OwnAbi } from '../../decode/declarations.ts'
import type { Reader } from '../reader.ts'

/** Proxies of proxies, with a beacon in between, that are looked for. */
const MAX_STEPS = 4
/** Where there are more, all documents are looked at. */
const MAX_OWNERS = 1_000

/**
 * Ids of the contracts that an ABI holds for as far as the store tells: its own, those of its code, and those that run the code of these;
 * null where it may hold for any.
 */
export const ownersOf = (reader: Reader, { address, codeHash = null }: OwnAbi): number[] | null => {
  if (address === null && codeHash === null) return null
  const select = (sql: string, ...parameters: unknown[]) =>
    reader
      .prepare(sql)
      .pluck()
      .all(...parameters) as number[]
  const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  const found = new Set(
    address === null
      ? [
          ...select(
            'SELECT address FROM contract WHERE code = (SELECT id FROM code WHERE hash = ?)',
            bytesOf(codeHash!),
          ),
          ...select('SELECT id FROM link WHERE code = ?', bytesOf(codeHash!)),
        ]
      : [reader.addressId(address.slice(2)) ?? []].flat(),
  )
  let open = [...found]
  for (let step = 0; step < MAX_STEPS && found.size <= MAX_OWNERS; step++) {
    open = open
      .flatMap(id => [
        ...select('SELECT address FROM contract WHERE implementation = ?', id),
        ...select('SELECT address FROM upgrade WHERE implementation = ?', id),
        ...select("SELECT id FROM link WHERE targets LIKE '%' || ? || '%'", reader.addressDigits(id)),
      ])
      .filter(id => !found.has(id))
    for (const id of open) found.add(id)
  }
  return found.size > MAX_OWNERS ? null : [...found]
}
