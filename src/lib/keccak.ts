import { keccak_256 } from '@noble/hashes/sha3.js'
import { createKeccak } from 'hash-wasm'

/**
 * Keccak-256 of some bytes. Indexing hashes every new address and topic, so WebAssembly does it, at a tenth of the time; until it is
 * compiled, a few milliseconds after the start, JavaScript does.
 */
export const keccak256 = (bytes: Uint8Array): Uint8Array => hash(bytes)

let hash = keccak_256 as (bytes: Uint8Array) => Uint8Array
createKeccak(256).then(
  hasher => {
    hash = bytes => hasher.init().update(bytes).digest('binary')
  },
  () => {
    // A runtime without WebAssembly stays with JavaScript.
  },
)

/** The hash of a text's UTF-8 bytes as `0x` hex: event topics and function selectors are made of it. */
export const keccakHex = (text: string): string => `0x${Buffer.from(hash(Buffer.from(text))).toString('hex')}`

/** Addresses in one generation of the cache; two generations of 65-byte pairs take some 10 MB. */
const GENERATION = 32_768
let young = new Map<string, string>()
let old = new Map<string, string>()

/**
 * An address with the letter case of EIP-55. A few thousand addresses make up most of a chain's traffic and a hash takes
 * microseconds, so results are kept: a full generation becomes the old one, and what is asked for again moves back.
 */
export const checksumAddress = (hex: string): string => {
  const known = young.get(hex)
  if (known !== undefined) return known
  const lower = hex.toLowerCase()
  const result = old.get(lower) ?? checksum(lower)
  if (young.size >= GENERATION) {
    old = young
    young = new Map()
  }
  young.set(lower, result)
  return result
}

/** Whether a text is an address in the letter case of EIP-55. */
export const isChecksummed = (text: string): boolean => ADDRESS.test(text) && checksumAddress(text) === text

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const ascii = new Uint8Array(40)

/** EIP-55: a letter is upper case where the digit at its place in the hash of the lower-case digits is 8 or more. */
const checksum = (lower: string): string => {
  if (!ADDRESS.test(lower)) throw new TypeError(`not an address: ${lower.slice(0, 50)}`)
  for (let i = 0; i < 40; i++) ascii[i] = lower.charCodeAt(i + 2)
  const digest = keccak256(ascii)
  let result = '0x'
  for (let i = 0; i < 40; i++) {
    const digit = i & 1 ? digest[i >> 1]! & 15 : digest[i >> 1]! >> 4
    const code = ascii[i]!
    result += String.fromCharCode(code > 57 && digit >= 8 ? code - 32 : code)
  }
  return result
}
