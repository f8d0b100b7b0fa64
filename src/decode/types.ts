/** One parameter of an event or function, or one component of a tuple. */
export interface AbiParam {
  name: string
  /** Canonical Solidity type; tuples are `tuple`, `tuple[]`, `tuple[3][]` … with `components`. */
  type: string
  components?: readonly AbiParam[]
  indexed?: boolean
}

/** An event as an ABI declares it. */
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
   * `0x0` or `0x1`; fixed bytes, bytes and strings as they are; arrays and tuples as their ABI encoding; an indexed
   * dynamic argument as its topic hash.
   */
  hex: string
  /** Exact value of integers and booleans, null for everything else (also for indexed dynamic arguments). */
  int: bigint | null
}

export type DecodeResult = { args: DecodedArg[]; error: null } | { args: null; error: string }
