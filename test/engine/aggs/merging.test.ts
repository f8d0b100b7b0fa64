import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeRows, type Part } from '../../../src/engine/aggs/merging.ts'
import { createKeptMemory } from '../../../src/engine/kept.ts'

/** Numbers from 0 to 1, the same in each run. */
const randomFrom = (seed: number) => () => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed / 2_147_483_647
}

const KEYS: Record<string, (random: number) => number> = {
  ids: random => Math.floor(random * 40),
  'ids far apart': random => Math.floor(random * 40) * 1e9,
  texts: random => -(2 ** 80) - Math.floor(random * 40) * 2 ** 30,
  fractions: random => Math.floor(random * 40) / 8 - 2,
}

for (const [name, keyOf] of Object.entries(KEYS))
  for (const owners of [1, 2, 9])
    test(`buckets of several segments are joined: ${name}, ${owners} above`, () => {
      const random = randomFrom(owners)
      const parts = Array.from({ length: 5 }, (_, n): Part => {
        const size = Math.floor(random() * (n === 2 ? 1 : 60))
        const rows = {
          owners: Uint32Array.from({ length: size }, () => Math.floor(random() * owners)),
          keys: Float64Array.from({ length: size }, () => keyOf(random())),
          counts: Float64Array.from({ length: size }, () => Math.ceil(random() * 5)),
        }
        // As those of a histogram, which ascend.
        if (n === 3) for (const array of [rows.owners, rows.keys]) array.sort()
        return { rows, owners: Uint32Array.from({ length: owners }, (_, i) => (i * 2) % (owners + 1)) }
      })
      const wanted = new Map<string, number>()
      for (const { rows, owners } of parts)
        for (const [i, key] of rows.keys.entries()) {
          const bucket = `${owners[rows.owners[i]!]} ${key}`
          wanted.set(bucket, (wanted.get(bucket) ?? 0) + rows.counts[i]!)
        }
      const { keys, counts, starts, numbers } = mergeRows(parts, () => {})
      const found = Array.from(starts.subarray(0, -1)).flatMap((start, owner) =>
        Array.from(keys.subarray(start, starts[owner + 1]), (key, i): [string, number] => [
          `${owner} ${key}`,
          counts[start + i]!,
        ]),
      )
      assert.deepEqual(new Map(found), wanted)
      assert.equal(found.length, wanted.size)
      for (const [part, { rows, owners }] of parts.entries())
        for (const [i, number] of numbers[part]!.entries()) {
          assert.equal(keys[number], rows.keys[i])
          const owner = owners[rows.owners[i]!]!
          assert.ok(number >= starts[owner]! && number < starts[owner + 1]!)
        }
    })

test('what a thread keeps is shared by the stores that it reads', () => {
  const kept = createKeptMemory(1000)
  const first = kept.store('a')
  assert.equal(first.columns() + first.points() + first.states(), 1000)
  const second = kept.store('b')
  kept.store('b')
  for (const share of [first, second]) assert.equal(share.columns() + share.points() + share.states(), 500)
})
