import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pointBound, sortedPoints } from '../../src/engine/index/points-cache.ts'
import { rawBytesOf } from '../../src/lib/bytes.ts'

const long = fc.oneof(
  fc.bigInt(-3n, 3n),
  fc.bigInt(-(2n ** 33n), 2n ** 33n),
  fc.constantFrom(
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    2n ** 63n - 2n,
    -(2n ** 63n),
    -(2n ** 63n) + 1n,
    2n ** 32n,
  ),
)
const double = fc.oneof(
  fc.constantFrom(0, 1e-18, 1.5, -1e300, 1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.double({ noNaN: true }).map(value => value + 0),
)

/** The place that looking at each value finds. */
const naively = <T extends bigint | number>(values: readonly T[], bound: T, behind: boolean): number => {
  const place = values.findIndex(value => value > bound || (!behind && value === bound))
  return place < 0 ? values.length : place
}

const ascending = <T extends bigint | number>(values: readonly T[]): T[] =>
  values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))

test('integers are found exactly, to both ends of 64 bits', () => {
  fc.assert(
    fc.property(fc.array(long, { maxLength: 40 }), long, fc.boolean(), (unsorted, bound, behind) => {
      const values = ascending(unsorted)
      const points = sortedPoints(2, rawBytesOf(BigInt64Array.from(values)))
      assert.equal(points.length, values.length)
      for (const one of [bound, ...values])
        assert.equal(points.placeOf(pointBound(one, behind)), naively(values, one, behind))
    }),
  )
})

test('doubles are found, infinite ones too', () => {
  fc.assert(
    fc.property(fc.array(double, { maxLength: 40 }), double, fc.boolean(), (unsorted, bound, behind) => {
      const values = ascending(unsorted)
      const points = sortedPoints(3, rawBytesOf(Float64Array.from(values)))
      for (const one of [bound, ...values])
        assert.equal(points.placeOf(pointBound(one, behind)), naively(values, one, behind))
    }),
  )
})
