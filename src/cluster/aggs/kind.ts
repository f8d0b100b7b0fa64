import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation, AggregationType, Queries, SpecOf } from '../../query/aggs/ast.ts'
import type { Result, Results, SingleBucket } from '../../query/aggs/result.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { Answered } from './answer.ts'
import type { Most } from './most.ts'

/**
 * One kind of aggregation: how a cluster is asked for it, and what its answer means. Where an answer does not tell enough, the cluster is
 * asked once more, with what was learnt from it.
 */
export interface ClusterAggregation<K extends AggregationType> {
  /**
   * The body of an aggregation. Those inside of it lie in it, or in all of its own whose names begin with `INNER`. Refuses what the cluster
   * does otherwise.
   */
  ask(spec: SpecOf<K>, asking: Asking): object
  /** Reads what was answered; undefined stands for a bucket without documents. What it returns after `again` is nobody's answer. */
  read(spec: SpecOf<K>, found: Answered | undefined, reading: Reading): Result
}

interface Shared {
  aggregation: Aggregation
  request: SearchRequest
  hits: HitsInBuckets
  /** The score of all that the search finds; undefined where hits tell theirs. */
  uniform: number | undefined
  /** What `again` left behind when the cluster was asked before. */
  known: unknown
  most: Most
}

/** An aggregation as it is asked. */
export interface Asking extends Shared {
  /** Whether it lies in no other. */
  isTop: boolean
  /** Whether what is told is added to what other networks tell. */
  isJoined: boolean
  /** Of the documents that it looks at. */
  kinds: readonly Kind[]
  /** A query of the cluster that finds what these find. */
  query(queries: Queries): object
  /** Finds all that may be seen, whatever the search asks for. */
  everything: object
  /** Asks for one more aggregation, of all documents that may be seen. */
  beside(body: object): void
}

export interface Reading extends Shared {
  limits: Limits
  /** Refuses too many buckets before they are made. */
  room(buckets: number): void
  /** Counts buckets of the answer, and refuses too many. */
  count(buckets: number): void
  /** What is inside of a bucket, which `name` tells from others of this one. */
  inner(bucket: Answered | undefined, name: string): Results
  /** Tells the bucket above from others, in whatever answer. */
  owner: string
  /** What this answer tells of the aggregation in all buckets above, for the next time that the cluster is asked. */
  learnt<T>(make: () => T): T
  /** Has the cluster asked once more, knowing this, or what was learnt. */
  again(known?: unknown): void
  /** What was asked beside. */
  beside: Answered | undefined
  /** Of aggregations of related documents, which are searches of their own. */
  related: SingleBucket | undefined
}

/** How hits in buckets are asked for and written: as those of a search. `uniform`: the score of all; undefined where they tell theirs. */
export interface HitsInBuckets {
  /** Members of the body of a search such as `sort`, without `size` and `from`. */
  ask(request: SearchRequest, uniform: number | undefined): object
  /** `text`: a list of hits as the cluster wrote it. */
  write(request: SearchRequest, text: string, uniform: number | undefined): string
  /** What a hit shows as `sort`, from what the cluster wrote. */
  sorted(request: SearchRequest, sort: readonly unknown[], uniform: number | undefined): readonly unknown[]
  /** How a number of hits is written. */
  total(count: number): string
}

/** What the names of own aggregations begin with that hold those inside. */
export const INNER = 'in'
