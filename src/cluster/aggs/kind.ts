import { asBigint, readDocument } from '../../documents/show.ts'
import type { Limits } from '../../limits/index.ts'
import type { Aggregation, AggregationType, Queries, SpecOf } from '../../query/aggs/ast.ts'
import type { AggregationResult, AggregationResults } from '../../query/aggs/result.ts'
import type { SearchRequest } from '../../query/request.ts'

/** One kind of aggregation: how a cluster is asked for it, and how its answer reads. */
export interface ClusterAggregation<K extends AggregationType> {
  /** Refuses what the cluster does otherwise. Those inside lie beside it, or in its own one called `INNER`. */
  ask(spec: SpecOf<K>, asking: AggregationAsking): object
  /** `found` is undefined in a bucket without documents. */
  read(spec: SpecOf<K>, found: AggregationAnswer | undefined, reading: BucketReading): AggregationResult
}

export interface AggregationContext {
  request: SearchRequest
  hits: HitsInBuckets
  /** The score of all that the search finds; undefined where hits tell theirs. */
  uniform: number | undefined
}

export interface AggregationAsking extends AggregationContext {
  /** A query of the cluster that finds what these find. */
  query(queries: Queries): object
  /** Finds all that may be seen, whatever the search asks for. */
  everything: object
}

export interface BucketReading extends AggregationContext {
  aggregation: Aggregation
  limits: Limits
  /** Counts buckets of the answer, and refuses too many. */
  count(buckets: number): void
  /** What is inside of a bucket. */
  inner(bucket: AggregationAnswer | undefined): AggregationResults
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

/** The name of an own aggregation that holds those inside. */
export const INNER = 'in'

/** An aggregation is asked for by a name that stands for nothing else in an answer. */
export const askedName = (name: string): string => `a${name}`

/** What a cluster answered to an aggregation or in a bucket. All names in it are ours. */
export type AggregationAnswer = Readonly<Record<string, unknown>>
/**
 * Integers that a double does not hold are bigints. What stands under a member `hits` stays text, since documents go to whoever asked as
 * they are stored.
 */
export const readAggregations = (text: string): AggregationAnswer =>
  readDocument(withTextOfHits(text), asBigint) as AggregationAnswer
const withTextOfHits = (text: string): string => {
  let parts = ''
  let done = 0
  for (let at = text.indexOf(HITS); at >= 0; at = text.indexOf(HITS, done)) {
    const from = at + HITS.length
    const to = endOfObject(text, from)
    parts += `${text.slice(done, from)}${JSON.stringify(text.slice(from, to))}`
    done = to
  }
  return parts + text.slice(done)
}
/** Within a string its quotes would be escaped. */
const HITS = '"hits":'
const endOfObject = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = closingQuote(text, at)
    else if (code === OPEN) depth++
    else if (code === CLOSE && --depth === 0) return at + 1
  }
  throw new Error('the cluster sent hits without an end')
}
/** Where its last quote stands. */
const closingQuote = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  throw new Error('the cluster sent a text without an end')
}
const [QUOTE, OPEN, CLOSE, BACKSLASH] = [0x22, 0x7b, 0x7d, 0x5c]
/** A number, null where none is; what is not finite comes as text. */
export const answerNumber = (value: unknown): number | null =>
  value === null || value === undefined ? null : typeof value === 'number' ? value : Number(value)
export const answerCount = (found: AggregationAnswer | undefined, name = 'doc_count'): number =>
  answerNumber(found?.[name]) ?? 0
export const answerObject = (found: AggregationAnswer | undefined, name: string): AggregationAnswer | undefined =>
  found?.[name] as AggregationAnswer | undefined
export const answerList = (found: AggregationAnswer | undefined, name: string): readonly AggregationAnswer[] =>
  (found?.[name] as readonly AggregationAnswer[] | undefined) ?? []
