import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import type { Aggregator, Inner, State } from '../../../src/engine/aggs/aggregator.ts'
import type { At } from '../../../src/engine/aggs/batch.ts'
import { group } from '../../../src/engine/aggs/group.ts'
import { createKeyed, type Wanted } from '../../../src/engine/aggs/keyed.ts'
import { leadingKeys, leadsOf } from '../../../src/engine/aggs/leading.ts'
import { randomFrom } from '../../support/random.ts'

const nothing = () => {}
const SIZE = 10
const SEGMENTS = 8

/** Keys of the documents of a segment: few of them often, most of them once. */
const skewed = (random: () => number): number =>
  random() < 0.5 ? Math.floor(60 * random() ** 3) : Math.floor(random() * 20_000)
const flat = (random: () => number): number => Math.floor(random() * 20_000)

const countsOf = (keys: Iterable<number>): Map<number, number> => {
  const counts = new Map<number, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

const ledFrom = (keys: readonly number[]) => {
  const found = countsOf(keys)
  const counts = Float64Array.from(found.values())
  return { keys, size: found.size, leads: leadsOf({ keys: Float64Array.from(found.keys()), counts }, counts, SIZE)! }
}
const leadsIn = (parts: readonly ReturnType<typeof ledFrom>[]) => parts.map(({ leads }) => leads)

describe('the leading buckets of segments', () => {
  for (const seed of [1, 2, 3, 4, 5])
    it(`tell which come first in all of them, ${seed}`, () => {
      const random = randomFrom(seed)
      const segments = Array.from({ length: SEGMENTS }, () => Array.from({ length: 3000 }, () => skewed(random)))
      const parts = segments.map(ledFrom)
      assert.ok(parts.every(({ leads, size }) => leads.keys.length < size / 2))
      const found = leadingKeys(leadsIn(parts), SIZE, nothing)
      const counts = countsOf(segments.flat())
      const edge = [...counts.values()].sort((a, b) => b - a)[SIZE - 1]!
      const wanted = [...counts].filter(([, count]) => count >= edge).map(([key]) => key)
      assert.deepEqual(
        wanted.filter(key => !found!.includes(key)),
        [],
      )
      assert.ok(found!.length < 3 * SIZE, `${found!.length}`)
      assert.deepEqual(found, found!.toSorted())
    })
  it('do not tell it where all are alike', () => {
    const random = randomFrom(6)
    const parts = Array.from({ length: SEGMENTS }, () => ledFrom(Array.from({ length: 3000 }, () => flat(random))))
    assert.equal(leadingKeys(leadsIn(parts), SIZE, nothing), undefined)
  })
  it('do not tell it where a key that leads nowhere may come first', () => {
    // In each segment 600 keys of its own with 3 documents, and the same key everywhere with 2.
    const parts = Array.from({ length: SEGMENTS }, (_, segment) =>
      ledFrom([...Array.from({ length: 1800 }, (_, i) => 1 + segment * 1000 + (i % 600)), ...[0, 0]]),
    )
    assert.ok(parts.every(({ leads, keys }) => keys.includes(0) && !leads.keys.includes(0)))
    assert.equal(leadingKeys(leadsIn(parts), SIZE, nothing), undefined)
  })
})

/** The sum of the ordinals in each bucket. */
const createOrdinalSum = (isColumnar: boolean): Aggregator & { sums: number[] } => {
  type Sums = State & { sums: Float64Array }
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

for (const [by, shrunk] of [
  ['count', 0],
  ['count', SEGMENTS],
  ['sum', 0],
  ['sum', 3],
  ['sum', SEGMENTS],
] as const)
  test(`buckets that cannot come first are left out, by ${by}, ${shrunk} segments shrunk`, () => {
    const random = randomFrom(7)
    const segments = Array.from({ length: SEGMENTS }, () => Float64Array.from({ length: 3000 }, () => skewed(random)))
    const firstOf = (isLed: boolean) => {
      const sum = createOrdinalSum(isLed)
      const inner = [{ aggregation: {}, aggregator: sum }] as unknown as Inner
      const wanted: Wanted = {
        size: SIZE,
        numbers: ({ counts, inner: [own] }) => (by === 'count' ? counts : sum.summands!(own!, undefined)),
      }
      let at: Float64Array
      const keyed = createKeyed(
        (_, batch, wantsInner) => group({ form: 'each', keys: at }, batch, wantsInner),
        inner,
        nothing,
        wanted,
      )
      for (const [i, keys] of segments.entries()) {
        at = keys
        const batch = { count: 3000, list: undefined, from: 0, owners: undefined, buckets: 1 }
        const state = keyed.collect({} as At, batch)
        const small = i < shrunk ? keyed.shrink(state) : state
        if (isLed && i < shrunk) assert.ok(small.bytes < state.bytes / 2, `${small.bytes} of ${state.bytes}`)
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
    const [led, whole] = [firstOf(true), firstOf(false)]
    assert.deepEqual(led.first, whole.first)
    assert.equal(led.documents, SEGMENTS * 3000)
    assert.equal(whole.documents, SEGMENTS * 3000)
    assert.ok(led.all < 3 * SIZE && whole.all > 5000, `${led.all} of ${whole.all}`)
  })
