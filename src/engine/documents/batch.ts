import type { Code } from '../../decode/abi-finder.ts'
import type { Signature } from '../../decode/types.ts'
import type { DecodedBlock } from '../../documents/document.ts'
import { upgradesIn } from '../../documents/upgrades.ts'
import { byKind, COUNTED_KINDS, type CountedKind, RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import type { Dictionary } from '../index/dictionary.ts'
import { type BatchColumn, encodeColumns } from '../index/field-index.ts'
import { joinNumbers, type Numbers } from '../index/points.ts'
import { joinPairs, type TermPairs } from '../index/postings.ts'
import { encodeSegmentHeader, joinHeaders } from '../index/segment.ts'
import { FULL_LEVEL, levelOf, type SegmentCounts } from '../index/segments.ts'
import {
  type BlockEncoder,
  createBlockEncoder,
  type EncodedBlocks,
  type EncodingContext,
  NUMBERED_KINDS,
} from './block-encoder.ts'
import {
  type Additions,
  type BatchDerivedRows,
  createAdditions,
  createDerivedRows,
  type DerivedRows,
  type LearntLink,
  type LearntToken,
} from './derived-rows.ts'
import { type BlockRows, joinBlockRows } from './records/block.ts'
import { joinRecordRows, type RecordRows } from './records/rows.ts'

/** Neighbouring blocks for one transaction; typed arrays move between threads without a copy. */
export interface SegmentBatch extends SegmentCounts, BatchDerivedRows {
  chainId: number | undefined
  header: Uint8Array<ArrayBuffer>
  blocks: BlockRows
  records: Record<RecordKind, RecordRows>
  pairs: TermPairs
  numbers: Numbers
  columns: BatchColumn[]
  /** Dictionary entries that were added before this batch was finished, for it or for others. */
  added: Additions
}

export interface BatchContext extends EncodingContext {
  /** Undefined if it is not known. */
  chainId: number | undefined
  addresses: Dictionary
  names: Dictionary
  takeSignatures(): { first: number; entries: Signature[] }
  code(code: Code): number
  takeCodes(): { id: number; code: Code }[]
  takeTokens(): LearntToken[]
  takeLinks(): LearntLink[]
}

export type BatchBuilder = ReturnType<typeof createBatch>

export const createBatch = (context: BatchContext) => {
  const additions = createAdditions(context)
  const findings = createDerivedRows(context, additions)
  const pieces: EncodedBlocks[] = []
  /** The piece that is being built. */
  let open: BlockEncoder | undefined
  let [blocks, documents] = [0, 0]

  const close = () => {
    if (open === undefined) return
    blocks += open.blocks
    documents += open.documents
    pieces.push(open.finish())
    open = undefined
  }

  return {
    /** Takes the next block, of which it keeps nothing. */
    add(input: DecodedBlock) {
      open ??= createBlockEncoder(context)
      open.add(input)
      const { raw, contracts, tokens } = input
      findings.add({ number: Number(raw.block.number), contracts, tokens, upgrades: upgradesIn(raw) })
    },
    /** Takes blocks that another thread converted, and what was found in each. */
    addPiece(piece: EncodedBlocks, found: readonly DerivedRows[]) {
      close()
      const { length } = piece.header.times
      blocks += length
      documents += RECORD_KINDS.reduce((sum, kind) => sum + piece.counts[kind], length)
      pieces.push(piece)
      for (const one of found) findings.add(one)
    },
    get blocks(): number {
      return blocks + (open?.blocks ?? 0)
    },
    /** Documents of all kinds but events. */
    get documents(): number {
      return documents + (open?.documents ?? 0)
    },
    finish(): SegmentBatch {
      close()
      return { chainId: context.chainId, ...joinPieces(pieces), ...findings.finish(), added: additions.take() }
    },
  }
}

export const transferables = (batch: SegmentBatch): ArrayBuffer[] => [
  batch.header.buffer,
  ...[batch.blocks, ...Object.values(batch.records)].flatMap(rows => Object.values(rows).map(({ buffer }) => buffer)),
  ...Object.values(batch.pairs).map(array => array.buffer),
  ...Object.values(batch.numbers).map(array => array.buffer),
  ...batch.columns.map(({ data }) => data.buffer),
]

export type Joined = Omit<SegmentBatch, keyof BatchDerivedRows | 'chainId' | 'added'>
/** Joins the pieces of neighbouring blocks to one segment. */
export const joinPieces = (pieces: readonly EncodedBlocks[]): Joined => {
  /** For each piece, by kind: the number of documents before it. */
  const before = pieces.map(() => byKind(COUNTED_KINDS, () => 0))
  const counts = byKind(COUNTED_KINDS, () => 0)
  for (const [i, piece] of pieces.entries())
    for (const kind of COUNTED_KINDS) {
      before[i]![kind] = counts[kind]
      counts[kind] += kind === 'block' ? piece.header.times.length : piece.counts[kind]
    }
  const header = joinHeaders(pieces.map(piece => piece.header))
  const events = pieces.reduce((sum, piece) => sum + piece.events, 0)
  const counted = { first: header.first, last: header.last, events, scoped: pieces[0]!.scoped, ...counts }
  const moved = <T>(kind: CountedKind, of: (piece: EncodedBlocks) => T) =>
    pieces.map((piece, i) => ({ part: of(piece), by: before[i]![kind] }))

  return {
    ...counted,
    header: encodeSegmentHeader(header),
    blocks: joinBlockRows(pieces.map(piece => piece.blocks)),
    records: byKind(RECORD_KINDS, kind => joinRecordRows(pieces.map(({ records }) => records[kind]))),
    pairs: joinPairs(COUNTED_KINDS.flatMap(kind => moved(kind, ({ pairs }) => pairs[kind]))),
    numbers: joinNumbers(NUMBERED_KINDS.flatMap(kind => moved(kind, ({ numbers }) => numbers[kind]))),
    columns: joinColumns(pieces, levelOf(counted) === FULL_LEVEL),
  }
}
const joinColumns = (pieces: readonly EncodedBlocks[], full: boolean): BatchColumn[] =>
  encodeColumns(
    Array.from(pieces[0]!.columns.keys(), field => ({ field, parts: pieces.map(piece => piece.columns.get(field)!) })),
    full,
  )
