import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation } from '../../query/aggs/ast.ts'
import type { AggregationResult, AggregationResults } from '../../query/aggs/result.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { AskDocuments } from '../query/match/segment-matcher.ts'
import type { SearchScoring } from '../query/scores/scoring.ts'
import type { Hits } from '../show/hits.ts'
import type { Batch, BatchView } from './batch.ts'
import type { StateCache } from './cache.ts'
import type { AggregatedPart } from './collect.ts'
import type { Matching } from './masks.ts'
import type { ValueStores } from './value-source.ts'

/** What one aggregation finds in a part of the store: frozen data that does not depend on what is in other parts. */
export interface AggregationState {
  /** Bytes that it takes, with what is inside. */
  readonly bytes: number
}

/** Computes one aggregation, in all buckets of the level above at once. A bucket above is named by its number; -1 is one without documents. */
export interface Aggregator {
  /** What some documents of a segment give. */
  collect(at: BatchView, batch: Batch): AggregationState
  /** Adds that to what there is. `owners`: the numbers that its buckets above have here. */
  merge(state: AggregationState, owners: Uint32Array): void
  /** The same in fewer bytes, for states that are kept. */
  shrink?(state: AggregationState): AggregationState
  /** Whether all arrays in its states have a place for each bucket above: then some buckets can be picked, and packed. */
  isColumnar?: true
  /** By bucket above, what `number` is the sum of over all states; undefined where these are not whole numbers from 0 on. */
  summands?(state: AggregationState, rest: string | undefined): Float64Array | undefined
  /** Once all is there; so many are the buckets above. */
  finish(owners: number): void
  result(owner: number): AggregationResult
  /** What a path names in a bucket above: see result.ts. */
  number(owner: number, steps: readonly string[], rest: string | undefined): number | null
  /** Bytes that all that was merged takes. */
  bytes(): number
}

export interface AggregationContext extends ValueStores {
  limits: Limits
  matching: Matching
  hits: Hits
  request: SearchRequest
  index: string
  kept: StateCache
  /** Whether what is collected here is added to what other stores give: then numbers that only this one knows stand for nothing. */
  isJoined: boolean
  /** See `Kept`. */
  shared<T>(make: () => T): T
  /** Counts buckets of the answer, and refuses too many. */
  count(buckets: number): void
  /** Refuses too many before they are made. */
  room(buckets: number): void
  /** Counts bytes that what is answered takes until it is written, and refuses too many. */
  hold(bytes: number): void
  /** Scores of what is found; undefined where all are 1. */
  scoring(): SearchScoring | undefined
  /** How a number of hits is written. */
  total(count: number): string
  /** The documents that aggregations look at. */
  found: readonly AggregatedPart[]
  ask: AskDocuments
  /** The same for aggregations of documents of another kind, whose scores nobody knows. */
  of(kind: Kind): AggregationContext
  /** All documents of the searched kinds. */
  everywhere(): Iterable<{ at: BatchView; batch: Batch }>
}

export type InnerAggregators = readonly Computed[]

/** An aggregation, what computes it, and those inside of it. */
export interface Computed {
  aggregation: Aggregation
  aggregator: Aggregator
  inner: InnerAggregators
}

export const collectAll = (inner: InnerAggregators, at: BatchView, batch: Batch): AggregationState[] =>
  inner.map(({ aggregator }) => aggregator.collect(at, batch))

export const mergeAll = (inner: InnerAggregators, states: readonly AggregationState[], owners: Uint32Array): void => {
  for (let i = 0; i < inner.length; i++) inner[i]!.aggregator.merge(states[i]!, owners)
}

export const shrinkAll = (inner: InnerAggregators, states: readonly AggregationState[]): AggregationState[] =>
  states.map((state, i) => inner[i]!.aggregator.shrink?.(state) ?? state)

export const finishAll = (inner: InnerAggregators, owners: number): void => {
  for (const { aggregator } of inner) aggregator.finish(owners)
}

export const resultsOf = (inner: InnerAggregators, owner: number): AggregationResults =>
  new Map(
    inner.map(({ aggregation, aggregator }) => {
      const result = aggregator.result(owner)
      return [aggregation.name, aggregation.meta === undefined ? result : { ...result, meta: aggregation.meta }] as [
        string,
        AggregationResult,
      ]
    }),
  )

/** What a path names inside of a bucket. */
export const numberAtPath = (
  inner: InnerAggregators,
  owner: number,
  steps: readonly string[],
  rest: string | undefined,
): number | null => {
  const [step, ...more] = steps
  const found = inner.find(({ aggregation }) => aggregation.name === step)
  return found ? found.aggregator.number(owner, more, rest) : null
}

export const bytesOfAll = (inner: InnerAggregators): number =>
  inner.reduce((sum, { aggregator }) => sum + aggregator.bytes(), 0)

/** Bytes of states and of arrays. */
export const bytesOfStates = (
  states: readonly AggregationState[],
  ...arrays: readonly { byteLength: number }[]
): number =>
  states.reduce((sum, { bytes }) => sum + bytes, 0) + arrays.reduce((sum, { byteLength }) => sum + byteLength, 100)

/** An array that grows as places in it are used. */
export const createNumbers = (fill = 0) => {
  let values = new Float64Array(16).fill(fill)
  return {
    get values() {
      return values
    },
    /** Room for so many. */
    reserve(size: number) {
      if (size <= values.length) return
      const larger = new Float64Array(Math.max(size, values.length * 2))
      larger.set(values)
      if (fill !== 0) larger.fill(fill, values.length)
      values = larger
    },
    bytes: () => values.byteLength,
  }
}

/** The greatest of some numbers, and 1. */
export const lengthFor = (owners: Uint32Array): number => {
  let most = 0
  for (let i = 0; i < owners.length; i++) if (owners[i]! >= most) most = owners[i]! + 1
  return most
}
