import { type Question, readBodyOf } from '../../../chain/blocks/read-blocks.ts'
import type { CheckOptions } from '../../../chain/check/check-block.ts'
import { parseBlockLine } from '../../../chain/files/block-files.ts'
import type { PackLine, PackOptions } from '../../../chain/files/pack.ts'
import type { RawBlock } from '../../../chain/wire.ts'
import { creationsIn } from '../../../documents/contracts.ts'
import type { DecodedDocuments } from '../../../documents/decoded-block.ts'
import { hasInteger } from '../../../documents/logs.ts'
import { digitsOf } from '../../../engine/documents/additions.ts'
import { createPiece, type Piece, type PieceBuilder, type PieceContext } from '../../../engine/documents/piece.ts'
import { type BlockFacts, type BuiltPiece, factsOf, type Read } from './messages.ts'

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

export interface AnswerBuilderOptions {
  /** But for the decimals, which are told for each piece. */
  context: PieceContext
  decode(raw: RawBlock): DecodedDocuments
  check: CheckOptions
}

interface Held {
  body: Uint8Array
  blocks: DecodedDocuments[]
}

/** Reads what nodes answer and builds it in two steps: between them the chain is asked what tokens in it tell of themselves. */
export const createAnswerBuilder = ({ context, decode, check }: AnswerBuilderOptions) => {
  const held = new Map<number, Held>()
  return {
    /** Throws where anything about the answer is not plain and good. */
    read(id: number, body: Uint8Array, question: Question): Omit<Read, 'abis'> {
      const raws = readBodyOf(body, question, check)
      const blocks = raws.map(decode)
      held.set(id, { body, blocks })
      return { blocks: raws.map(raw => factsOf(raw, creationsIn(raw))), decimals: [...new Set(blocks.flatMap(scaled))] }
    },
    build(id: number, decimals: ReadonlyMap<string, number>): Piece {
      const { blocks, body } = held.get(id)!
      // The bytes are all that may still be wanted.
      held.set(id, { body, blocks: [] })
      const piece = createPiece({ ...context, decimals: address => decimals.get(address) })
      for (const block of blocks) piece.add(block)
      return piece.finish()
    },
    giveBack(id: number): Uint8Array {
      const { body } = held.get(id)!
      held.delete(id)
      return body
    },
    drop: (id: number) => void held.delete(id),
  }
}

/** Addresses of which something in a block has amounts. */
const scaled = ({ raw, logs, calls }: DecodedDocuments): string[] => {
  const found: string[] = []
  let index = 0
  for (const receipt of raw.receipts)
    for (const { address } of receipt.logs) {
      const { args } = logs[index++]!
      if (args && hasInteger(args)) found.push(digitsOf(address))
    }
  for (const { to, args } of calls) if (args && hasInteger(args)) found.push(digitsOf(to))
  return found
}
