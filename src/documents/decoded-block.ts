import type { RawBlock } from '../chain/wire.ts'
import type { DecodedLog } from '../decode/types.ts'
import type { BlockCall } from './calls.ts'
import type { BlockContract } from './contracts.ts'
import type { Failure } from './failures.ts'
import type { BlockToken } from './tokens.ts'
import type { DecodedTrace } from './traces.ts'

/** A block, and what its logs and calls mean. */
export interface DecodedDocuments {
  raw: RawBlock
  /** What the block's logs mean, in order. */
  logs: readonly DecodedLog[]
  /** Name of the function that each transaction calls, where known. */
  methods: readonly (string | null)[]
  /** Why each transaction failed, where it did and that is known. */
  failures: readonly (Failure | undefined)[]
  /** Steps that are kept, in order. */
  traces: readonly DecodedTrace[]
  calls: readonly BlockCall[]
}

/** With its contracts and tokens: what is stored of a block, and what rules are matched with. */
export interface DecodedBlock extends DecodedDocuments {
  contracts: readonly BlockContract[]
  /** Those that no lower block has shown. */
  tokens: readonly BlockToken[]
}
