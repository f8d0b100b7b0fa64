import type { Order } from '../../query/aggs/ast.ts'
import { pathOf } from '../../query/aggs/options.ts'
import { type Inner, numberIn } from './aggregator.ts'
import type { Keyed } from './keyed.ts'

/** Compares buckets by their numbers; what is equal goes by its key. */
export const bucketOrder = (
  orders: readonly Order[],
  keyed: Keyed,
  inner: Inner,
  compareKeys: (a: number, b: number) => number,
): ((a: number, b: number) => number) => {
  const { keys, counts } = keyed
  const byKey = (a: number, b: number) => compareKeys(keys[a]!, keys[b]!)
  const parts = orders.map(({ by, ascending }) => {
    const sign = ascending ? 1 : -1
    if (by === '_key') return (a: number, b: number) => sign * byKey(a, b)
    if (by === '_count') return (a: number, b: number) => sign * (counts[a]! - counts[b]!)
    const { steps, rest } = pathOf(by)
    const numbers = new Float64Array(keys.length)
    const known = new Uint8Array(keys.length)
    const numberOf = (bucket: number): number => {
      if (known[bucket] === 0) {
        known[bucket] = 1
        numbers[bucket] = numberIn(inner, bucket, steps, rest) ?? Number.NaN
      }
      return numbers[bucket]!
    }
    return (a: number, b: number) => compareNumbers(numberOf(a), numberOf(b), ascending)
  })
  if (!orders.some(({ by }) => by === '_key')) parts.push(byKey)
  const [first, second, ...more] = parts as [Compare, Compare?, ...Compare[]]
  return (a, b) => {
    const difference = first(a, b)
    if (difference !== 0 || !second) return difference
    for (const part of [second, ...more]) {
      const next = part(a, b)
      if (next !== 0) return next
    }
    return 0
  }
}

type Compare = (a: number, b: number) => number

/** What has no number comes last in either order. */
const compareNumbers = (a: number, b: number, ascending: boolean): number => {
  const [left, right] = [Number.isNaN(a), Number.isNaN(b)]
  if (left || right) return left && right ? 0 : left ? 1 : -1
  return ascending ? a - b : b - a
}

/** The first few in an order, in that order. */
export const firstOf = (buckets: ArrayLike<number>, wanted: number, compare: Compare): number[] => {
  if (wanted <= 0) return []
  if (buckets.length <= wanted * 4 || buckets.length < 64) return Array.from(buckets).sort(compare).slice(0, wanted)
  // A heap of the best so far, the worst of them at its top.
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

/** The count of the last of the first few, by count alone. */
export const edgeOf = (
  buckets: ArrayLike<number>,
  counts: Float64Array,
  wanted: number,
  ascending: boolean,
): number => {
  const heap: number[] = []
  const compare = ascending ? (a: number, b: number) => a - b : (a: number, b: number) => b - a
  for (let i = 0; i < buckets.length; i++) {
    const count = counts[buckets[i]!]!
    if (heap.length < wanted) {
      heap.push(count)
      up(heap, compare)
    } else if (ascending ? count < heap[0]! : count > heap[0]!) {
      heap[0] = count
      down(heap, compare)
    }
  }
  return heap[0]!
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
