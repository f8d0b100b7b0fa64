import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { selected, type Words } from '../../../src/engine/aggs/selection.ts'
import { quantileOf, sortedOf } from '../../../src/engine/aggs/sorted.ts'

const PARTS = [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1]
const nothing = () => {}

const wordsFrom = (values: readonly number[], counts?: readonly number[]): Words => ({
  words: Uint32Array.from(values),
  greatest: Math.max(0, ...values),
  counts: counts && Float64Array.from(counts),
})

const anyWord = fc.oneof(fc.constant(21_000), fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
const anyWords = fc.oneof(
  fc.array(anyWord).map(values => wordsFrom(values)),
  fc.array(fc.tuple(anyWord, fc.integer({ min: 1, max: 1000 }))).map(rows =>
    wordsFrom(
      rows.map(([word]) => word),
      rows.map(([, count]) => count),
    ),
  ),
)

test('quantiles that are found by counting are those of all values in their order', () => {
  fc.assert(
    fc.property(fc.array(anyWords, { maxLength: 6 }), all => {
      const sorted = sortedOf(
        Float64Array.from(all.flatMap(({ words }) => [...words])),
        Float64Array.from(all.flatMap(({ words, counts }) => [...(counts ?? words.map(() => 1))])),
      )
      const found = selected(all, PARTS, nothing)!
      assert.deepEqual(
        PARTS.map(part => found(part)),
        PARTS.map(part => quantileOf(sorted, part)),
      )
    }),
    { numRuns: 400, seed: 1 },
  )
})

test('a quantile that was not asked for is not told, and too many of large numbers are not counted', () => {
  const words = [wordsFrom(Array.from({ length: 1000 }, (_, i) => i * 4_000_000))]
  assert.equal(selected(words, [0.5], nothing)!(0.4), undefined)
  const parts = Array.from({ length: 500 }, (_, i) => i / 500)
  assert.equal(selected(words, parts, nothing), undefined)
})
