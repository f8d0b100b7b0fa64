import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKeys, pack, packArrays, packKeys, unpack, unpackAt, unpackKeys } from '../../../src/engine/aggs/packed.ts'

/** Numbers from 0 to 1, the same in each run. */
const randomFrom = (seed: number) => () => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed / 2_147_483_647
}
const random = randomFrom(5)
const below = (most: number) => Math.floor(random() * most)
const ODD = [
  ...[-0, -1, 0.5, 254, 255, 256, 65_534, 65_535, 65_536, 2 ** 24 - 2, 2 ** 24 - 1, 2 ** 24],
  ...[2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 2 ** 80, 1e300, Number.NaN],
  ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MIN_VALUE],
]

/** Bytes of a thousand numbers, with some that stand apart. */
const NUMBERS: Record<string, { of(): number; most: number }> = {
  'of 8 bits': { of: () => below(255), most: 1300 },
  'of 16 bits': { of: () => below(65_535), most: 2300 },
  'of 24 bits': { of: () => below(2 ** 24 - 1), most: 3300 },
  'of 32 bits': { of: () => below(2 ** 32 - 1), most: 4300 },
  'of 40 bits': { of: () => below(2 ** 40), most: 8200 },
  fractions: { of: random, most: 8200 },
}

for (const [name, { of, most }] of Object.entries(NUMBERS))
  for (const odd of [[], ODD])
    test(`numbers ${name} and ${odd.length} odd ones take few bytes, and come back`, () => {
      const numbers = Float64Array.from({ length: 1000 }, of)
      for (const number of odd) numbers[below(1000)] = number
      const packed = pack(numbers)
      assert.ok(packed.bytes <= most, `${packed.bytes}`)
      assert.deepEqual(unpack(packed), numbers)
      const places = Uint32Array.from({ length: 500 }, () => below(1000))
      assert.deepEqual(
        unpackAt(packed, places),
        Float64Array.from(places, place => numbers[place]!),
      )
    })

const KEYS: Record<string, { of(): number; most: number }> = {
  ids: { of: () => below(40_000), most: 1100 },
  'ids far apart': { of: () => below(4e9), most: 4100 },
  places: { of: () => below(2 ** 50), most: 8000 },
  texts: { of: () => -(2 ** 80) - below(1e6) * 2 ** 30, most: 8000 },
  fractions: { of: () => random() - 0.5, most: 8000 },
  'all sizes': { of: () => (random() - 0.5) * 10 ** below(300), most: 8000 },
}

for (const [name, { of, most }] of Object.entries(KEYS))
  for (const size of [0, 1, 1000])
    test(`${size} keys take few bytes, and are found: ${name}`, () => {
      const keys = Float64Array.from(new Set(Float64Array.from({ length: size }, of)))
      const { packed, order } = packKeys(keys)
      assert.ok(packed.steps.bytes <= most, `${packed.steps.bytes}`)
      const sorted = keys.toSorted()
      assert.deepEqual(unpackKeys(packed), sorted)
      assert.deepEqual(order && Float64Array.from(order, place => keys[place]!), order && sorted)
      const asked = Float64Array.from(
        new Set([...keys.filter(() => random() < 0.1), of(), of(), ...sorted.slice(-1)]),
      ).sort()
      const wanted = asked.filter(key => keys.includes(key))
      assert.deepEqual(findKeys(packed, asked), {
        keys: wanted,
        places: Uint32Array.from(wanted, key => sorted.indexOf(key)),
      })
    })

test('arrays come back in an order, empty ones as they were', () => {
  const packed = packArrays({ a: Float64Array.of(5, 6, 7), b: new Float64Array(0) }, Uint32Array.of(2, 0, 1))
  assert.deepEqual(packed.of(), { a: Float64Array.of(7, 5, 6), b: new Float64Array(0) })
  assert.deepEqual(packed.of(Uint32Array.of(0, 2)), { a: Float64Array.of(7, 6), b: new Float64Array(0) })
})
