import { checksumAddress } from '../lib/keccak.ts'
import type { Db } from './database.ts'
import { isShort, unpack } from './pack.ts'

/**
 * SQL functions by which conditions see what columns hold in packed form. All of them give NULL for what is no blob.
 *
 * - `checksum(bytes)`: an address as EIP-55 writes it.
 * - `words_short(packed)`: 1 where the data take at most 127 bytes, which is what an index of keywords holds; else 0.
 * - `words_text(packed)`: those data as hex text; NULL for longer ones.
 * - `words(packed)`, `items(bytes)`: words of 32 bytes as a JSON array of hex texts, for `json_each`.
 *
 * `address` gives the 40 hex digits of a dictionary id, by another connection: SQLite's own is busy while a function runs.
 */
export const addFunctions = (db: Db, address: (id: number) => string) => {
  const add = (name: string, from: (bytes: Uint8Array) => unknown) =>
    db.function(name, { deterministic: true }, value => (value instanceof Uint8Array ? from(value) : null))
  add('checksum', bytes => checksumAddress(`0x${hexOf(bytes)}`))
  add('words_short', packed => (isShort(packed) ? 1 : 0))
  add('words_text', packed => (isShort(packed) ? unpack(packed, address) : null))
  add('words', packed => jsonOf(unpack(packed, address).slice(2)))
  add('items', bytes => jsonOf(hexOf(bytes)))
}

const hexOf = (bytes: Uint8Array): string => Buffer.prototype.hexSlice.call(bytes)

const jsonOf = (digits: string): string =>
  JSON.stringify(Array.from({ length: digits.length / 64 }, (_, i) => `0x${digits.slice(i * 64, i * 64 + 64)}`))
