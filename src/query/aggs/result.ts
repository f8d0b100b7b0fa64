/** What aggregations found, before it is written as JSON: by the names of the request, in its order. */
export type Results = Map<string, Result>

export type Result = Buckets | SingleBucket | Metric | TopHits

/** Of aggregations with several buckets: terms, histograms, ranges, filters, composite. */
export interface Buckets {
  is: 'buckets'
  /** What `typed_keys` puts before the name: `sterms`. */
  type: string
  /** Members beside `buckets`, in the order in which Elasticsearch writes them. */
  members: [name: string, value: unknown][]
  /** Whether the buckets are written as an object, by their names. */
  keyed: boolean
  buckets: Bucket[]
  meta?: unknown
}

export interface Bucket {
  /** Only of keyed ones. */
  name?: string
  /** Members that say which bucket it is, in Elasticsearch's order: `key_as_string`, `key`, `from`, `to`. */
  key: [name: string, value: unknown][]
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
  meta?: unknown
}

export interface Metric {
  is: 'metric'
  type: string
  /** All members, in Elasticsearch's order. */
  body: [name: string, value: unknown][]
  /**
   * The number that a path such as `1`, `1.avg` or `1[95.0]` names; `undefined` as the path's rest stands for the aggregation's own
   * value. Null where there is none, undefined where the metric has no such number.
   */
  number(rest: string | undefined): number | null | undefined
  meta?: unknown
}

export interface TopHits {
  is: 'hits'
  type: 'top_hits'
  /** What stands under `hits`, as JSON text. */
  hits: string
  meta?: unknown
}
