import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { Node, QueryValue } from '../ast.ts'
import type { Rounding } from '../dates/rounding.ts'
import type { Zone } from '../dates/time-zone.ts'
import type { JsonValue } from '../json.ts'
import type { ElementSort, SearchRequest, SortSpec } from '../request.ts'
import type { PipelineAggregation } from './pipelines/pipeline.ts'

/** A checked aggregation. */
export interface Aggregation {
  name: string
  spec: AggregationSpec
  gives: Gives
  aggs: readonly Aggregation[]
  /** In the order of computation. */
  pipelines: readonly PipelineAggregation[]
  meta?: JsonValue
}

export type Gives = 'bucket' | 'buckets' | 'number' | 'numbers' | 'hits'

export type Aggregations = Pick<Aggregation, 'aggs' | 'pipelines'>

export interface FieldValues {
  /** Kinds without the field have no values. */
  fields: Partial<Record<Kind, FieldPath>>
  /** A constant by kind, such as the index name; `_id` is distinct for each document. */
  meta?: Partial<Record<Kind, string>> | '_id'
  type: ValueType
  /** Value for documents without one. */
  missing: QueryValue | undefined
}

/** Dates are milliseconds since 1970. */
export type ValueType = 'keyword' | 'long' | 'double' | 'boolean' | 'date'

export interface OrderBy {
  /** `_count`, `_key`, or a path to a number of an inner aggregation. */
  by: string
  ascending: boolean
}

export interface Terms {
  include: ((text: string) => boolean) | undefined
  exclude: ((text: string) => boolean) | undefined
  partition: { partition: number; of: number } | undefined
  /** Include and exclude in the client's form, for forwarding. */
  given: { include: GivenTerms; exclude: GivenTerms }
}

/** Canonical texts, or a regular expression. */
export type GivenTerms = readonly string[] | { readonly regexp: string } | undefined

/** Numbers are milliseconds in histograms of dates. */
export interface HistogramOptions {
  minDocCount: number
  order: readonly OrderBy[]
  keyed: boolean
  format: Format
  /** Adds empty buckets up to these bounds; of dates they are keys. */
  extended: Edges | undefined
  /** Numbers: bounds of keys without the offset. Dates: keys from `min` to before `max`. */
  hard: Edges | undefined
}

export interface Edges {
  min: number | undefined
  max: number | undefined
}

/** Undefined if neither the field nor the request has a format. */
export type Format = ((value: number) => string) | undefined

export interface RangeOf {
  key: string | undefined
  from: number | undefined
  to: number | undefined
}

export type CompositeSource = { name: string; values: FieldValues; descending: boolean; missingBucket: boolean } & (
  | { by: 'terms'; format?: Format }
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
  | {
      kind: 'multi_terms'
      sources: readonly (CompositeSource & { by: 'terms'; format: Format })[]
      size: number
      shardSize: number
      minDocCount: number
      order: readonly OrderBy[]
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
      filters: readonly { name: string | undefined; query: Queries }[]
      other: string | undefined
    }
  | { kind: 'missing'; values: FieldValues }
  | { kind: 'global' }
  | { kind: 'nested'; path: string }
  | { kind: 'reverse_nested' }
  /** `of` is the kind of the bucket's documents. */
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
      /** Set for hits that are elements of a nested list. */
      elements: { path: string; sort: readonly ElementSort[] } | undefined
      scored: boolean
    } & Pick<SearchRequest, 'source' | 'shown' | 'trackScores'>)
  | { kind: 'avg' | 'sum' | 'min' | 'max' | 'stats'; values: FieldValues; format: Format; exact: boolean }
  | { kind: 'extended_stats'; values: FieldValues; format: Format; sigma: number }
  | { kind: 'value_count'; values: FieldValues; format: Format }
  | { kind: 'cardinality'; values: FieldValues; precision: number }
  | {
      kind: 'percentiles' | 'percentile_ranks'
      values: FieldValues
      /** Percents, or values to rank. */
      of: readonly number[]
      keyed: boolean
      compression: number
      hdrDigits: number | undefined
      format: Format
    }
  | {
      kind: 'median_absolute_deviation' | 'boxplot'
      values: FieldValues
      /** Used only if values do not fit in memory. */
      compression: number
      format: Format
    }
  | {
      kind: 'rate'
      /** Undefined: documents are counted. */
      values: FieldValues | undefined
      /** Whether values are counted, not added. */
      counts: boolean
      /** Whether all buckets have as many units. */
      isEven: boolean
      /** Units of time in the bucket of dates that starts here. */
      unitsFrom(start: number): number
      format: Format
    }
  | { kind: 'weighted_avg'; value: FieldValues; weight: FieldValues; format: Format }

export type AggregationType = AggregationSpec['kind']
export type SpecOf<K extends AggregationType> = OfType<AggregationSpec, K>
type OfType<S, K> = S extends { kind: infer T } ? (K & T extends never ? never : S) : never
