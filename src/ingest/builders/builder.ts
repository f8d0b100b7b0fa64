import { parseBlockLine } from '../../chain/files.ts'
import type { PackLine, PackOptions } from '../../chain/pack.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { creationsIn } from '../../documents/contracts.ts'
import type { DecodedDocuments } from '../../documents/decoded-block.ts'
import { createPiece, type PieceBuilder, type PieceContext } from '../../engine/documents/piece.ts'
import { type BlockFacts, type BuiltPiece, factsOf } from './facts.ts'

export interface BuilderOptions {
  context: PieceContext
  decode(raw: RawBlock): DecodedDocuments
  pack: Pick<PackOptions, 'chainId' | 'limits'>
}

/** Builds the pieces of a pack's lines: one for each run of neighbouring blocks. Throws where anything is wrong with a line. */
export const createBuilder =
  ({ context, decode, pack }: BuilderOptions) =>
  (lines: readonly PackLine[]): BuiltPiece[] => {
    const built: BuiltPiece[] = []
    let piece: PieceBuilder | undefined
    let blocks: BlockFacts[] = []
    const close = () => {
      if (piece) built.push({ piece: piece.finish(), blocks })
      piece = undefined
      blocks = []
    }
    for (const line of lines) {
      const raw = parseBlockLine(line, pack)
      const facts = factsOf(raw, creationsIn(raw))
      const last = blocks.at(-1)
      // Whether they are linked is for whoever knows what is stored.
      if (last && (facts.number !== last.number + 1 || facts.parentHash !== last.hash)) close()
      piece ??= createPiece(context)
      piece.add(decode(raw))
      blocks.push(facts)
    }
    close()
    return built
  }
