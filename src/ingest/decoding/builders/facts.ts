import type { RawBlock } from '../../../chain/wire.ts'
import type { Creation } from '../../../documents/contracts.ts'
import { emittersIn, type TokenStandard } from '../../../documents/tokens.ts'
import { type Upgrade, upgradesIn } from '../../../documents/upgrades.ts'
import type { Piece } from '../../../engine/documents/piece.ts'

/** Neighbouring blocks that were built apart from those before them. */
export interface BuiltPiece {
  piece: Piece
  blocks: BlockFacts[]
}

/** What the blocks before a block may have a say in, and what it takes to find its place among them. */
export interface BlockFacts {
  number: number
  hash: string
  parentHash: string
  creations: readonly Creation[]
  /** By their addresses in lower case. */
  emitters: ReadonlyMap<string, TokenStandard>
  upgrades: readonly Upgrade[]
}

export const factsOf = (raw: RawBlock, creations: readonly Creation[]): BlockFacts => ({
  number: Number(raw.block.number),
  hash: raw.block.hash,
  parentHash: raw.block.parentHash,
  creations,
  emitters: emittersIn(raw),
  upgrades: upgradesIn(raw),
})
