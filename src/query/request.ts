import type { FieldPath, Kind } from '../mapping/index.ts'
import type { Aggregations } from './aggs/ast.ts'
import type { Node } from './ast.ts'

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
  aggregations?: Aggregations
  /** A text that means the same aggregations at any moment, whatever the query; undefined where there is none. */
  aggregated?: string | undefined
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
