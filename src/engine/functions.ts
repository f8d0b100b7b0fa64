import { checksumAddress } from '../lib/keccak.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * SQL functions by which conditions see what rows of contracts hold as bytes. Both give NULL for what is no blob.
 *
 * - `checksum(bytes)`: an address as EIP-55 writes it.
 * - `items(bytes, size)`: pieces of so many bytes as a JSON array of hex texts, for `json_each`.
 */
export const addFunctions = (db: Db) => {
  db.function('checksum', { deterministic: true }, bytes =>
    bytes instanceof Uint8Array ? checksumAddress(`0x${hexOf(bytes)}`) : null,
  )
  db.function('items', { deterministic: true }, (bytes, size) =>
    bytes instanceof Uint8Array ? JSON.stringify(itemsOf(hexOf(bytes), size as number)) : null,
  )
}

const hexOf = (bytes: Uint8Array): string => Buffer.prototype.hexSlice.call(bytes)

/** Hex texts of so many bytes each, of which the digits stand one behind the other. */
export const itemsOf = (digits: string, size: number): string[] =>
  Array.from({ length: digits.length / (2 * size) }, (_, i) => `0x${digits.slice(i * 2 * size, (i + 1) * 2 * size)}`)
