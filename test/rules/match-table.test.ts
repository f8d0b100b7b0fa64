import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMatchTable } from '../../src/rules/match-table.ts'

interface Item {
  n: number
}
const items: readonly Item[] = Array.from({ length: 2 }, (_, n) => ({ n }))

test('a table finds what a map of sets finds, few keys or many', () => {
  const hex = (n: number) => (n * 2654435761).toString(16).padStart(40, 'abc')
  const change = fc.record({
    add: fc.boolean(),
    from: fc.nat(600),
    count: fc.nat(400),
    item: fc.constantFrom(...items),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), fc.constantFrom(hex, String), (changes, keyOf) => {
      const table = createMatchTable<Item>()
      const expected = new Map<string, Set<Item>>()
      for (const { add, from, count, item } of changes) {
        for (let n = from; n < from + count; n++) {
          const key = keyOf(n)
          const there = expected.get(key)
          if (add) {
            table.add(key, item)
            expected.set(key, (there ?? new Set()).add(item))
          } else if (there?.has(item)) {
            // Only what stands there is taken away.
            table.remove(key, item)
            there.delete(item)
            if (there.size === 0) expected.delete(key)
          }
        }
        assert.equal(table.size, expected.size)
      }
      for (let n = 0; n < 1000; n++) {
        const found: number[] = []
        table.forEach(keyOf(n), it => found.push(it.n))
        const due = expected.get(keyOf(n)) ?? new Set()
        assert.deepEqual(found.sort(), [...due].map(it => it.n).sort())
        assert.equal(table.count(keyOf(n)), due.size)
      }
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('keys that come and go for ever leave a table as small as it was', () => {
  const table = createMatchTable<Item>()
  for (let n = 0; n < 300; n++) table.add(`stays ${n}`, items[0]!)
  for (let n = 0; n < 20_000; n++) {
    table.add(`goes ${n}`, items[1]!)
    table.remove(`goes ${n}`, items[1]!)
  }
  assert.equal(table.size, 300)
  let found = 0
  for (let n = 0; n < 300; n++) table.forEach(`stays ${n}`, () => found++)
  assert.equal(found, 300)
})
