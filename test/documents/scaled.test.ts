import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { scaled } from '../../src/documents/show.ts'

it('an integer with decimals is the double that its decimal notation reads as', () => {
  const check = (value: number | bigint, decimals: number) =>
    assert.equal(scaled(value, decimals), Number(`${value}e-${decimals}`), `${value} ${decimals}`)
  const edges = [0n, 1n, 2n ** 53n, 2n ** 63n, 10n ** 18n, 10n ** 22n, 2n ** 255n].flatMap(it => [it - 1n, it, it + 1n])
  for (const value of edges)
    for (const sign of [1n, -1n]) for (let decimals = 0; decimals <= 77; decimals++) check(value * sign, decimals)
  const integers = fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }))
  fc.assert(fc.property(integers, fc.nat(77), check), { numRuns: 5000 })
})
