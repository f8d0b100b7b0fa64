import type { FieldPath, Kind } from '../mapping/index.ts'
import type { Node } from './ast.ts'
import type { InnerHits, Named } from './collected.ts'
import type { Score } from './score.ts'

/** A checked search: what `parseSearch` makes of a request body. */
export interface SearchRequest {
  /** The searched kinds, each with the query as it reads on that kind. */
  parts: QueryPart[]
  sort: Sort[]
  from: number
  /** Number of hits, or -1 for all. */
  size: number
  source: SourceFilter
  /** Up to which number the total is counted exactly: true without limit, false not at all. */
  trackTotal: boolean | number
  /** Matches that score less are none. */
  minScore?: number
  /** Whether hits have their scores even where they are sorted by something else. */
  trackScores?: true
  /** Clauses that have names. */
  names?: readonly Named[]
  /** What is shown of what made the hits match. */
  innerHits?: readonly InnerHits[]
}

export interface QueryPart {
  kind: Kind
  query: Node
  /** How well matches fit; without it, each scores 1. */
  score?: Score
}

export interface Sort {
  /** `_score`, `_doc` (chain order), or the field as each kind has it; a kind without it is absent from `fields`. */
  by: '_score' | '_doc' | 'field'
  fields: Partial<Record<Kind, FieldPath>>
  order: 'asc' | 'desc'
  missing: '_last' | '_first'
}

/** Which parts of `_source` are shown. `true`: all; `false`: no `_source` at all; patterns may hold `*`. */
export type SourceFilter = boolean | { includes: string[]; excludes: string[] }
