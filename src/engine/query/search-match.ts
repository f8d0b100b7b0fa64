import type { Kind } from '../../mapping/index.ts'
import { KINDS } from '../../mapping/index.ts'
import type { QueryValue } from '../../query/ast.ts'
import type { ChainPlace, SortSpec } from '../../query/request.ts'
import type { Explanation } from '../../query/score.ts'
import type { ReadHeader } from '../reader.ts'
import { numberedAs, positionOfOrdinal } from './fields/ordinals.ts'
import type { Evaluation } from './match/evaluate.ts'
import type { SearchScoring } from './scores/scoring.ts'

/** Matches of one kind. */
export interface SearchPart {
  kind: Kind
  evaluation: Evaluation
  /** The same for all parts of a search; undefined where every hit scores 1. */
  scoring?: SearchScoring | undefined
}

/** Sort key. Integers above 2^53 are rounded to doubles; for ties their documents are read. */
export type MatchKey = QueryValue

/** A match that may become a hit. */
export interface SearchMatch {
  kind: Kind
  position: number
  /** Sort keys; the position breaks ties. */
  keys: (MatchKey | null)[]
  /** Default 1; set later where scores differ. */
  score?: number
  /** Explanation of the score, if requested and not the same for all. */
  explanation?: Explanation
}

/** Creates matches from ordinals of one kind in a segment, with keys still to be read. */
export const matchMaker = (kind: Kind, header: ReadHeader): ((ordinal: number) => SearchMatch) => {
  const numbered = numberedAs(kind)
  return ordinal => ({ kind, position: positionOfOrdinal(header, numbered, ordinal), keys: [] })
}

/** Whether a sort is by chain position. */
export const isByPlace = ({ by }: Pick<SortSpec, 'by'>): boolean => by === '_doc' || by === '_shard_doc'

/** Several kinds may share a position. */
export const comparePlaces = (a: ChainPlace, b: ChainPlace, descending: boolean): number =>
  (descending ? -1 : 1) * (a.position - b.position || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
