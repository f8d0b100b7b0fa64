import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesGlob } from '../../src/lib/name-matching.ts'
import { processorTime } from '../support/processor.ts'

test('a star stands for any characters', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '.', '*'), { maxLength: 7 }).map(list => list.join(''))
  fc.assert(
    fc.property(letters, letters, (pattern, text) => {
      const expression = pattern.replace(/[.]/g, '\\.').replace(/\*/g, '.*')
      assert.equal(matchesGlob(text, pattern), new RegExp(`^${expression}$`).test(text))
    }),
    { numRuns: 3000 },
  )
})

test('many stars take no long time', () => {
  const started = processorTime()
  assert.equal(matchesGlob('a'.repeat(10_000), `${'*a'.repeat(5000)}b`), false)
  assert.ok(processorTime() - started < 2_000)
})
