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
  /** Drops matches with a lower score. */
  minScore?: number
  /** Maximum matches of each kind, the first ones in chain order. */
  terminateAfter?: number
  names?: readonly NamedClause[]
  trackScores?: true
  /** Absent if hits show only `_source`; such hits are written by a faster path. */
  shown?: HitOptions
  collapse?: Collapse
  aggregations?: Aggregations | undefined
  /** Date math uses the request's time, so the answer is only valid for that time. */
  readsNow?: true
  /** Cache keys of the aggregations, for any time and query; undefined if not cacheable. */
  aggregated?: AggregationCacheKeys | undefined
  /** Only hits after this one. */
  after?: After | undefined
  /** Breaks ties of equal sort values by chain order; `shown`: as one more sort value. */
  tiebreak?: 'shown' | 'hidden' | undefined
  /** Only documents of blocks in these runs of block numbers. */
  within?: readonly BlockRun[] | undefined
  slice?: BlockSlice | undefined
  /** Blocks that a cursor's first page saw; others are hidden. `now`: on the first page. */
  seen?: SeenBlocks | 'now' | undefined
  /** For several networks: the request as parsed for each, in their order. */
  each?: readonly SearchRequest[] | undefined
  /** Resume token or its decoded point: finds hits after it, in chain order. */
  resume?: string | { point: ResumePoint | 'now' } | undefined
}

export interface RequestPart {
  kind: Kind
  query: Node
  /** Score of matches; 1 by default. */
  score?: Score
  /** Extra filter on hits, which aggregations ignore. */
  postFilter?: Node
  /** Conditions of the query whose words may be highlighted in hits. */
  marks?: Node[]
  /** Inner hits that clauses of the query request. */
  innerHits?: InnerHits[]
}

/** The stored blocks of a moment. */
export interface SeenBlocks {
  runs: readonly BlockRun[]
  /** Some of the blocks, newest first, to detect a reorganisation. */
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

/** Position of a page's last hit. */
export interface After {
  /** The last hit's sort values, key by key; null for missing ones. */
  values: readonly (QueryValue | null)[]
  /** The last hit's position; undefined skips all hits with the same sort values. */
  place: ChainPlace | undefined
}

/** Position that a reader has reached. */
export interface ResumePoint {
  place: ChainPlace
  /** Blocks up to `place`, to detect a reorganisation. */
  marks: readonly BlockMark[]
}

export interface ChainPlace {
  kind: Kind
  position: number
}

export interface SortSpec {
  /**
   * `_score`, `_doc` (chain order), `_shard_doc` (chain order, then order of kinds), `_id`, or a
   * field, which is absent from `fields` for kinds that do not have it.
   */
  by: '_score' | '_doc' | '_shard_doc' | '_id' | 'field'
  fields: Partial<Record<Kind, FieldPath>>
  order: 'asc' | 'desc'
  /** Position of documents without a value, or the value that replaces it. */
  missing: '_last' | '_first' | { value: QueryValue }
  /** Which of several values counts; by default, the least if ascending, else the greatest. */
  mode?: SortMode | undefined
  /** Restricts values to some elements of a nested list. */
  nested?: NestedSort | undefined
  /** Format of dates in sort values; milliseconds by default. */
  format?: string | undefined
  /** Type that numbers are converted to for comparison. */
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

/** Shown parts of `_source`; `true`: all, `false`: none. Patterns may contain `*`. */
export type SourceFilter = boolean | SourcePatterns
export interface SourcePatterns extends SourceShape {
  includes: string[]
  excludes: string[]
}
/** Other forms of values in `_source`. */
export interface SourceShape {
  /** Whether arguments have their values as members with literal names, such as `"value.hex"`. */
  flatArgs?: true
  /** Whether amounts have `eth` behind `coin`. */
  eth?: true
}

/** What a hit shows besides its envelope and `_source`. */
export interface HitOptions {
  /** False with `"stored_fields": "_none_"`: then a hit has no `_id` either. */
  id: boolean
  version: boolean
  sequence: boolean
  explain: boolean
  fields: FieldAsk[]
  docvalueFields: FieldAsk[]
  highlight: HighlightField[]
  /** Whether integers in `_source` also have the member `dec`. */
  decimals: boolean
  /** Whether `_source` has the arguments also by their names. */
  argsByName: boolean
}

/** A field, or all that a pattern with `*` names, with the format that its dates are shown in. */
export interface FieldAsk {
  pattern: string
  format: string | undefined
}

/** Highlighting of the fields that match a pattern. */
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
