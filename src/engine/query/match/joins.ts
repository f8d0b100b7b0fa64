import type { Kind } from '../../../mapping/index.ts'
import { MISSING, valueAt } from '../../index/column-codec.ts'
import { blockAt, indexFrom } from '../../index/segment.ts'
import { COLUMN_FIELDS } from '../../index/terms.ts'
import type { ReadHeader, Segment, StoreReader } from '../../reader.ts'
import { blockOf, placeOf, positionOf } from '../../schema.ts'
import {
  endOrdinal,
  type NumberedKind,
  numberedAs,
  ordinalCount,
  ordinalOfPosition,
  partialPlaces,
  positionOfOrdinal,
  positionsIn,
  type SegmentView,
} from '../fields/ordinals.ts'
import {
  and,
  collected,
  count,
  EMPTY_SET,
  eachOrdinal,
  isEmptySet,
  listed,
  type OrdinalSet,
  or,
  run,
  toArray,
} from './ordinal-set.ts'
import type { MatchContext, SegmentMatcher, Where } from './segment-matcher.ts'

/** Links the documents of two kinds within a segment: parents and children share their block. */
interface KindLink {
  /** The parent of each child, in order; `NO_PARENT` if it is of another kind. */
  up(at: SegmentView, children: OrdinalSet): Uint32Array
  down(at: SegmentView, parents: OrdinalSet): OrdinalSet
}

export const NO_PARENT = 0xffffffff

/** The documents of the other kind that fulfil the inner query, among the candidates at least. */
type RelatedMatches = (segment: Segment, within: OrdinalSet | undefined) => OrdinalSet

export interface JoinOptions {
  /** The kind on the other side. */
  kind: Kind
  related: RelatedMatches
  /** Segments of the documents on the other side, which share their segment. */
  where?: Where | undefined
  numbered: NumberedKind
  reader: StoreReader
}

/** Follows candidates one by one if they are fewer than 1/50 of all, to read only their links. */
const FEW_CANDIDATES = 50
const ifFew = (within: OrdinalSet | undefined, { size }: SegmentView): OrdinalSet | undefined =>
  within && count(within) * FEW_CANDIDATES < size ? within : undefined

/** From `min` to `max` children fulfil the inner query. */
export const byChildren = (
  { kind, related, where, numbered, reader }: JoinOptions,
  { min, max }: { min: number; max: number },
): SegmentMatcher => {
  const child = numberedAs(kind)
  const link = linkOf(child, numbered, reader)
  return {
    ...(min > 0 && { where }),
    matches(at, within) {
      const some = ifFew(within, at)
      const candidates = some && link.down(at, some)
      if (candidates && isEmptySet(candidates)) return EMPTY_SET
      const found = related(at.segment, candidates)
      const children = candidates ? and(found, candidates, ordinalCount(at, child)) : found
      if (isEmptySet(children)) return EMPTY_SET
      const counts = new Uint32Array(at.size)
      for (const parent of link.up(at, children)) if (parent !== NO_PARENT) counts[parent]!++
      const parents = new Uint32Array(at.size)
      let size = 0
      for (let parent = 0; parent < at.size; parent++)
        if (counts[parent]! >= min && counts[parent]! <= max) parents[size++] = parent
      return listed(parents.subarray(0, size))
    },
  }
}

/** The parent fulfils the inner query. */
export const byParent = ({ kind, related, where, numbered, reader }: JoinOptions): SegmentMatcher => {
  const parent = numberedAs(kind)
  const link = linkOf(numbered, parent, reader)
  return {
    where,
    matches(at, within) {
      const candidates = ifFew(within, at)
      if (!candidates) return link.down(at, related(at.segment, undefined))
      const size = ordinalCount(at, parent)
      const parents = link.up(at, candidates)
      const possible = collected(
        parents.filter(ordinal => ordinal !== NO_PARENT),
        size,
      )
      if (isEmptySet(possible)) return EMPTY_SET
      const flags = flagsOf(related(at.segment, possible), size)
      return listed(toArray(candidates).filter((_, i) => flags[parents[i]!]))
    },
  }
}

const flagsOf = (set: OrdinalSet, size: number): Uint8Array => {
  const flags = new Uint8Array(size)
  eachOrdinal(set, ordinal => {
    flags[ordinal] = 1
  })
  return flags
}

export const linkOf = (child: NumberedKind, parent: NumberedKind, reader: StoreReader): KindLink =>
  parent === 'block' ? linkToBlock(child) : linkToTransaction(child, reader)

