import type { EsType, FieldPath, Kind } from '../mapping/index.ts'
import type { Aggregations } from './aggs/ast.ts'
import type { AggregationCacheKeys } from './aggs/parse.ts'
import type { Node, QueryValue } from './ast.ts'
import type { NamedClause } from './scope.ts'
import type { Score } from './score.ts'

/** A checked search: what `parseSearch` makes of a request body. */
export interface SearchRequest {
  parts: RequestPart[]
  sort: SortSpec[]
  from: number
  /** Number of hits, or -1 for all. */
  size: number
  source: SourceFilter
  /** Up to which number the total is counted exactly: true without limit, false not at all. */
  trackTotal: boolean | number
  /** Milliseconds after which it is given up, where the request says so. */
  timeout?: number | undefined
  /** Matches that score less are none. */
  minScore?: number
  /** Of each kind only so many matches count, the first ones in the chain. */
  terminateAfter?: number
  names?: readonly NamedClause[]
  trackScores?: true
  /** Absent if hits show only `_source`; such hits are written by a faster path. */
  shown?: HitOptions
  collapse?: Collapse
  aggregations?: Aggregations | undefined
  /** Date math of it counts from the moment of the request: another moment has another answer. */
  readsNow?: true
  /** Texts that mean the same aggregations at any moment, whatever the query; undefined where there are none. */
  aggregated?: AggregationCacheKeys | undefined
  /** Only hits that come behind this one. */
  after?: After | undefined
  /** Hits that are sorted by the same have an order of their own, that of the chain, which `after` tells apart. `shown`: as one more sort value. */
  tiebreak?: 'shown' | 'hidden' | undefined
  /** Only documents of blocks in these runs of block numbers. */
  within?: readonly BlockRun[] | undefined
  slice?: BlockSlice | undefined
  /** What the first page of a cursor saw: nothing else is found. `now`: this is the first one, and is to tell what it sees. */
  seen?: SeenBlocks | 'now' | undefined
  /** Of a search of several networks: the request as it reads on each, in their order. */
  each?: readonly SearchRequest[] | undefined
  /** A reader's token, or what it stands for: hits behind it are found in the order of the chain. */
  resume?: string | { point: ResumePoint | 'now' } | undefined
}

export interface RequestPart {
  kind: Kind
  query: Node
  /** How well matches fit; without it, each scores 1. */
  score?: Score
  /** What hits fulfil as well; aggregations do not see it. */
  postFilter?: Node
  /** The query's conditions that may mark words of hits, where they are marked. */
  marks?: Node[]
  /** What the clauses of the query ask to be shown of what they found. */
  innerHits?: InnerHits[]
}

/** The stored blocks of a moment. */
export interface SeenBlocks {
  runs: readonly BlockRun[]
  /** Some of the blocks, the newest first, by which a reorganisation shows. */
  marks: readonly BlockMark[]
}

/** The number of a block, and the first hex digits of its hash. */
export type BlockMark = readonly [number: number, hash: string]

export type BlockRun = readonly [from: number, to: number]

/** One of `max` parts of the hits: each block is in one of them as a whole. */
export interface BlockSlice {
  id: number
  max: number
}

/** Where a page ended. */
export interface After {
  /** What the last hit was sorted by, key by key; null where it had nothing. */
  values: readonly (QueryValue | null)[]
  /** Where it stands. Undefined: all hits that are sorted by the same are passed. */
  place: ChainPlace | undefined
}

/** How far a reader has come. */
export interface ResumePoint {
  place: ChainPlace
  /** Blocks up to there. */
  marks: readonly BlockMark[]
}

export interface ChainPlace {
  kind: Kind
  position: number
}

export interface SortSpec {
  /**
   * `_score`, `_doc` (chain order), `_shard_doc` (the same, and of several kinds at one position the order of these), `_id`, or the field as
   * each kind has it; a kind without it is absent from `fields`.
   */
  by: '_score' | '_doc' | '_shard_doc' | '_id' | 'field'
  fields: Partial<Record<Kind, FieldPath>>
  order: 'asc' | 'desc'
  /** Where documents without a value come; or the value that they count as. */
  missing: '_last' | '_first' | { value: QueryValue }
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

/** What a hit shows beside its envelope and `_source`. */
export interface HitOptions {
  /** False with `"stored_fields": "_none_"`: then a hit has no `_id` either. */
  id: boolean
  version: boolean
  sequence: boolean
  explain: boolean
  fields: FieldAsk[]
  docvalueFields: FieldAsk[]
  highlight: HighlightField[]
  /** Whether integers in `_source` have `dec` beside their other members. */
  decimals: boolean
  /** Whether `_source` has the arguments also by their names. */
  argsByName: boolean
}

/** A field, or all that a pattern with `*` names, with the format that its dates are shown in. */
export interface FieldAsk {
  pattern: string
  format: string | undefined
}

/** How matches are marked in the fields that a pattern names. */
export interface HighlightField {
  pattern: string
  before: string
  after: string
  /** Most fragments of a field; 0 shows it whole. */
  fragments: number
  fragmentSize: number
  noMatchSize: number
  html: boolean
  byScore: boolean
  requireFieldMatch: boolean
  /** Replaces the search's own query. */
  queries: Partial<Record<Kind, Node[]>> | undefined
}

/** Shows only the first hit of each value of a field. */
export interface Collapse {
  name: string
  /** Kinds without the field are absent; their documents have no value. */
  fields: Partial<Record<Kind, FieldPath>>
  innerHits: { name: string; request: SearchRequest }[]
}

/** Inner hits of a clause: elements of its list, or related documents. */
export interface InnerHits {
  name: string
  by: 'nested' | 'child' | 'parent'
  path: string | undefined
  /** Has one part, with the clause's inner query; of `nested`, the kind is that of the hit. */
  request: SearchRequest
  /** For `nested`: sort of the elements, in place of the request's own sort. */
  elementSort: ElementSort[]
}

export interface ElementSort {
  /** Undefined: the element's place. */
  field: FieldPath | undefined
  order: 'asc' | 'desc'
  missing: '_last' | '_first'
}
