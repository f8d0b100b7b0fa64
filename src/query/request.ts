import type { EsType, FieldPath, Kind } from '../mapping/index.ts'
import type { Node, Value } from './ast.ts'

/** A checked search: what `parseSearch` makes of a request body. */
export interface SearchRequest {
  /** The searched kinds, each with the query as it reads on that kind. */
  parts: { kind: Kind; query: Node }[]
  sort: Sort[]
  from: number
  /** Number of hits, or -1 for all. */
  size: number
  source: SourceFilter
  /** Up to which number the total is counted exactly: true without limit, false not at all. */
  trackTotal: boolean | number
  /** Only hits that come behind this one. */
  after?: After | undefined
  /** Hits that are sorted by the same have an order of their own, that of the chain, which `after` tells apart. `shown`: as one more sort value. */
  tiebreak?: 'shown' | 'hidden' | undefined
  /** Only documents of blocks in these runs of block numbers. */
  within?: readonly Run[] | undefined
  slice?: Slice | undefined
  /** What the first page of a cursor saw: nothing else is found. `now`: this is the first one, and is to tell what it sees. */
  seen?: Seen | 'now' | undefined
  /** A reader's token, or what it stands for: hits behind it are found in the order of the chain. */
  resume?: string | { point: ResumePoint | 'now' } | undefined
  /** Whether hits show their scores although they are sorted by something else. */
  trackScores?: boolean | undefined
  /** The caller's own deadline, in milliseconds. */
  timeoutMs?: number | undefined
}

/** The stored blocks of a moment. */
export interface Seen {
  runs: readonly Run[]
  /** Some of the blocks, the newest first, by which a reorganisation shows. */
  marks: readonly Mark[]
}

/** The number of a block, and the first hex digits of its hash. */
export type Mark = readonly [number: number, hash: string]

export type Run = readonly [from: number, to: number]

/** One of `max` parts of the hits: each block is in one of them as a whole. */
export interface Slice {
  id: number
  max: number
}

/** Where a page ended. */
export interface After {
  /** What the last hit was sorted by, key by key; null where it had nothing. */
  values: readonly (Value | null)[]
  /** Where it stands. Undefined: all hits that are sorted by the same are passed. */
  place: Place | undefined
}

/** How far a reader has come. */
export interface ResumePoint {
  place: Place
  /** Blocks up to there. */
  marks: readonly Mark[]
}

export interface Place {
  kind: Kind
  position: number
}

export interface Sort {
  /**
   * `_score`, `_doc` (chain order), `_shard_doc` (the same, and of several kinds at one position the order of these), or the field as each kind
   * has it; a kind without it is absent from `fields`.
   */
  by: '_score' | '_doc' | '_shard_doc' | 'field'
  fields: Partial<Record<Kind, FieldPath>>
  order: 'asc' | 'desc'
  /** Where documents without a value come; or the value that they count as. */
  missing: '_last' | '_first' | { value: Value }
  /** Which of several values counts; the least in an ascending sort and the greatest in a descending one by default. */
  mode?: SortMode | undefined
  /** Of which elements of a nested list the values are. */
  nested?: NestedSort | undefined
  /** How dates among the sort values are written; as milliseconds by default. */
  format?: string | undefined
  /** What numbers are turned into before they are compared. */
  as?: 'long' | 'double' | 'date_nanos' | undefined
  /** Type of a field that no kind has. */
  unmapped?: EsType | undefined
}

export type SortMode = 'min' | 'max' | 'sum' | 'avg' | 'median'

export interface NestedSort {
  path: string
  /** Condition on the elements, as each kind reads it. */
  filter: Partial<Record<Kind, Node>>
  /** Elements that are looked at. */
  most: number
}

/** Which parts of `_source` are shown. `true`: all; `false`: no `_source` at all; patterns may hold `*`. */
export type SourceFilter = boolean | { includes: string[]; excludes: string[] }
