import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation, AggregationType, Queries, SpecOf } from '../../query/aggs/ast.ts'
import type { Result, Results } from '../../query/aggs/result.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { Answered } from './answer.ts'

/** One kind of aggregation: how a cluster is asked for it, and how its answer reads. */
export interface ClusterAggregation<K extends AggregationType> {
  /** Refuses what the cluster does otherwise. Those inside lie beside it, or in its own one called `INNER`. */
  ask(spec: SpecOf<K>, asking: Asking): object
  /** `found` is undefined in a bucket without documents. */
  read(spec: SpecOf<K>, found: Answered | undefined, reading: Reading): Result
}

export interface Shared {
  request: SearchRequest
  hits: HitsInBuckets
  /** The score of all that the search finds; undefined where hits tell theirs. */
  uniform: number | undefined
}

export interface Asking extends Shared {
  /** A query of the cluster that finds what these find. */
  query(queries: Queries): object
  /** Finds all that may be seen, whatever the search asks for. */
  everything: object
}

export interface Reading extends Shared {
  aggregation: Aggregation
  limits: Limits
  /** Counts buckets of the answer, and refuses too many. */
  count(buckets: number): void
  /** What is inside of a bucket. */
  inner(bucket: Answered | undefined): Results
}

/** How hits in buckets are asked for and written: as those of a search. `uniform`: the score of all; undefined where they tell theirs. */
export interface HitsInBuckets {
  /** Members of the body of a search such as `sort`, without `size` and `from`. */
  ask(request: SearchRequest, uniform: number | undefined): object
  /** `text`: a list of hits as the cluster wrote it. */
  write(request: SearchRequest, text: string, uniform: number | undefined): string
  /** How a number of hits is written. */
  total(count: number): string
}

/** The documents of one kind that a search finds. */
export type CompileQuery = (kind: Kind) => object

/** The name of an own aggregation that holds those inside. */
export const INNER = 'in'

/** An aggregation is asked for by a name that stands for nothing else in an answer. */
export const nameOf = (name: string): string => `a${name}`
