import type { RawBlock, RpcTrace } from '../chain/wire.ts'
import type { DecodedLog } from '../decode/types.ts'
import type { BlockCall } from './calls.ts'
import type { BlockContract } from './contracts.ts'
import type { BlockToken } from './tokens.ts'

/** A checked block with what it means: what documents, index and rules are made of. */
export interface DecodedBlock {
  raw: RawBlock
  /** All logs of the block in order. */
  logs: readonly DecodedLog[]
  /** Name of the function that each transaction calls, where known. */
  methods: readonly (string | null)[]
  /** Steps that are kept, in order. */
  traces: readonly RpcTrace[]
  calls: readonly BlockCall[]
  contracts: readonly BlockContract[]
  /** Those that no lower block has shown. */
  tokens: readonly BlockToken[]
}
