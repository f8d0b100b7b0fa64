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
  /** Full Solidity type with expanded tuples: `(address,uint256)[]`. */
  type: string
  /**
   * Addresses: 20 bytes; integers: minimal hex quantities, negative ones as two's complement of
   * their width; booleans: `0x0` or `0x1`; bytes and strings: unpadded; arrays and tuples:
   * canonical `abi.encode` of the single value (dynamic ones after the offset 0x20). Indexed
   * arrays, tuples, strings and bytes: the topic hash.
   */
  hex: string
  /** Exact integer or boolean; null for other types and indexed dynamic arguments. */
  int: bigint | null
}

export type DecodeResult = { args: DecodedArg[]; error: null } | { args: null; error: string }

/**
 * Decodes logs or calls of one form: the first topic or the selector, the number of indexed
 * arguments, and the declaration in use.
 */
export interface Signature {
  of: 'log' | 'call'
  /** Identifies the signature for good: equal keys mean equal signatures. */
  key: string
  /** First topic, or selector, in lower case; null for a log without topics. */
  topic: string | null
  /** Number of topics after the first. */
  indexed: number
  /** Null if no declaration is known. */
  event: EventAbi | null
  /** 1 for a user's declaration, less if the topic was matched. */
  probability: number
  /** Why these logs could not be decoded with the declaration; null if decoded. */
  error: string | null
}

export interface DecodedLog {
  signature: Signature
  /** Null if the log could not be decoded. */
  args: DecodedArg[] | null
  /** Decimals to store, null: none; default: the token's known decimals. */
  decimals?: number | null
}
