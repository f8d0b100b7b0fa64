import type { RawBlock } from '../chain/wire.ts'
import type { AbiParam, DecodedLog } from '../decode/types.ts'
import type { Kind } from '../mapping/index.ts'
import type { BlockCall } from './calls.ts'
import type { BlockContract } from './contracts.ts'
import type { Failure } from './failures.ts'
import type { BlockToken } from './tokens.ts'
import type { DecodedTrace } from './traces.ts'

/** A document as a search answers it, without the envelope's constant parts. */
export interface Document {
  _id: string
  /** Hash of the containing block; absent for blocks. */
  _routing?: string
  /** Id of the document above: the block's of a transaction, the transaction's of a log or event. */
  _parent?: string
  _source: Record<string, unknown>
  /** Data that rules need besides the fields of a decoded entity: exact amounts and the parts of tuples. Never shown. */
  decoding?: Decoding
}

export interface Decoding {
  /** Declared arguments, by position. */
  inputs: readonly AbiParam[]
  /** Decimals of the token that the entity is of, null where unknown or no token. */
  decimals: number | null
}

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
export interface BlockDocumentsInput extends DecodedBlock {
  /** Decimals of the token at an address (40 lower-case digits), undefined where unknown or no token. */
  decimals(address: string): number | undefined
}
/**
 * The documents of one block, of each kind by the order in which it carries them. Each is built when it is first asked for, and kept. An
 * event is undefined where no declaration of its log is known.
 */
export type BlockDocuments = Readonly<Record<Exclude<Kind, 'event'>, (index: number) => Document>> & {
  event(index: number): Document | undefined
}
/** What a block carries, of the kinds that it lists apart from its transactions and their logs, in the order in which rules look at them. */
export const LISTED = {
  call: ({ calls }) => calls,
  contract: ({ contracts }) => contracts,
  token: ({ tokens }) => tokens,
  trace: ({ traces }) => traces,
} as const satisfies Record<
  Exclude<Kind, 'block' | 'tx' | 'log' | 'event'>,
  (block: DecodedBlock) => readonly unknown[]
>
