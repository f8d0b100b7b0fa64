import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRecentCache } from '../../src/lib/caches.ts'

test('what was asked for lately is there, and never more than two generations', () => {
  const key = fc.nat(4).map(String)
  const step = fc.tuple(key, fc.option(fc.record({ value: fc.nat() })))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const recent = createRecentCache<{ value: number }>(2)
      const all = new Map<string, { value: number }>()
      /** Keys by when they were last of use, the latest last. */
      let used: string[] = []
      for (const [key, value] of steps) {
        if (value === null) {
          const found = recent.get(key)
          if (found === undefined) assert.ok(!used.slice(-2).includes(key), `${key} of ${used}`)
          else assert.equal(found, all.get(key))
          if (found === undefined) continue
        } else {
          recent.set(key, value)
          all.set(key, value)
        }
        used = [...used.filter(it => it !== key), key]
        const entries = [...recent.entries()]
        assert.ok(entries.length <= 4)
        for (const [key, value] of entries) assert.equal(value, all.get(key))
      }
      recent.clear()
      assert.deepEqual([...recent.entries()], [])
    }),
    { numRuns: 1_000 },
  )
})
