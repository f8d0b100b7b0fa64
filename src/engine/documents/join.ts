import { byKind, COUNTED_KINDS, type CountedKind, RECORD_KINDS } from '../../mapping/index.ts'
import { type BatchColumn, encodeColumns } from '../index/field-index.ts'
import { joinNumbers } from '../index/points.ts'
import { joinPairs } from '../index/postings.ts'
import { encodeHeader } from '../index/segment.ts'
import { FULL_LEVEL, levelOf } from '../index/segments.ts'
import type { Batch } from './batch.ts'
import type { FoundRows } from './findings.ts'
import { NUMBERED_KINDS, type Piece } from './piece.ts'
import { joinBlockRows } from './records/block.ts'
import { joinRecordRows } from './records/rows.ts'

export type Joined = Omit<Batch, keyof FoundRows | 'chainId' | 'added'>

/** Joins the pieces of neighbouring blocks, in chain order, so that they are one segment. */
export const joinPieces = (pieces: readonly Piece[]): Joined => {
  /** Of each piece, by kind: documents before it. */
  const before = pieces.map(() => byKind(COUNTED_KINDS, () => 0))
  const counts = byKind(COUNTED_KINDS, () => 0)
  for (const [i, piece] of pieces.entries())
    for (const kind of COUNTED_KINDS) {
      before[i]![kind] = counts[kind]
      counts[kind] += kind === 'block' ? piece.header.times.length : piece.counts[kind]
    }
  const numbers = pieces.flatMap(piece => [...piece.header.numbers])
  const [first, last] = [numbers[0]!, numbers.at(-1)!]
  const events = pieces.reduce((sum, piece) => sum + piece.events, 0)
  const counted = { first, last, events, scoped: pieces[0]!.scoped, ...counts }
  const moved = <T>(kind: CountedKind, of: (piece: Piece) => T) =>
    pieces.map((piece, i) => ({ part: of(piece), by: before[i]![kind] }))

  return {
    ...counted,
    header: encodeHeader({ ...joinHeaders(pieces, before), numbers: gappy(numbers) }),
    blocks: joinBlockRows(pieces.map(piece => piece.blocks)),
    records: byKind(RECORD_KINDS, kind => joinRecordRows(pieces.map(({ records }) => records[kind]))),
    pairs: joinPairs(COUNTED_KINDS.flatMap(kind => moved(kind, ({ pairs }) => pairs[kind]))),
    numbers: joinNumbers(NUMBERED_KINDS.flatMap(kind => moved(kind, ({ numbers }) => numbers[kind]))),
    columns: joinColumns(pieces, levelOf(counted) === FULL_LEVEL),
  }
}

type Before = readonly Readonly<Record<CountedKind, number>>[]

const gappy = (numbers: readonly number[]): Uint32Array | undefined =>
  numbers.at(-1)! - numbers[0]! + 1 === numbers.length ? undefined : Uint32Array.from(numbers)

const joinHeaders = (pieces: readonly Piece[], before: Before): Omit<Piece['header'], 'numbers'> => ({
  ends: byKind(RECORD_KINDS, kind =>
    Uint32Array.from(pieces.flatMap(({ header }, i) => Array.from(header.ends[kind], end => end + before[i]![kind]))),
  ),
  times: Float64Array.from(pieces.flatMap(({ header }) => [...header.times])),
  partials: new Map(
    pieces.flatMap(({ header }, i) => Array.from(header.partials, ([at, places]) => [at + before[i]!.block, places])),
  ),
})

const joinColumns = (pieces: readonly Piece[], full: boolean): BatchColumn[] =>
  encodeColumns(
    Array.from(pieces[0]!.columns.keys(), field => ({ field, parts: pieces.map(piece => piece.columns.get(field)!) })),
    full,
  )
