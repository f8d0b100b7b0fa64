import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { partsBetween } from '../../src/lib/time.ts'

const HOUR = 3_600_000

test('parts are as long as people read easily', () => {
  const day = Date.parse('2024-05-17T00:00:00Z')
  assert.deepEqual(partsBetween(day, day + 3 * HOUR - 1, 3), {
    intervalMs: HOUR,
    starts: [day, day + HOUR, day + 2 * HOUR],
  })
  assert.deepEqual(partsBetween(day + 1, day + 3 * HOUR, 3), {
    intervalMs: 3 * HOUR,
    starts: [day, day + 3 * HOUR],
  })
  assert.deepEqual(partsBetween(day, day, 1), { intervalMs: 1_000, starts: [day] })
})

test('parts hold every moment of the time, are no more than asked for, and begin at multiples of their length', () => {
  const moment = fc.integer({ min: 0, max: 4e12 })
  fc.assert(
    fc.property(moment, moment, fc.integer({ min: 2, max: 500 }), (a, b, most) => {
      const [first, last] = a < b ? [a, b] : [b, a]
      const { intervalMs, starts } = partsBetween(first, last, most)
      assert.ok(starts.length <= most && starts.length > 0)
      assert.ok(starts[0]! <= first && last < starts.at(-1)! + intervalMs)
      for (const [n, start] of starts.entries()) {
        assert.equal(start % intervalMs, 0)
        assert.equal(start, starts[0]! + n * intervalMs)
      }
    }),
  )
})
