import type { Json } from '../json.ts'

/** What aggregations found, before it is written as JSON: by the names of the request, in its order. */
export type Results = Map<string, Result>

export type Result = Buckets | SingleBucket | Metric | TopHits

/**
 * What members hold (`[name, value]`): a number is a double, written as Java does (`1.0`, `1.0E10`); a bigint is an integer of any
 * size; a `Map` is an object. Lists, texts, booleans and null are themselves.
 */
export type Value = null | boolean | number | bigint | string | readonly Value[] | ReadonlyMap<string, Value>
export type Member = [name: string, value: Value]

/** Of aggregations with several buckets: terms, histograms, ranges, filters, composite. */
export interface Buckets {
  is: 'buckets'
  /** What `typed_keys` puts before the name: `sterms`. */
  type: string
  /** Members beside `buckets`, in the order in which Elasticsearch writes them. */
  members: Member[]
  /** Members behind them. */
  after?: Member[]
  /** Whether the buckets are written as an object, by their names. */
  keyed: boolean
  buckets: Bucket[]
  meta?: Json
}

export interface Bucket {
  /** Only of keyed ones. */
  name?: string
  /** Members that say which bucket it is, in Elasticsearch's order: `key_as_string`, `key`, `from`, `to`. */
  key: Member[]
  /** The key as a number, where it is one: the width of a bucket follows from two neighbours. */
  number?: number
  docCount: number
  results: Results
}

/** Of filter, missing, global, nested, reverse_nested. */
export interface SingleBucket {
  is: 'bucket'
  type: string
  docCount: number
  results: Results
  meta?: Json
}

export interface Metric {
  is: 'metric'
  type: string
  /** All members, in Elasticsearch's order. */
  body: Member[]
  /**
   * The number that a path such as `1`, `1.avg` or `1[95.0]` names; `undefined` as the path's rest stands for the aggregation's own
   * value. Null where there is none, undefined where the metric has no such number.
   */
  number(rest: string | undefined): number | null | undefined
  meta?: Json
}

export interface TopHits {
  is: 'hits'
  type: 'top_hits'
  /** What stands under `hits`, as JSON text. */
  hits: string
  meta?: Json
}

/** About the memory that a result takes until it is written, without the buckets inside of its own. */
export const bytesOfResult = (result: Result): number => {
  switch (result.is) {
    case 'buckets':
      return SOME_BYTES * (result.buckets.length + 1)
    case 'bucket':
      return SOME_BYTES
    case 'hits':
      return SOME_BYTES + 2 * result.hits.length
    case 'metric':
      return result.body.reduce((sum, [, value]) => sum + MEMBER_BYTES * sizeOf(value), SOME_BYTES)
  }
}

const SOME_BYTES = 200
const MEMBER_BYTES = 60

const sizeOf = (value: Value): number =>
  value instanceof Map ? value.size : Array.isArray(value) ? 4 * value.length : 1
