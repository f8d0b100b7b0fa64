import type { RawBlock } from '../chain/wire.ts'
import type { AbiParam, DecodedLog } from '../decode/types.ts'
import type { Kind } from '../mapping/index.ts'
import type { BlockCall } from './calls.ts'
import type { BlockContract } from './contracts.ts'
import type { Failure } from './failures.ts'
import type { BlockToken } from './tokens.ts'
import type { DecodedTrace } from './traces.ts'

/** A document as searches return it, without the constant parts of the envelope. */
export interface Document {
  _id: string
  /** Hash of the containing block; absent for blocks. */
  _routing?: string
  /** Id of the parent: of a transaction its block, of a log or event its transaction. */
  _parent?: string
  _source: Record<string, unknown>
  /** Data of a decoded entity that only rules need: exact amounts and the parts of tuples. */
  decoding?: DocumentDecoding
}

export interface DocumentDecoding {
  inputs: readonly AbiParam[]
  /** Null if they are unknown, or there is no token. */
  decimals: number | null
}

export interface DecodedDocuments {
  raw: RawBlock
  logs: readonly DecodedLog[]
  /** Name of the function that each transaction calls, if it is known. */
  methods: readonly (string | null)[]
  /** Why each transaction failed; undefined if it did not, or the reason is unknown. */
  failures: readonly (Failure | undefined)[]
  /** The traces that are stored, in order. */
  traces: readonly DecodedTrace[]
  calls: readonly BlockCall[]
}
/** A block with contracts and tokens, for the store and for rules. */
export interface DecodedBlock extends DecodedDocuments {
  contracts: readonly BlockContract[]
  /** Tokens that no lower block has. */
  tokens: readonly BlockToken[]
}
export interface BlockDocumentsInput extends DecodedBlock {
  /** `address` has 40 lower-case digits. Undefined if they are unknown, or there is no token. */
  decimals(address: string): number | undefined
}
/**
 * The documents of one block by kind and index, each built once, on demand. A log without a known
 * declaration has no event.
 */
export type BlockDocuments = Readonly<Record<Exclude<Kind, 'event'>, (index: number) => Document>> & {
  event(index: number): Document | undefined
}
/** The other lists of a block, in the order in which rules check them. */
export const BLOCK_LISTS = {
  call: ({ calls }) => calls,
  contract: ({ contracts }) => contracts,
  token: ({ tokens }) => tokens,
  trace: ({ traces }) => traces,
} as const satisfies Record<
  Exclude<Kind, 'block' | 'tx' | 'log' | 'event'>,
  (block: DecodedBlock) => readonly unknown[]
>
