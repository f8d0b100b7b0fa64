import type { Secp256k1 } from '@bitauth/libauth'
import { lazy } from './caches.ts'
import { keccak256 } from './keccak.ts'

/** `r` and `s` may lack leading zeros; `odd` selects one of the two points with this `r`. */
export interface TransactionSignature {
  r: Uint8Array
  s: Uint8Array
  odd: boolean
}

let curve: Secp256k1 | undefined

/**
 * Loads libsecp256k1 as WebAssembly, ten times as fast as JavaScript. Its 240 kB of text are
 * loaded only in threads that need it.
 */
export const recoverReady = lazy(async () => {
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  curve = await instantiateSecp256k1()
})

/** Address whose key signed a hash of 32 bytes. Throws a `RangeError` if no key fits. */
export const recoverAddress = (hash: Uint8Array, { r, s, odd }: TransactionSignature): Uint8Array => {
  if (!curve) throw new Error('recoverReady has not been awaited')
  if (r.length > 32 || s.length > 32) throw new RangeError('a signature is too long')
  const compact = new Uint8Array(64)
  compact.set(r, 32 - r.length)
  compact.set(s, 64 - s.length)
  const point = curve.recoverPublicKeyUncompressed(compact, odd ? 1 : 0, hash)
  if (typeof point === 'string') throw new RangeError('a signature belongs to no key')
  return keccak256(point.subarray(1)).subarray(12)
}
