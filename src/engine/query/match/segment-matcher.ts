import type { Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import type { Posting, Reader } from '../../reader.ts'
import type { Numbered, SegmentView } from '../fields/ordinals.ts'
import { and, EMPTY, listed, type OrdinalSet, or } from './ordinal-set.ts'
import { ifFew, type Where } from './segment-pruning.ts'

/** A part of the plan at work: it may look at no more than the candidates that are given. */
export interface SegmentMatcher {
  matches(at: SegmentView, within: OrdinalSet | undefined): OrdinalSet
  /** Undefined where counting is not cheaper than matching. */
  count?(at: SegmentView): number | undefined
  /** Matches nothing but events. */
  events?: boolean
  where?: Where | undefined
}

export interface Context {
  kind: Kind
  numbered: Numbered
  reader: Reader
  ask: Ask
  /** Of a part of a conjunction: it is asked in these segments alone. */
  among?: Where | undefined
}

/** Asks the documents at these positions themselves. */
export type Ask = (kind: Kind, node: Node, positions: readonly number[]) => boolean[]

/** Postings by segment, read for all segments that count at once when the first one asks. */
export interface PostingsBySegment {
  (segment: number): readonly Posting[]
  where: Where
}

export const postingsBySegment = (
  { reader, among }: Pick<Context, 'reader' | 'among'>,
  read: (among: ReadonlySet<number> | undefined) => readonly Posting[],
): PostingsBySegment => {
  let found: Map<number, Posting[]> | undefined
  let where: ReadonlySet<number> | undefined
  const all = () => (found ??= Map.groupBy(read(ifFew(among, reader)), posting => posting.segment))
  return Object.assign((segment: number) => all().get(segment) ?? NO_POSTINGS, {
    where: () => (where ??= new Set(all().keys())),
  })
}
const NO_POSTINGS: readonly Posting[] = []

/** Of neighbouring candidates those alone are put together that are among them. */
export const union = (
  postings: readonly Posting[],
  reader: Reader,
  size: number,
  within?: OrdinalSet | undefined,
): OrdinalSet => {
  if (postings.length === 0) return EMPTY
  const lists = postings.map(posting => listed(reader.ordinals(posting)))
  return or(within?.form === 'run' ? lists.map(list => and(list, within, size)) : lists, size)
}

export const createTerms = (
  terms: readonly { term: number; fingerprint: number }[],
  context: Pick<Context, 'reader' | 'among'>,
): SegmentMatcher => {
  const { reader } = context
  const postings = postingsBySegment(context, among =>
    terms.flatMap(({ term, fingerprint }) => reader.postings(term, fingerprint, among)),
  )
  return {
    where: postings.where,
    matches: ({ segment, size }, within) => union(postings(segment.id), reader, size, within),
    count: ({ segment }) => (terms.length === 1 ? (postings(segment.id)[0]?.n ?? 0) : undefined),
  }
}
