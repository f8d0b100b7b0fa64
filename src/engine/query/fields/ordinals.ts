import { firstHolding, lowerBound } from '../../../lib/arrays.ts'
import { type Kind, ROW_KINDS, type RowKind } from '../../../mapping/index.ts'
import { blockAt, indexFrom } from '../../index/segment.ts'
import { documentCount } from '../../index/segments.ts'
import type { ReadHeader, Segment, StoreReader } from '../../reader.ts'
import { blockOf, placeOf, positionOf } from '../../schema.ts'

/** Kinds with ordinals of their own: events share those of their logs. */
export type NumberedKind = Exclude<Kind, 'event'>

export const numberedAs = (kind: Kind): NumberedKind => (kind === 'event' ? 'log' : kind)

const ofRows: ReadonlySet<Kind> = new Set(ROW_KINDS)
export const isRowKind = (kind: Kind): kind is RowKind => ofRows.has(kind)

export const ordinalCount = (
  { segment, header }: { segment: Segment; header: ReadHeader },
  numbered: NumberedKind,
): number => (isRowKind(numbered) ? header.positions(numbered).length : documentCount(segment, numbered))

export interface SegmentView {
  segment: Segment
  header: ReadHeader
  size: number
}

/** A segment, as it holds documents of one kind. */
export const viewOf = (segment: Segment, numbered: NumberedKind, reader: StoreReader): SegmentView => {
  const header = reader.header(segment)
  return { segment, header, size: ordinalCount({ segment, header }, numbered) }
}

/** Index of the first segment that does not end before a block. */
export const firstEndingFrom = (block: number, segments: readonly Segment[]): number =>
  firstHolding(segments.length, i => segments[i]!.last >= block)

/** The segment of a position; undefined if no block is stored there. */
export const segmentAt = (position: number, reader: StoreReader): Segment | undefined => {
  const segments = reader.segments()
  const block = blockOf(position)
  const segment = segments[firstEndingFrom(block, segments)]
  return segment && segment.first <= block ? segment : undefined
}

/** Number of documents up to and including the block of this index; -1 precedes the first. */
export const endOrdinal = (header: ReadHeader, numbered: NumberedKind, index: number): number => {
  if (numbered === 'block') return index + 1
  if (index < 0) return 0
  if (isRowKind(numbered)) return lowerBound(header.positions(numbered), positionOf(blockAt(header, index) + 1, 0))
  return header.ends[numbered][index]!
}

/** Ordinals of the documents of some of its blocks: from one up to and without another. */
export const ordinalsWithin = (header: ReadHeader, numbered: NumberedKind, [from, to]: readonly [number, number]) => {
  const index = (block: number) => indexFrom(header, block) - 1
  const start = endOrdinal(header, numbered, index(Math.max(from, header.first)))
  return [start, endOrdinal(header, numbered, index(Math.min(to, header.last) + 1))] as const
}

export const positionOfOrdinal = (header: ReadHeader, numbered: NumberedKind, ordinal: number): number => {
  if (numbered === 'block') return positionOf(blockAt(header, ordinal), 0)
  if (isRowKind(numbered)) return header.positions(numbered)[ordinal]!
  const ends = header.ends[numbered]
  let low = 0
  let high = ends.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ends[middle]! <= ordinal) low = middle + 1
    else high = middle
  }
  const place = ordinal - endOrdinal(header, numbered, low - 1)
  return positionOf(blockAt(header, low), partialPlaces(header, numbered, low)?.[place] ?? place)
}

/** Ascending positions within a segment. */
export const positionsIn = ({ first, last }: Segment, positions: readonly number[]): number[] =>
  positions.slice(lowerBound(positions, positionOf(first, 0)), lowerBound(positions, positionOf(last + 1, 0)))

/** Ordinal of the document at a position, or else of the next one. */
export const ordinalOfPosition = (header: ReadHeader, numbered: NumberedKind, position: number): number => {
  const block = blockOf(position)
  const index = indexFrom(header, block)
  if (numbered === 'block') return index
  if (isRowKind(numbered)) return lowerBound(header.positions(numbered), position)
  const place = placeOf(position)
  const start = endOrdinal(header, numbered, index - 1)
  if (header.numbers && header.numbers[index] !== block) return start
  const places = partialPlaces(header, numbered, index)
  if (places) return start + lowerBound(places, place)
  return Math.min(start + place, endOrdinal(header, numbered, index))
}

/** The places of the documents of a partial block. */
export const partialPlaces = (header: ReadHeader, numbered: NumberedKind, index: number): Uint32Array | undefined => {
  if (header.partials.size === 0 || (numbered !== 'tx' && numbered !== 'log')) return undefined
  const partial = header.partials.get(index)
  return partial && (numbered === 'tx' ? partial.txs : partial.logs)
}
