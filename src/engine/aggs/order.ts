import type { OrderBy } from '../../query/aggs/ast.ts'
import { parseMetricPath } from '../../query/aggs/order.ts'
import type { InnerAggregators } from './aggregator.ts'
import type { Keyed } from './buckets.ts'

export interface BucketOrder {
  compare: Compare
  /** Numbers by which the first part of the order compares; undefined for keys. */
  first: { of(bucket: number): number; ascending: boolean } | undefined
}

/** Compares bucket numbers, and equal ones by key. */
export const bucketOrder = (
  orders: readonly OrderBy[],
  keyed: Keyed,
  inner: InnerAggregators,
  compareKeys: (a: number, b: number) => number,
): BucketOrder => {
  const { keys, counts } = keyed
  const byKey = (a: number, b: number) => compareKeys(keys[a]!, keys[b]!)
  const numbered = orders.map(({ by }) => {
    if (by === '_key') return undefined
    return by === '_count' ? (bucket: number) => counts[bucket]! : numbersIn(by, inner, keys.length)
  })
  const parts = orders.map(({ ascending }, i): Compare => {
    const of = numbered[i]
    if (of) return (a, b) => compareNumbers(of(a), of(b), ascending)
    return ascending ? byKey : (a, b) => -byKey(a, b)
  })
  if (!orders.some(({ by }) => by === '_key')) parts.push(byKey)
  const [first, second, ...more] = parts as [Compare, Compare?, ...Compare[]]
  const of = numbered[0]
  return {
    first: of && { of, ascending: orders[0]!.ascending },
    compare(a, b) {
      const difference = first(a, b)
      if (difference !== 0 || !second) return difference
      for (const part of [second, ...more]) {
        const next = part(a, b)
        if (next !== 0) return next
      }
      return 0
    },
  }
}

/** The numbers at a path, computed once per bucket; NaN for none. */
const numbersIn = (path: string, inner: InnerAggregators, size: number): ((bucket: number) => number) => {
  const { steps, rest } = parseMetricPath(path)
  const [step, ...more] = steps
  const aggregator = inner.find(({ aggregation }) => aggregation.name === step)?.aggregator
  const numbers = new Float64Array(size)
  const known = new Uint8Array(size)
  return bucket => {
    if (known[bucket] === 0) {
      known[bucket] = 1
      numbers[bucket] = aggregator?.number(bucket, more, rest) ?? Number.NaN
    }
    return numbers[bucket]!
  }
}

type Compare = (a: number, b: number) => number

/** NaN comes last in either direction. */
const compareNumbers = (a: number, b: number, ascending: boolean): number => {
  const [left, right] = [Number.isNaN(a), Number.isNaN(b)]
  if (left || right) return left && right ? 0 : left ? 1 : -1
  return ascending ? a - b : b - a
}

/** The first buckets in order; one number alone excludes most of the others. */
export const firstBuckets = (buckets: Uint32Array, wanted: number, { compare, first }: BucketOrder): number[] => {
  if (!first || wanted <= 0 || buckets.length <= 4 * wanted || buckets.length < FEW)
    return firstOf(buckets, wanted, compare)
  // NaN comes last, with infinity.
  const last = first.ascending ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  const numbers = new Float64Array(buckets.length)
  for (let i = 0; i < buckets.length; i++) {
    const number = first.of(buckets[i]!)
    numbers[i] = Number.isNaN(number) ? last : number
  }
  const edge = edgeOf(numbers, wanted, first.ascending)
  const better: number[] = []
  const equal: number[] = []
  for (let i = 0; i < buckets.length; i++) {
    const number = numbers[i]!
    if (number === edge) equal.push(buckets[i]!)
    else if (number < edge === first.ascending) better.push(buckets[i]!)
  }
  return [...better.sort(compare), ...firstOf(equal, wanted - better.length, compare)]
}

const FEW = 64

/** The first few in order. */
export const firstOf = (buckets: ArrayLike<number>, wanted: number, compare: Compare): number[] => {
  if (wanted <= 0) return []
  if (buckets.length <= wanted * 4 || buckets.length < FEW) return Array.from(buckets).sort(compare).slice(0, wanted)
  // A heap of the best so far, with the worst on top.
  const heap: number[] = []
  for (let i = 0; i < buckets.length; i++) {
    const bucket = buckets[i]!
    if (heap.length < wanted) {
      heap.push(bucket)
      up(heap, compare)
    } else if (compare(bucket, heap[0]!) < 0) {
      heap[0] = bucket
      down(heap, compare)
    }
  }
  return heap.sort(compare)
}

/** The number at place `wanted` of the sorted numbers. */
export const edgeOf = (numbers: Float64Array, wanted: number, ascending: boolean): number => {
  const sign = ascending ? -1 : 1
  const heap = numbers.slice(0, wanted)
  if (ascending) for (let i = 0; i < heap.length; i++) heap[i] = -heap[i]!
  // A heap of the best so far, with the worst on top.
  heap.sort()
  for (let i = heap.length; i < numbers.length; i++) {
    const number = sign * numbers[i]!
    if (!(number > heap[0]!)) continue
    let at = 0
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (below + 1 < heap.length && heap[below + 1]! < heap[below]!) below++
      if (heap[below]! >= number) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = number
  }
  return sign * heap[0]!
}

const up = (heap: number[], compare: Compare) => {
  let at = heap.length - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    if (compare(heap[at]!, heap[above]!) <= 0) return
    ;[heap[at], heap[above]] = [heap[above]!, heap[at]!]
    at = above
  }
}

const down = (heap: number[], compare: Compare) => {
  let at = 0
  for (;;) {
    let worst = at
    for (const below of [2 * at + 1, 2 * at + 2])
      if (below < heap.length && compare(heap[below]!, heap[worst]!) > 0) worst = below
    if (worst === at) return
    ;[heap[at], heap[worst]] = [heap[worst]!, heap[at]!]
    at = worst
  }
}
