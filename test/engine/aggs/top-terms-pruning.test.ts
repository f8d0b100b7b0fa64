import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AggregationState, Aggregator, InnerAggregators } from '../../../src/engine/aggs/aggregator.ts'
import type { BatchView } from '../../../src/engine/aggs/batch.ts'
import { createKeyed, type FirstBuckets } from '../../../src/engine/aggs/buckets.ts'
import { groupByValue } from '../../../src/engine/aggs/group-by.ts'
import { randomFrom } from '../../support/random.ts'

const SIZE = 10
const SEGMENTS = 8

/** Keys of the documents of a segment: few of them often, most of them once. */
const skewed = (random: () => number): number =>
  random() < 0.5 ? Math.floor(60 * random() ** 3) : Math.floor(random() * 20_000)
const flat = (random: () => number): number => Math.floor(random() * 20_000)

const all = (key: (random: () => number) => number) => (random: () => number) =>
  Array.from({ length: SEGMENTS }, () => Float64Array.from({ length: 3000 }, () => key(random)))
/** In each segment 600 keys of its own with 3 documents, and the same key everywhere with 2, which comes first. */
const hidden = () =>
  Array.from({ length: SEGMENTS }, (_, segment) =>
    Float64Array.from([...Array.from({ length: 1800 }, (_, i) => 1 + segment * 1000 + (i % 600)), 0, 0]),
  )

/** The sum of the ordinals in each bucket. */
const createOrdinalSum = (isColumnar: boolean): Aggregator & { sums: number[] } => {
  type Sums = AggregationState & { sums: Float64Array }
  const sums: number[] = []
  return {
    sums,
    collect(_, { count, list, from, owners, buckets }): Sums {
      const here = new Float64Array(buckets)
      for (let i = 0; i < count; i++) here[owners ? owners[i]! : 0]! += list ? list[i]! : from + i
      return { sums: here, bytes: here.byteLength }
    },
    merge(state, owners) {
      for (const [i, owner] of owners.entries()) sums[owner] = (sums[owner] ?? 0) + (state as Sums).sums[i]!
    },
    ...(isColumnar && { isColumnar }),
    summands: state => (state as Sums).sums,
    finish() {},
    result: () => assert.fail(),
    number: owner => sums[owner]!,
    bytes: () => 0,
  }
}

for (const [by, shrunk, seed] of [
  ['count', 0, 1],
  ['count', SEGMENTS, 2],
  ['count', 5, 3],
  ['count', 0, 4],
  ['sum', 0, 5],
  ['sum', 3, 6],
  ['sum', SEGMENTS, 7],
] as const) {
  test(`buckets that cannot come first are left out, by ${by}, ${shrunk} segments shrunk`, () => {
    const segments = all(skewed)(randomFrom(seed))
    const [led, whole] = [firstOf(segments, { by, shrunk }), firstOf(segments, { by, shrunk: undefined })]
    assert.deepEqual(led.first, whole.first)
    assert.deepEqual([led.documents, whole.documents], [SEGMENTS * 3000, SEGMENTS * 3000])
    assert.ok(led.all < 3 * SIZE && whole.all > 5000, `${led.all} of ${whole.all}`)
  })
  test(`none is left out where segments do not tell which come first, by ${by}, ${shrunk} segments shrunk`, () => {
    for (const segments of [all(flat)(randomFrom(seed)), hidden()]) {
      const whole = firstOf(segments, { by, shrunk: undefined })
      assert.deepEqual(firstOf(segments, { by, shrunk }), whole)
      assert.ok(whole.all > 4500)
    }
  })
}

/** `shrunk`: so many segments; undefined where nothing may be left out. */
const firstOf = (
  segments: readonly Float64Array<ArrayBuffer>[],
  { by, shrunk }: { by: 'count' | 'sum'; shrunk: number | undefined },
) => {
  const sum = createOrdinalSum(shrunk !== undefined)
  const inner = [{ aggregation: {}, aggregator: sum }] as unknown as InnerAggregators
  const wanted: FirstBuckets = {
    size: SIZE,
    numbers: ({ counts, inner: [own] }) => (by === 'count' ? counts : sum.summands!(own!, undefined)),
  }
  let at: Float64Array
  const keyed = createKeyed(
    (_, batch, wantsInner) => groupByValue({ form: 'each', keys: at }, batch, wantsInner),
    inner,
    () => {},
    wanted,
  )
  for (const [i, keys] of segments.entries()) {
    at = keys
    const batch = { count: keys.length, list: undefined, from: 0, owners: undefined, buckets: 1 }
    const state = keyed.collect({} as BatchView, batch)
    const isShrunk = shrunk !== undefined && i < shrunk
    const small = isShrunk ? keyed.shrink(state) : state
    if (isShrunk) assert.ok(small.bytes < state.bytes / 2, `${small.bytes} of ${state.bytes}`)
    keyed.merge(small, Uint32Array.of(0))
  }
  keyed.finish()
  const buckets = Array.from(keyed.in(0), bucket => ({
    key: keyed.keys[bucket]!,
    count: keyed.counts[bucket]!,
    sum: sum.sums[bucket]!,
  })).sort((a, b) => b[by] - a[by] || a.key - b.key)
  return { all: buckets.length, first: buckets.slice(0, SIZE), documents: keyed.documents(0) }
}
