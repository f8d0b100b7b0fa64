import { asBigint, readDocument } from '../../documents/show.ts'
import type { Limits } from '../../limits/index.ts'
import type { Aggregation, AggregationType, Queries, SpecOf } from '../../query/aggs/ast.ts'
import type { AggregationResult, AggregationResults } from '../../query/aggs/result.ts'
import type { SearchRequest } from '../../query/request.ts'

/** One kind of aggregation: its request to a cluster, and the reading of the answer. */
export interface ClusterAggregation<K extends AggregationType> {
  /** Refuses what the cluster does differently. Children are siblings, or inside `INNER`. */
  ask(spec: SpecOf<K>, asking: AggregationAsking): object
  /** `found` is undefined in a bucket without documents. */
  read(spec: SpecOf<K>, found: AggregationAnswer | undefined, reading: BucketReading): AggregationResult
}

export interface AggregationContext {
  request: SearchRequest
  hits: HitsInBuckets
  /** Score of all hits; undefined if each hit has its own. */
  uniform: number | undefined
}

export interface AggregationAsking extends AggregationContext {
  /** Translates to a query of the cluster. */
  query(queries: Queries): object
  /** Matches all visible documents, regardless of the search. */
  everything: object
}

export interface BucketReading extends AggregationContext {
  aggregation: Aggregation
  limits: Limits
  /** Counts buckets of the answer; throws above the limit. */
  count(buckets: number): void
  /** Results of the sub-aggregations. */
  inner(bucket: AggregationAnswer | undefined): AggregationResults
}

/** Requests and writes hits in buckets like those of a search. `uniform`: the common score. */
export interface HitsInBuckets {
  /** Search body members such as `sort`, without `size` and `from`. */
  ask(request: SearchRequest, uniform: number | undefined): object
  /** `text`: a list of hits as written by the cluster. */
  write(request: SearchRequest, text: string, uniform: number | undefined): string
  /** Formats a hit count. */
  total(count: number): string
}

/** Name of an added aggregation that contains the sub-aggregations. */
export const INNER = 'in'

/** Prefixes a name, which keeps it distinct from all other names in an answer. */
export const askedName = (name: string): string => `a${name}`

/** The cluster's answer to an aggregation or for a bucket. All names in it are ours. */
export type AggregationAnswer = Readonly<Record<string, unknown>>
/** Integers beyond a double become bigints. Members `hits` stay text: documents are not parsed. */
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
/** Unambiguous, since quotes within strings are escaped. */
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
/** Position of the closing quote. */
const closingQuote = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  throw new Error('the cluster sent a text without an end')
}
const [QUOTE, OPEN, CLOSE, BACKSLASH] = [0x22, 0x7b, 0x7d, 0x5c]
/** A number, or null if absent; non-finite ones arrive as text. */
export const answerNumber = (value: unknown): number | null =>
  value === null || value === undefined ? null : typeof value === 'number' ? value : Number(value)
export const answerCount = (found: AggregationAnswer | undefined, name = 'doc_count'): number =>
  answerNumber(found?.[name]) ?? 0
export const answerObject = (found: AggregationAnswer | undefined, name: string): AggregationAnswer | undefined =>
  found?.[name] as AggregationAnswer | undefined
export const answerList = (found: AggregationAnswer | undefined, name: string): readonly AggregationAnswer[] =>
  (found?.[name] as readonly AggregationAnswer[] | undefined) ?? []
