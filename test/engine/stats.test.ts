import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharesOf } from '../../src/engine/stats.ts'

test('shares are those of the sum, and add up to 100 %', () => {
  assert.deepEqual(sharesOf([]), [])
  assert.deepEqual(sharesOf([0, 0]), [0, 0])
  assert.deepEqual(sharesOf([4096]), [100])
  assert.deepEqual(sharesOf([2, 1, 1]), [50, 25, 25])
  assert.deepEqual(sharesOf([1, 1, 1]), [33.4, 33.3, 33.3])
  for (let i = 1; i < 200; i++) {
    const sizes = Array.from({ length: (i % 30) + 1 }, (_, k) => ((k + 1) * 7919 * i) % 100_003)
    const sum = sizes.reduce((sum, size) => sum + size, 0)
    const shares = sharesOf(sizes)
    assert.equal(Math.round(shares.reduce((sum, share) => sum + share, 0) * 10), 1_000)
    const sorted = sharesOf(sizes.toSorted((a, b) => b - a))
    assert.deepEqual(
      sorted,
      sorted.toSorted((a, b) => b - a),
    )
    for (const [k, share] of shares.entries()) assert.ok(Math.abs(share - (100 * sizes[k]!) / sum) <= 0.1 + 1e-9)
  }
})
