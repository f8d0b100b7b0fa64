import type { Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import type { Posting, Segment, StoreReader } from '../../reader.ts'
import { firstEndingFrom, type NumberedKind, type SegmentView, segmentAt } from '../fields/ordinals.ts'
import { and, collected, EMPTY_SET, isDenseList, listed, type OrdinalSet, or } from './ordinal-set.ts'

/** A part of the plan at work: it may look at no more than the candidates that are given. */
export interface SegmentMatcher {
  matches(at: SegmentView, within: OrdinalSet | undefined): OrdinalSet
  /** Undefined if counting is not cheaper than matching. */
  count?(at: SegmentView): number | undefined
  /** Matches nothing but events. */
  events?: boolean
  where?: Where | undefined
}

export interface MatchContext {
  kind: Kind
  numbered: NumberedKind
  reader: StoreReader
  ask: AskDocuments
  /** Segments in which to evaluate a part of a conjunction. */
  among?: Where | undefined
}

/** Asks the documents at these positions themselves. */
export type AskDocuments = (kind: Kind, node: Node, positions: readonly number[]) => boolean[]

/** Postings by segment, read for all segments that count at once when the first one asks. */
export interface PostingsBySegment {
  (segment: number): readonly Posting[]
  where: Where
}

export const postingsBySegment = (
  { reader, among }: Pick<MatchContext, 'reader' | 'among'>,
  read: (among: ReadonlySet<number> | undefined) => readonly Posting[],
): PostingsBySegment => {
  let found: Map<number, Posting[]> | undefined
  let where: ReadonlySet<number> | undefined
  const all = () => (found ??= Map.groupBy(read(segmentsIfFew(among, reader)), posting => posting.segment))
  return Object.assign((segment: number) => all().get(segment) ?? NO_POSTINGS, {
    where: () => (where ??= new Set(all().keys())),
  })
}
const NO_POSTINGS: readonly Posting[] = []

/** Joins postings; those outside of a run of candidates are cut off first. */
export const union = (
  postings: readonly Posting[],
  reader: StoreReader,
  size: number,
  within?: OrdinalSet | undefined,
): OrdinalSet => {
  if (postings.length === 0) return EMPTY_SET
  const sets = postings.map(posting => setOfList(reader.ordinals(posting), size))
  return or(within?.form === 'run' ? sets.map(set => and(set, within, size)) : sets, size)
}

/** The bits of a dense list live as long as the reader keeps the list, of which they take a part. */
const setOfList = (list: Uint32Array, size: number): OrdinalSet => {
  if (!isDenseList(list, size)) return listed(list)
  let set = denseLists.get(list)
  if (!set) {
    set = collected(list, size)
    denseLists.set(list, set)
  }
  return set
}

const denseLists = new WeakMap<Uint32Array, OrdinalSet>()

/** Matches documents in postings; `count` sums them up if their lengths are sufficient. */
export const byPostings = (
  context: Pick<MatchContext, 'reader' | 'among'>,
  read: (among: ReadonlySet<number> | undefined) => readonly Posting[],
  count: (postings: readonly Posting[]) => number | undefined = () => undefined,
): SegmentMatcher => {
  const postings = postingsBySegment(context, read)
  return {
    where: postings.where,
    matches: ({ segment, size }, within) => union(postings(segment.id), context.reader, size, within),
    count: ({ segment }) => count(postings(segment.id)),
  }
}

export const createTermMatcher = (
  terms: readonly { term: number; fingerprint: number }[],
  context: Pick<MatchContext, 'reader' | 'among'>,
): SegmentMatcher =>
  byPostings(
    context,
    among => terms.flatMap(({ term, fingerprint }) => context.reader.postings(term, fingerprint, among)),
    postings => (terms.length === 1 ? (postings[0]?.n ?? 0) : undefined),
  )

/**
 * Ids of the only segments that may match; undefined if that requires a look at each. A rare term
 * is in few of a hundred segments, so the others are skipped.
 */
export type Where = () => ReadonlySet<number> | undefined
interface Somewhere {
  where?: Where | undefined
}
/** Segments for matches of all parts. */
export const whereAll = (parts: readonly Somewhere[]): ReadonlySet<number> | undefined => {
  let all: ReadonlySet<number> | undefined
  for (const { where } of parts) {
    const own = where?.()
    if (own) all = all?.intersection(own) ?? own
    if (all?.size === 0) break
  }
  return all
}
/** Segments for matches of any part. */
export const whereAny = (parts: readonly Somewhere[]): ReadonlySet<number> | undefined => {
  let any: ReadonlySet<number> = NOWHERE
  for (const { where } of parts) {
    const own = where?.()
    if (!own) return undefined
    any = any.size === 0 ? own : any.union(own)
  }
  return any
}
export const NOWHERE: ReadonlySet<number> = new Set()
/** Segments of documents at positions. */
export const whereAt = (positions: readonly number[], reader: StoreReader): ReadonlySet<number> => {
  const ids = new Set<number>()
  for (const position of positions) {
    const segment = segmentAt(position, reader)
    if (segment) ids.add(segment.id)
  }
  return ids
}
/** Segments of blocks; undefined if these are most segments. */
export const whereIn = (
  runs: readonly (readonly [number, number])[],
  reader: StoreReader,
): ReadonlySet<number> | undefined => {
  const segments = reader.segments()
  const ids = new Set<number>()
  for (const [from, to] of runs)
    for (let i = firstEndingFrom(from, segments); i < segments.length && segments[i]!.first <= to; i++) {
      ids.add(segments[i]!.id)
      if (ids.size * FEW_SEGMENTS > segments.length) return undefined
    }
  return ids
}
/** Fewer than one in this number of segments is few. */
const FEW_SEGMENTS = 2
/** The segments in which one of some parts may match, in chain order. */
export const segmentsWith = (parts: readonly Somewhere[], reader: StoreReader): readonly Segment[] => {
  const all = reader.segments()
  const ids = whereAny(parts)
  if (!ids || ids.size * FEW_SEGMENTS > all.length) return all
  return Array.from(ids, id => reader.segment(id)).sort((a, b) => a.first - b.first)
}
/** As `segmentsWith`, for the parts of a search. */
export const segmentsOf = (parts: readonly { evaluation: Somewhere }[], reader: StoreReader): readonly Segment[] =>
  segmentsWith(
    parts.map(({ evaluation }) => evaluation),
    reader,
  )
/** The segments, where they are few enough to be read one by one. */
export const segmentsIfFew = (where: Where | undefined, reader: StoreReader): ReadonlySet<number> | undefined => {
  const ids = where?.()
  return ids && ids.size * FEW_SEGMENTS <= reader.segments().length ? ids : undefined
}
