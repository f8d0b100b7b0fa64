import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { phraseFrequency } from '../../src/query/text/phrase.ts'

const frequency = (text: string, asked: string, slop = 0, prefix = false) =>
  phraseFrequency(text.split(' '), { words: asked.split(' '), slop, prefix })

test('words in a row, and moved ones', () => {
  assert.deepEqual(
    [
      frequency('a b c', 'a b'),
      frequency('a b a b', 'a b'),
      frequency('b a', 'a b'),
      frequency('a x b', 'a b'),
      frequency('a x b', 'a b', 1),
      frequency('b a', 'a b', 1),
      frequency('b a', 'a b', 2),
      frequency('a b', 'a a', 5),
      frequency('a x x x a x x x a', 'a a', 1),
      frequency('a x a x x x a', 'a a', 1),
      frequency('a gold coin', 'gold co', 0, true),
      frequency('a gold coin', 'gold x', 0, true),
    ],
    [1, 2, 0, 0, 0.5, 0, 1 / 3, 0, 0, 0.5, 1, 0],
  )
})

test('without slop it is where the words stand one behind the other', () => {
  const words = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(words, words, (text, asked) => {
      const due = text.filter((_, at) => asked.every((word, i) => text[at + i] === word)).length
      assert.equal(phraseFrequency(text, { words: asked, slop: 0, prefix: false }), due)
    }),
  )
})
