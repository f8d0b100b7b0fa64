import type { Kind } from '../../mapping/index.ts'
import { KINDS } from '../../mapping/index.ts'
import type { QueryValue } from '../../query/ast.ts'
import type { ChainPlace, SortSpec } from '../../query/request.ts'
import type { Explanation } from '../../query/score.ts'
import type { ReadHeader } from '../reader.ts'
import { numberedAs, positionOfOrdinal } from './fields/ordinals.ts'
import type { Evaluation } from './match/evaluate.ts'
import type { SearchScoring } from './scores/scoring.ts'

/** The matches of one kind. */
export interface SearchPart {
  kind: Kind
  evaluation: Evaluation
  /** The same for all parts of a search; undefined where every hit scores 1. */
  scoring?: SearchScoring | undefined
}

/** A match is sorted by it. An integer beyond 2^53 is the nearest double: where two are equal, their documents are asked. */
export type MatchKey = QueryValue

/** A match on its way to become a hit. */
export interface SearchMatch {
  kind: Kind
  position: number
  /** Its sort keys; its position comes behind them. */
  keys: (MatchKey | null)[]
  /** 1 where nothing else is said; where scores differ, once it is known. */
  score?: number
  /** How the score comes about, where that is asked for and not the same for all. */
  explanation?: Explanation
}

/** Makes matches of the ordinals of one kind's documents in a segment. Their keys are still to be read. */
export const matchMaker = (kind: Kind, header: ReadHeader): ((ordinal: number) => SearchMatch) => {
  const numbered = numberedAs(kind)
  return ordinal => ({ kind, position: positionOfOrdinal(header, numbered, ordinal), keys: [] })
}

/** Whether a sort is by the place in the chain itself. */
export const isByPlace = ({ by }: Pick<SortSpec, 'by'>): boolean => by === '_doc' || by === '_shard_doc'

/** Several kinds may stand at one position. */
export const comparePlaces = (a: ChainPlace, b: ChainPlace, descending: boolean): number =>
  (descending ? -1 : 1) * (a.position - b.position || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
