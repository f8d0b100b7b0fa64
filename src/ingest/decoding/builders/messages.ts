import type { Question } from '../../../chain/blocks/read-blocks.ts'
import type { PackLine } from '../../../chain/files/pack.ts'
import type { RawBlock } from '../../../chain/wire.ts'
import type { ContractCreation } from '../../../documents/contracts.ts'
import { emittersIn, type TokenStandard } from '../../../documents/tokens.ts'
import { type CodeUpgrade, upgradesIn } from '../../../documents/upgrades.ts'
import type { EncodedBlocks } from '../../../engine/documents/piece.ts'
import type { Limits } from '../../../limits/index.ts'
import type { DictionariesMemory } from '../shared/dictionaries.ts'

export interface BuilderData {
  network: string
  store: string
  abis: string
  chainId: number | undefined
  limits: Limits
  memory: DictionariesMemory
  bloom: boolean
  traces: 'calls' | 'all'
  youngMb: number
}

/** Each message is answered, in their order. */
export type ToBuilder =
  /** Lines of a pack, in memory that all threads share. Answered by `Built`. */
  | { type: 'lines'; lines: readonly PackLine[] }
  /** An answer of a node. The reply is `Read`, or the bytes. */
  | { type: 'read'; id: number; body: Uint8Array; question: Question }
  /** Builds what was read, with the decimals that were asked for. Answered by a piece. */
  | { type: 'build'; id: number; decimals: ReadonlyMap<string, number> }
  /** Gives up what was read. Answered by the bytes. */
  | { type: 'giveBack'; id: number }
  | { type: 'drop'; id: number }

/** Undefined if it could not be built: then the blocks must be taken one by one. */
export type FromBuilder = Built | ReadBlocks | EncodedBlocks | Uint8Array | undefined

export interface ReadBlocks {
  blocks: BlockFacts[]
  /** Contracts whose decimals it takes to build them, by 40 lower-case digits. */
  decimals: string[]
  abis: string
}

export interface Built {
  pieces: BuiltPiece[]
  abis: string
}

/** Neighbouring blocks that were built apart from those before them. */
export interface BuiltPiece {
  piece: EncodedBlocks
  blocks: BlockFacts[]
}

export interface BlockFacts {
  number: number
  hash: string
  parentHash: string
  creations: readonly ContractCreation[]
  /** By their addresses in lower case. */
  emitters: ReadonlyMap<string, TokenStandard>
  upgrades: readonly CodeUpgrade[]
}

export const blockFactsOf = (raw: RawBlock, creations: readonly ContractCreation[]): BlockFacts => ({
  number: Number(raw.block.number),
  hash: raw.block.hash,
  parentHash: raw.block.parentHash,
  creations,
  emitters: emittersIn(raw),
  upgrades: upgradesIn(raw),
})
