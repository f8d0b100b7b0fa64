import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak256 } from './keccak.ts'

/** A signature of a transaction: `r` and `s` with or without leading zeros, and which of the two points with this `r` it means. */
export interface Signature {
  r: Uint8Array
  s: Uint8Array
  odd: boolean
}

/** The address whose key signed a hash of 32 bytes. Throws where the signature belongs to no key. */
export const recoverAddress = (hash: Uint8Array, { r, s, odd }: Signature): Uint8Array => {
  const point = new secp256k1.Signature(toInteger(r), toInteger(s))
    .addRecoveryBit(odd ? 1 : 0)
    .recoverPublicKey(hash)
    .toRawBytes(false)
  return keccak256(point.subarray(1)).subarray(12)
}

const toInteger = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
