import { keccak_256 } from '@noble/hashes/sha3.js'
import { createKeccak } from 'hash-wasm'
import { createRecentCache } from './caches.ts'

/** Keccak-256. WebAssembly takes a tenth of the time; until it is compiled, JavaScript serves. */
export const keccak256 = (bytes: Uint8Array): Uint8Array => hash(bytes)

let hash = keccak_256 as (bytes: Uint8Array) => Uint8Array
/** Resolves when WebAssembly is ready; a thread that never yields must await this. */
export const keccakReady = createKeccak(256).then(
  hasher => {
    hash = bytes => hasher.init().update(bytes).digest('binary')
  },
  () => {
    // Without WebAssembly, JavaScript stays in use.
  },
)

/** Hashes UTF-8 bytes to `0x` hex, the source of event topics and function selectors. */
export const keccakHex = (text: string): string => `0x${Buffer.from(hash(Buffer.from(text))).toString('hex')}`

/** Two generations of 65-byte pairs take some 10 MB. */
const checksummed = createRecentCache<string>(32_768)

/** Applies EIP-55. Few addresses make up most traffic, and a hash takes microseconds, so cached. */
export const checksumAddress = (hex: string): string => {
  const known = checksummed.get(hex)
  if (known !== undefined) return known
  const lower = hex.toLowerCase()
  const result = checksummed.get(lower) ?? checksum(lower)
  checksummed.set(lower, result)
  return result
}

/** Whether a text is an address in the letter case of EIP-55. */
export const isChecksummed = (text: string): boolean => ADDRESS_TEXT.test(text) && checksumAddress(text) === text

const ADDRESS_TEXT = /^0x[0-9a-fA-F]{40}$/
const ascii = Buffer.alloc(40)

const checksum = (lower: string): string => {
  if (!ADDRESS_TEXT.test(lower)) throw new TypeError(`not an address: ${lower.slice(0, 50)}`)
  ascii.write(lower.slice(2), 'latin1')
  checksumDigits(ascii, 0)
  return `0x${ascii.toString('latin1')}`
}

/** EIP-55 for 40 lower-case digits: upper case where the hash digit is 8 or more. */
export const checksumDigits = (digits: Uint8Array, at: number) => {
  const digest = keccak256(digits.subarray(at, at + 40))
  for (let i = 0; i < 40; i++) {
    const digit = i & 1 ? digest[i >> 1]! & 15 : digest[i >> 1]! >> 4
    if (digit >= 8 && digits[at + i]! > NINE_CODE) digits[at + i] = digits[at + i]! - 32
  }
}

const NINE_CODE = 57
