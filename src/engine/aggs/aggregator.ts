import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation } from '../../query/aggs/ast.ts'
import type { AggregationResult, AggregationResults } from '../../query/aggs/result.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { AskDocuments } from '../query/match/segment-matcher.ts'
import type { SearchScoring } from '../query/scores/scoring.ts'
import type { Hits, HitsWriting } from '../show/hits.ts'
import type { StateCache } from './aggregation-cache.ts'
import type { Batch, BatchView } from './batch.ts'
import type { AggregatedPart } from './collect.ts'
import type { Matching } from './masks.ts'
import type { ValueStores } from './value-source.ts'

/** The immutable result of one aggregation in a segment, independent of other segments. */
export interface AggregationState {
  /** Bytes, including inner states. */
  readonly bytes: number
}

/** Computes one aggregation in all buckets above at once; bucket -1 has no documents. */
export interface Aggregator {
  collect(at: BatchView, batch: Batch): AggregationState
  /** Adds a state; `owners` are the global numbers of its buckets above. */
  merge(state: AggregationState, owners: Uint32Array): void
  /** A smaller state with the same content, for caching. */
  shrink?(state: AggregationState): AggregationState
  /** Whether state arrays are indexed by bucket above, so that buckets can be picked. */
  isColumnar?: true
  /** By bucket: what adds up to `number` over all states, if these are whole and not negative. */
  summands?(state: AggregationState, rest: string | undefined): Float64Array | undefined
  /** Called after all merges, with the number of buckets above. */
  finish(owners: number): void
  result(owner: number): AggregationResult
  /** The number at a path: see `Metric.number`. */
  number(owner: number, steps: readonly string[], rest: string | undefined): number | null
  bytes(): number
}

export interface AggregationContext extends ValueStores {
  limits: Limits
  matching: Matching
  hits: Hits
  request: SearchRequest
  index: string
  kept: StateCache
  /** Whether states of several stores are joined, so that ids of one store mean nothing. */
  isJoined: boolean
  shared<T>(make: () => T): T
  /** Spends the bucket limit. */
  count(buckets: number): void
  /** Refuses too many buckets before they are created. */
  room(buckets: number): void
  /** Spends the memory limit. */
  hold(bytes: number): void
  /** Undefined if all scores are 1. */
  scoring(): SearchScoring | undefined
  /** How hits in buckets are written. */
  writing: HitsWriting
  found: readonly AggregatedPart[]
  ask: AskDocuments
  /** The context of related documents of another kind, which have no scores. */
  of(kind: Kind): AggregationContext
  everywhere(): Iterable<{ at: BatchView; batch: Batch }>
}

export type InnerAggregators = readonly Computed[]

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

export const bytesOfStates = (
  states: readonly AggregationState[],
  ...arrays: readonly { byteLength: number }[]
): number =>
  states.reduce((sum, { bytes }) => sum + bytes, 0) + arrays.reduce((sum, { byteLength }) => sum + byteLength, 100)

/** A growing array. */
export const createNumbers = (fill = 0) => {
  let values = new Float64Array(16).fill(fill)
  return {
    get values() {
      return values
    },
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

/** The greatest number plus 1. */
export const lengthFor = (owners: Uint32Array): number => {
  let most = 0
  for (let i = 0; i < owners.length; i++) if (owners[i]! >= most) most = owners[i]! + 1
  return most
}

export const sumIn = (numbers: Float64Array): number => {
  let sum = 0
  for (let i = 0; i < numbers.length; i++) sum += numbers[i]!
  return sum
}
