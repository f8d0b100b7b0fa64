export interface AbiParam {
  name: string
  /** Canonical Solidity type; tuples are `tuple`, `tuple[]`, `tuple[3][]` … with `components`. */
  type: string
  components?: readonly AbiParam[]
  indexed?: boolean
}

export interface EventAbi {
  name: string
  inputs: readonly AbiParam[]
  anonymous?: boolean
}

/**
 * One decoded argument. Hex text is lower case here; documents checksum addresses.
 */
export interface DecodedArg {
  name: string
  /** Zero-based position in the declaration. */
  pos: number
  /** Full Solidity type, tuples spelt out: `(address,uint256)[]`. */
  type: string
  /**
   * Addresses as 20 bytes; integers as minimal hex quantities, negative ones as two's complement of their width; booleans
   * `0x0` or `0x1`; fixed bytes, bytes and strings as they are; arrays and tuples as `abi.encode` of the one
   * value, canonical whatever the log's own encoding (a dynamic one stands behind its offset 0x20); an indexed array, tuple,
   * string or bytes as its topic hash.
   */
  hex: string
  /** Exact value of integers and booleans, null for everything else (also for indexed dynamic arguments). */
  int: bigint | null
}

export type DecodeResult = { args: DecodedArg[]; error: null } | { args: null; error: string }

/**
 * What logs or calls of one form are decoded by: the first topic or the selector, the number of indexed arguments
 * and the declaration in use.
 */
export interface Signature {
  of: 'log' | 'call'
  /** Identifies the signature for good: equal keys mean equal signatures. */
  key: string
  /** First topic, or selector, in lower case; null for a log without topics. */
  topic: string | null
  /** Topics behind the first. */
  indexed: number
  /** The declaration, null where none is known. */
  event: EventAbi | null
  /** 1 for a declaration that the user gave, less where it was guessed by its topic. */
  probability: number
  /** Why logs of this signature could not be decoded although their name is known; null where they were. */
  error: string | null
}

export interface DecodedLog {
  signature: Signature
  /** Null where the log could not be decoded. */
  args: DecodedArg[] | null
  /** Decimals that it is stored with, null: none; by default those that are known of the token. */
  decimals?: number | null
}
