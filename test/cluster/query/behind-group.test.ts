import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { behindValue } from '../../../src/cluster/query/collapse.ts'
import { lookup } from '../../../src/mapping/index.ts'
import { compilePredicate } from '../../../src/query/predicate.ts'
import { GREATEST_LONG, LEAST_LONG } from '../../../src/query/simplify.ts'

const nonce = lookup('tx', 'nonce.num')!
const coin = lookup('tx', 'value.coin')!
const order = fc.constantFrom('asc' as const, 'desc' as const)
const isBehind = <T extends number | bigint>(a: T, b: T, order: 'asc' | 'desc') => (order === 'asc' ? a > b : a < b)

const toLong = (number: number): bigint => {
  const long = BigInt(Math.trunc(number))
  return long > GREATEST_LONG ? GREATEST_LONG : long < LEAST_LONG ? LEAST_LONG : long
}

test('integers behind a double', () => {
  const holds = (order: 'asc' | 'desc', value: number, long: bigint) =>
    compilePredicate(
      'tx',
      behindValue({ by: 'field', fields: { tx: nonce }, order, missing: '_first', as: 'double' }, 'tx', value),
    )({ _id: '', _source: { nonce: { num: long } } })
  const long = fc.oneof(fc.bigInt({ min: -5n, max: 5n }), fc.bigInt({ min: LEAST_LONG, max: GREATEST_LONG }))
  fc.assert(
    fc.property(order, long, fc.integer({ min: -3, max: 3 }), (order, long, by) => {
      const value = Number(long) + by / 2
      assert.equal(holds(order, value, long), isBehind(Number(long), value, order))
    }),
    { seed: 1 },
  )
  assert.deepEqual([holds('asc', Infinity, GREATEST_LONG), holds('desc', -Infinity, LEAST_LONG)], [false, false])
})

test('doubles behind an integer', () => {
  const holds = (order: 'asc' | 'desc', value: bigint, number: number) =>
    compilePredicate(
      'tx',
      behindValue({ by: 'field', fields: { tx: coin }, order, missing: '_first', as: 'long' }, 'tx', value),
    )({ _id: '', _source: { value: { coin: number } } })
  const whole = fc.oneof(
    fc.constantFrom(LEAST_LONG, GREATEST_LONG),
    fc.bigInt({ min: -5n, max: 5n }),
    fc.bigInt({ min: LEAST_LONG, max: GREATEST_LONG }),
  )
  fc.assert(
    fc.property(order, whole, fc.double({ min: -3, max: 3, noNaN: true }), (order, value, by) => {
      for (const number of [Number(value) + by, 1e59, -1e59])
        assert.equal(holds(order, value, number), isBehind(toLong(number), value, order))
    }),
    { seed: 1 },
  )
})
