import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { nearTo, readFuzziness } from '../../src/query/text/pattern.ts'

/** All texts that one edit makes of a text, over an alphabet. */
const edited = (text: string, transpositions: boolean): string[] => {
  const all = Array.from(text)
  const made: string[][] = []
  for (let at = 0; at <= all.length; at++) {
    made.push(all.toSpliced(at, 1))
    for (const letter of ALPHABET) made.push(all.toSpliced(at, 0, letter), all.toSpliced(at, 1, letter))
    if (transpositions && at + 1 < all.length) made.push(all.toSpliced(at, 2, all[at + 1]!, all[at]!))
  }
  return made.map(letters => letters.join(''))
}
const ALPHABET = ['a', 'b', '😀']
const word = fc.string({ unit: fc.constantFrom(...ALPHABET), maxLength: 6 })

test('what one edit makes of a text is near to it, and nothing else is', () => {
  fc.assert(
    fc.property(word, word, fc.boolean(), (text, other, transpositions) => {
      const due = new Set([text, ...edited(text, transpositions)])
      const isNear = nearTo({ text, edits: 1, prefix: 0, transpositions })
      for (const value of [...due, other]) assert.equal(isNear(value), due.has(value), `${text} ${value}`)
    }),
    { numRuns: 500, seed: 1 },
  )
})

test('a beginning that has to be the same is left out of the comparison', () => {
  fc.assert(
    fc.property(word, word, fc.nat(7), fc.nat(2), (text, value, prefix, edits) => {
      const start = Array.from(text).slice(0, prefix).join('')
      const rest = nearTo({ text: text.slice(start.length), edits, prefix: 0, transpositions: true })
      const due = value.startsWith(start) && rest(value.slice(start.length))
      assert.equal(nearTo({ text, edits, prefix, transpositions: true })(value), due)
    }),
    { numRuns: 1000, seed: 1 },
  )
})

test('edits by the length of the text, in characters', () => {
  const edits = (fuzziness: string) => {
    const read = readFuzziness({ path: '', value: fuzziness })
    return ['', 'ab', 'abc', '😀😀😀', 'abcde', 'abcdef', 'a'.repeat(100)].map(read)
  }
  assert.deepEqual(edits('AUTO'), [0, 0, 1, 1, 1, 2, 2])
  assert.deepEqual(edits('auto'), edits('AUTO:3,6'))
  assert.deepEqual(edits('AUTO:0,0'), [2, 2, 2, 2, 2, 2, 2])
  assert.deepEqual(edits('AUTO:4,101'), [0, 0, 0, 0, 1, 1, 1])
  for (const n of [0, 1, 2]) assert.deepEqual(new Set(edits(`${n}`)), new Set([n]))
  assert.deepEqual(edits('2.0'), edits('2'))
})

test('what says no number of edits is refused', () => {
  for (const value of [
    '',
    'x',
    '3',
    '-1',
    '1.5',
    'AUTO:',
    'AUTO:3',
    'AUTO:6,3',
    'AUTO:-1,3',
    'AUTO:1,2,3',
    null,
    [],
    true,
  ])
    assert.throws(
      () => readFuzziness({ path: 'query.match.event.fuzziness', value }),
      error =>
        error instanceof ChainsieveError &&
        error.message.startsWith(
          'query.match.event.fuzziness: expected 0, 1, 2, "AUTO" or "AUTO:low,high" with low not above high, received ',
        ),
      String(value),
    )
})