/** The segment's header has the ends of each block's documents. */
const linkToBlock = (child: NumberedKind): KindLink => ({
  up({ header }, children) {
    const parents = new Uint32Array(count(children))
    let i = 0
    let index = 0
    eachOrdinal(children, ordinal => {
      while (endOrdinal(header, child, index) <= ordinal) index++
      parents[i++] = index
    })
    return parents
  },
  down(at, blocks) {
    const { header } = at
    const runs: OrdinalSet[] = []
    let from = 0
    let to = -1
    const close = () => runs.push(run(endOrdinal(header, child, from - 1), endOrdinal(header, child, to)))
    eachOrdinal(blocks, index => {
      if (index !== to + 1) {
        if (to >= from) close()
        from = index
      }
      to = index
    })
    if (to >= from) close()
    return or(runs, ordinalCount(at, child))
  },
})

/** Columns with the place of a child's transaction; block rewards have none. */
const TRANSACTION_PLACES: ReadonlyMap<NumberedKind, number> = new Map(
  COLUMN_FIELDS.flatMap(({ kind, number, declaration: { origin } }) =>
    origin === 'transaction' ? [[kind, number] as const] : [],
  ),
)

const linkToTransaction = (child: NumberedKind, reader: StoreReader): KindLink => {
  const column = TRANSACTION_PLACES.get(child)!
  const transactionsOf = ({ segment }: SegmentView) => reader.columns.data(segment, column)
  return {
    up(at, children) {
      const { header } = at
      const ordinals = toArray(children)
      const parents = new Uint32Array(ordinals.length).fill(NO_PARENT)
      const transactions = transactionsOf(at)
      if (!transactions) return parents
      let block = blockIn(header, child, 0)
      for (let i = 0; i < ordinals.length; i++) {
        const ordinal = ordinals[i]!
        if (ordinal >= block.end) {
          reader.check()
          let index = block.index
          while (endOrdinal(header, child, index) <= ordinal) index++
          block = blockIn(header, child, index)
        }
        const place = valueAt(transactions, ordinal)
        if (place !== MISSING) parents[i] = parentIn(header, block, place)
      }
      return parents
    },
    down(at, parents) {
      const transactions = transactionsOf(at)
      if (!transactions || isEmptySet(parents)) return EMPTY_SET
      const { header } = at
      const size = ordinalCount(at, child)
      if (count(parents) * Math.ceil(size / header.times.length) < size) {
        const some: number[] = []
        eachOrdinal(parents, ordinal => {
          reader.check()
          const position = positionOfOrdinal(header, 'tx', ordinal)
          const index = indexFrom(header, blockOf(position))
          const place = placeOf(position)
          const end = endOrdinal(header, child, index)
          for (let at = endOrdinal(header, child, index - 1); at < end; at++)
            if (valueAt(transactions, at) === place) some.push(at)
        })
        return collected(Uint32Array.from(some), size)
      }
      const found = new Uint32Array(size)
      let length = 0
      const flags = flagsOf(parents, ordinalCount(at, 'tx'))
      for (let index = 0, at = 0; index < header.times.length; index++) {
        reader.check()
        const block = blockIn(header, child, index)
        for (; at < block.end; at++) {
          const place = valueAt(transactions, at)
          if (place !== MISSING && flags[parentIn(header, block, place)]) found[length++] = at
        }
      }
      return collected(found.subarray(0, length), size)
    },
  }
}

/** A block of a segment, by its index. */
interface BlockIn {
  index: number
  /** Ordinal of its first transaction; undefined for partial blocks, whose places have gaps. */
  start: number | undefined
  /** End of its children, exclusive. */
  end: number
}

const blockIn = (header: ReadHeader, child: NumberedKind, index: number): BlockIn => ({
  index,
  start: partialPlaces(header, 'tx', index) ? undefined : endOrdinal(header, 'tx', index - 1),
  end: endOrdinal(header, child, index),
})

/** Ordinal of the transaction at a place. */
const parentIn = (header: ReadHeader, { index, start }: BlockIn, place: number): number =>
  start === undefined ? ordinalOfPosition(header, 'tx', positionOf(blockAt(header, index), place)) : start + place

/** Ordinals of the documents at some ascending positions, so far as they are in the segment. */
export const ordinalsOfPositions = (
  positions: readonly number[],
  { segment, header }: SegmentView,
  numbered: NumberedKind,
) =>
  listed(Uint32Array.from(positionsIn(segment, positions), position => ordinalOfPosition(header, numbered, position)))

/** Documents of transactions, which are named by their positions. */
export const ofTransactions = (positions: readonly number[], { numbered, reader }: MatchContext): SegmentMatcher => {
  const link = linkToTransaction(numbered, reader)
  return { matches: at => link.down(at, ordinalsOfPositions(positions, at, 'tx')) }
}
