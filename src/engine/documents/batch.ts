import type { Code } from '../../decode/contract-code.ts'
import type { Signature } from '../../decode/types.ts'
import type { DecodedBlock } from '../../documents/decoded-block.ts'
import { upgradesIn } from '../../documents/upgrades.ts'
import { RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import type { Dictionary } from '../index/dictionary.ts'
import type { BatchColumn } from '../index/field-index.ts'
import type { Numbers } from '../index/points.ts'
import type { Pairs } from '../index/postings.ts'
import type { SegmentCounts } from '../index/segments.ts'
import { type Additions, createAdditions, type LearntLink, type LearntToken } from './additions.ts'
import { createFindings, type Findings, type FoundRows } from './findings.ts'
import { joinPieces } from './join.ts'
import { createPiece, type Piece, type PieceBuilder, type PieceContext } from './piece.ts'
import type { BlockRows } from './records/block.ts'
import type { RecordRows } from './records/rows.ts'

/** A run of neighbouring blocks, ready to be written in one transaction; typed arrays all through, so that it moves between threads. */
export interface Batch extends SegmentCounts, FoundRows {
  chainId: number | undefined
  header: Uint8Array<ArrayBuffer>
  blocks: BlockRows
  records: Record<RecordKind, RecordRows>
  pairs: Pairs
  numbers: Numbers
  columns: BatchColumn[]
  /** Dictionary entries that came up until this batch was finished: this one may use them, or one that is built at the same time. */
  added: Additions
}

export interface BatchContext extends PieceContext {
  /** EIP-155 chain id, where it is known. */
  chainId: number | undefined
  addresses: Dictionary
  names: Dictionary
  takeSignatures(): { first: number; entries: Signature[] }
  code(code: Code): number
  takeCodes(): { id: number; code: Code }[]
  takeTokens(): LearntToken[]
  takeLinks(): LearntLink[]
}

export interface BatchBuilder {
  /** The block above the last one. It is taken apart at once: nothing of it is kept. */
  add(input: DecodedBlock): void
  /** The same of blocks that were taken apart elsewhere, with what was found in each. */
  addPiece(piece: Piece, findings: readonly Findings[]): void
  readonly blocks: number
  /** Documents of all kinds but events. */
  readonly documents: number
  finish(): Batch
}

/** Builds the batch of a run of neighbouring blocks, which have been checked and decoded. */
export const createBatch = (context: BatchContext): BatchBuilder => {
  const additions = createAdditions(context)
  const findings = createFindings(context, additions)
  const pieces: Piece[] = []
  /** What is not in `pieces` yet. */
  let open: PieceBuilder | undefined
  let [blocks, documents] = [0, 0]

  const close = () => {
    if (open === undefined) return
    blocks += open.blocks
    documents += open.documents
    pieces.push(open.finish())
    open = undefined
  }

  return {
    add(input) {
      open ??= createPiece(context)
      open.add(input)
      const { raw, contracts, tokens } = input
      findings.add({ number: Number(raw.block.number), contracts, tokens, upgrades: upgradesIn(raw) })
    },
    addPiece(piece, found) {
      close()
      const { length } = piece.header.times
      blocks += length
      documents += RECORD_KINDS.reduce((sum, kind) => sum + piece.counts[kind], length)
      pieces.push(piece)
      for (const one of found) findings.add(one)
    },
    get blocks() {
      return blocks + (open?.blocks ?? 0)
    },
    get documents() {
      return documents + (open?.documents ?? 0)
    },
    finish() {
      close()
      return { chainId: context.chainId, ...joinPieces(pieces), ...findings.finish(), added: additions.take() }
    },
  }
}

/** The buffers of a batch, to be moved to another thread instead of copied. */
export const transferables = (batch: Batch): ArrayBuffer[] => [
  batch.header.buffer,
  ...[batch.blocks, ...Object.values(batch.records)].flatMap(rows => Object.values(rows).map(({ buffer }) => buffer)),
  ...Object.values(batch.pairs).map(array => array.buffer),
  ...Object.values(batch.numbers).map(array => array.buffer),
  ...batch.columns.map(({ data }) => data.buffer),
]
