import { coin } from '../documents/show.ts'
import { checksumAddress } from '../lib/keccak.ts'
import { decodeRlp, type Rlp } from '../lib/rlp.ts'
import type { Db } from '../sqlite/database.ts'
import { isShort, unpack } from './documents/pack.ts'

/**
 * SQL functions by which conditions see what columns hold in packed form. All of them give NULL for what is no blob.
 *
 * - `checksum(bytes)`: an address as EIP-55 writes it.
 * - `words_short(packed)`: 1 where the data take at most 127 bytes, which is what an index of keywords holds; else 0.
 * - `words_text(packed)`: those data as hex text; NULL for longer ones.
 * - `words(packed)`: words of 32 bytes as a JSON array of hex texts, for `json_each`; `items(bytes, size)`: the same of another size.
 * - `members(list, n, form)`: the nth member of all objects of a list, as such an array; `form` tells how they are written.
 * - `coin(integer)`: the amount in the native unit, as documents show it, of an integer in its stored form.
 *
 * `address` gives the 40 hex digits of a dictionary id, by another connection: SQLite's own is busy while a function runs.
 */
export const addFunctions = (db: Db, address: (id: number) => string) => {
  const add = (name: string, from: (bytes: Uint8Array) => unknown) =>
    db.function(name, { deterministic: true }, value => (value instanceof Uint8Array ? from(value) : null))
  add('checksum', bytes => checksumAddress(`0x${hexOf(bytes)}`))
  add('words_short', packed => (isShort(packed) ? 1 : 0))
  add('words_text', packed => (isShort(packed) ? unpack(packed, address) : null))
  add('words', packed => jsonOf(unpack(packed, address).slice(2), 32))
  db.function('items', { deterministic: true }, (bytes, size) =>
    bytes instanceof Uint8Array ? jsonOf(hexOf(bytes), size as number) : null,
  )
  db.function('coin', { deterministic: true }, integer => {
    if (integer instanceof Uint8Array) return coin(BigInt(`0x${hexOf(integer.subarray(1))}`))
    return typeof integer === 'number' && integer >= 0 ? coin(integer) : null
  })
  db.function('members', { deterministic: true }, (list, n, form) =>
    list instanceof Uint8Array ? JSON.stringify(membersOf(list, n as number, form as MemberForm)) : null,
  )
}

/** `hex`: as it is. `checksum`: an address by EIP-55. `number`: an integer. `items`: a list of hex texts. */
export type MemberForm = 'hex' | 'checksum' | 'number' | 'items'

/** See `listItems` in batch.ts. */
const membersOf = (list: Uint8Array, n: number, form: MemberForm): string[] =>
  (decodeRlp(list) as Rlp[][]).flatMap(item => {
    const [value] = item[n] as [Rlp?]
    if (value === undefined) return []
    if (form === 'items') return (value as Uint8Array[]).map(item => `0x${hexOf(item)}`)
    const hex = `0x${hexOf(value as Uint8Array)}`
    if (form === 'checksum') return checksumAddress(hex)
    return form === 'number' ? `0x${hex.slice(2).replace(/^0+/, '') || '0'}` : hex
  })

const hexOf = (bytes: Uint8Array): string => Buffer.prototype.hexSlice.call(bytes)

/** `size` in bytes. */
const jsonOf = (digits: string, size: number): string => JSON.stringify(itemsOf(digits, size))

/** Hex texts of so many bytes each, of which the digits stand one behind the other. */
export const itemsOf = (digits: string, size: number): string[] =>
  Array.from({ length: digits.length / (2 * size) }, (_, i) => `0x${digits.slice(i * 2 * size, (i + 1) * 2 * size)}`)
