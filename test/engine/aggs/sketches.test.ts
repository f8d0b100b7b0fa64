import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDistinctKeys } from '../../../src/engine/aggs/cardinality.ts'
import { createQuantiles } from '../../../src/engine/aggs/percentiles.ts'
import { randomFrom } from '../../support/random.ts'

// What has too many values to keep all of them is told nearly, in little memory.

const PARTS = 40
/** What segments find: values of two buckets, mixed, of which the second has but a tenth. */
const partsOf = (values: readonly number[]) =>
  Array.from({ length: PARTS }, (_, part) => {
    const here = values.filter((_, i) => i % PARTS === part)
    const keys = Float64Array.from(here)
    const owners = Uint32Array.from(here, (_, i) => (i % 10 === 3 ? 1 : 0))
    return { keys, owners, counts: new Float64Array(keys.length).fill(1), bytes: 20 * keys.length, inner: [] }
  })

const random = randomFrom(5)
const values = Array.from({ length: 200_000 }, () => Math.floor(Math.exp(18 * random())) + random())
const parts = partsOf(values)
const OWNERS = Uint32Array.of(0, 1)
const of = (owner: number) =>
  parts.flatMap(({ keys, owners }) => Array.from(keys).filter((_, i) => owners[i] === owner))

describe('quantiles of more values than memory holds', () => {
  const foundIn = () => assert.fail('nothing is collected')
  const options = { compression: 100, check() {} }
  const exact = createQuantiles(foundIn, { ...options, most: Number.POSITIVE_INFINITY })
  const near = createQuantiles(foundIn, { ...options, most: 100_000 })
  for (const part of parts) {
    exact.merge(part, OWNERS)
    near.merge(part, OWNERS)
  }
  for (const store of [exact, near]) store.finish()

  for (const owner of [0, 1])
    it(`are near those of all of bucket ${owner}`, () => {
      const sorted = of(owner).sort((a, b) => a - b)
      for (const part of [0, 0.001, 0.25, 0.5, 0.75, 0.99, 1]) {
        const found = near.of(owner).quantile(part)
        const rank = sorted.filter(value => value <= found).length / sorted.length
        assert.ok(Math.abs(rank - part) < 0.005, `${part}: ${rank}`)
        assert.ok(Math.abs(near.of(owner).rank(found) - exact.of(owner).rank(found)) < 0.005)
      }
      assert.equal(near.of(owner).sorted.values[0], sorted[0])
      assert.equal(near.of(owner).sorted.values.at(-1), sorted.at(-1))
      assert.equal(near.of(owner).sorted.total, sorted.length)
    })

  it('take little memory', () => assert.ok(near.bytes() < exact.bytes() / 10, `${near.bytes()} of ${exact.bytes()}`))
  it('know buckets without values', () => assert.ok(Number.isNaN(near.of(7).quantile(0.5))))
})

describe('counts of more values than memory holds', () => {
  const exact = createDistinctKeys(3000, Number.POSITIVE_INFINITY, () => {})
  const near = createDistinctKeys(3000, 100_000, () => {})
  for (const part of [...parts, ...parts]) {
    exact.merge(part, OWNERS)
    near.merge(part, OWNERS)
  }
  const taken = [near.bytes(), exact.bytes()] as const
  for (const store of [exact, near]) store.finish()
  for (const owner of [0, 1])
    it(`are near that of all of bucket ${owner}`, () => {
      const count = new Set(of(owner)).size
      assert.equal(exact.count(owner), count)
      assert.notEqual(near.count(owner), 0)
      assert.ok(Math.abs(near.count(owner) - count) < count * 0.012, `${near.count(owner)} of ${count}`)
    })
  it('take little memory', () => assert.ok(taken[0] < taken[1] / 20, `${taken[0]} of ${taken[1]}`))
  it('know buckets without values', () => assert.equal(near.count(7), 0))
})
