import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { Node, QueryValue } from '../ast.ts'
import type { Rounding } from '../dates/rounding.ts'
import type { Zone } from '../dates/time-zone.ts'
import type { JsonValue } from '../json.ts'
import type { ElementSort, SearchRequest, SortSpec } from '../request.ts'
import type { PipelineAggregation } from './pipelines/pipeline.ts'

/** A checked aggregation: what it computes, and what is computed in each of its buckets. */
export interface Aggregation {
  name: string
  spec: AggregationSpec
  gives: Gives
  /** In the order of the request. */
  aggs: readonly Aggregation[]
  /** What is computed from those inside, or from the buckets, in the order in which it can be. */
  pipelines: readonly PipelineAggregation[]
  meta?: JsonValue
}

/** What an aggregation answers: others may lie in buckets, and paths lead to numbers. */
export type Gives = 'bucket' | 'buckets' | 'number' | 'numbers' | 'hits'

/** The aggregations of a request. */
export type Aggregations = Pick<Aggregation, 'aggs' | 'pipelines'>

/** The values that an aggregation looks at. */
export interface FieldValues {
  /** The field as each kind has it; a kind without it has no values. */
  fields: Partial<Record<Kind, FieldPath>>
  /** What all documents of a kind have in place of a field, such as the name of their index; `_id`: each has one of its own. */
  meta?: Partial<Record<Kind, string>> | '_id'
  type: ValueType
  /** Stands for the value of documents without one. */
  missing: QueryValue | undefined
}

/** How values are compared and shown. Dates are milliseconds since 1970. */
export type ValueType = 'keyword' | 'long' | 'double' | 'boolean' | 'date'

export interface OrderBy {
  /** `_count`, `_key`, or the way to a number of an aggregation inside. */
  by: string
  ascending: boolean
}

/** Which terms become buckets. */
export interface Terms {
  /** Undefined: all. */
  include: ((text: string) => boolean) | undefined
  exclude: ((text: string) => boolean) | undefined
  partition: { partition: number; of: number } | undefined
  /** The same as data. */
  given: { include: GivenTerms; exclude: GivenTerms }
}

/** Terms as text by which they are known, or a regular expression; undefined: nothing was said of them. */
export type GivenTerms = readonly string[] | { readonly regexp: string } | undefined

/** Numbers are those of the histogram: milliseconds where it is one of dates. */
export interface HistogramOptions {
  minDocCount: number
  order: readonly OrderBy[]
  keyed: boolean
  format: Format
  /** Buckets are made up to these; of dates they are keys. */
  extended: Edges | undefined
  /** Buckets beyond are left out: of numbers by their keys without the offset, of dates from one key up to and without the other. */
  hard: Edges | undefined
}

export interface Edges {
  min: number | undefined
  max: number | undefined
}

/** Writes a number beside itself; undefined where neither the field nor the request names a format. */
export type Format = ((value: number) => string) | undefined

export interface RangeOf {
  key: string | undefined
  from: number | undefined
  to: number | undefined
}

export type CompositeSource = { name: string; values: FieldValues; descending: boolean; missingBucket: boolean } & (
  | { by: 'terms' }
  | { by: 'histogram'; interval: number }
  | { by: 'date_histogram'; rounding: Rounding; format: Format; parse: (text: string) => number }
)

export type Queries = Partial<Record<Kind, Node>>

export type AggregationSpec =
  | {
      kind: 'terms'
      values: FieldValues
      size: number
      shardSize: number
      minDocCount: number
      order: readonly OrderBy[]
      terms: Terms
      format: Format
    }
  | { kind: 'rare_terms'; values: FieldValues; maxDocCount: number; terms: Terms; format: Format }
  | ({ kind: 'histogram'; values: FieldValues; interval: number; offset: number } & HistogramOptions)
  | ({ kind: 'date_histogram'; values: FieldValues; rounding: Rounding } & HistogramOptions)
  | {
      kind: 'auto_date_histogram'
      values: FieldValues
      buckets: number
      zone: Zone
      format: Format
      least: string | undefined
    }
  | {
      kind: 'range' | 'date_range'
      values: FieldValues
      ranges: readonly RangeOf[]
      keyed: boolean
      format: Format
    }
  | { kind: 'filter'; query: Queries }
  | {
      kind: 'filters'
      /** Without names they are answered as a list. */
      filters: readonly { name: string | undefined; query: Queries }[]
      other: string | undefined
    }
  | { kind: 'missing'; values: FieldValues }
  | { kind: 'global' }
  | { kind: 'nested'; path: string }
  | { kind: 'reverse_nested' }
  /** `of` is the kind that it leads to. */
  | { kind: 'children' | 'parent'; child: Kind; of: Kind }
  | {
      kind: 'top_metrics'
      metrics: readonly { name: string; values: FieldValues; format: Format }[]
      sort: SortSpec
      size: number
    }
  | {
      kind: 'composite'
      sources: readonly CompositeSource[]
      size: number
      after: readonly (QueryValue | null)[] | undefined
    }
  | ({
      kind: 'top_hits'
      size: number
      from: number
      sort: SortSpec[]
      /** Of elements of a nested list; undefined where documents are shown. */
      elements: { path: string; sort: readonly ElementSort[] } | undefined
      /** Whether hits have the scores of the query. */
      scored: boolean
    } & Pick<SearchRequest, 'source' | 'shown' | 'trackScores'>)
  | { kind: 'avg' | 'sum' | 'min' | 'max' | 'stats'; values: FieldValues; format: Format; exact: boolean }
  | { kind: 'extended_stats'; values: FieldValues; format: Format; sigma: number }
  | { kind: 'value_count'; values: FieldValues; format: Format }
  | { kind: 'cardinality'; values: FieldValues; precision: number }
  | {
      kind: 'percentiles' | 'percentile_ranks'
      values: FieldValues
      /** Percents, or values whose ranks are wanted. */
      of: readonly number[]
      keyed: boolean
      compression: number
      hdrDigits: number | undefined
      format: Format
    }
  | {
      kind: 'median_absolute_deviation' | 'boxplot'
      values: FieldValues
      /** Counts where there are too many values for all to be kept. */
      compression: number
      format: Format
    }
  | { kind: 'weighted_avg'; value: FieldValues; weight: FieldValues; format: Format }

export type AggregationType = AggregationSpec['kind']
export type SpecOf<K extends AggregationType> = OfType<AggregationSpec, K>
type OfType<S, K> = S extends { kind: infer T } ? (K & T extends never ? never : S) : never
