import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { REGEXP_OPERATORS } from '../../src/query/regexp/parse.ts'
import { matcherOf, patternStart, type TextPattern } from '../../src/query/text/pattern.ts'
import { processorTime } from '../support/processor.ts'

const regexp = (text: string, more: Partial<TextPattern> = {}): TextPattern => ({
  ...{ how: 'regexp', text, ignoreCase: false, operators: REGEXP_OPERATORS },
  ...more,
})
const matched = (pattern: TextPattern, ...texts: string[]) => texts.filter(matcherOf(pattern))

/** Expressions that mean the same to V8, over three letters. */
const source = fc.letrec<{ source: string }>(tie => ({
  source: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '[a-b]', '()'),
    fc.tuple(tie('source'), tie('source')).map(([x, y]) => `${x}${y}`),
    fc.tuple(tie('source'), tie('source')).map(([x, y]) => `(${x}|${y})`),
    fc.tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{1,}')).map(([x, y]) => `(${x})${y}`),
  ),
})).source
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 })

test('plain operators mean what they mean elsewhere', () => {
  fc.assert(
    fc.property(source, fc.array(word, { maxLength: 10 }), (text, words) => {
      const theirs = new RegExp(`^(?:${text})$`, 'u')
      const matches = matcherOf(regexp(text))
      for (const word of words) assert.equal(matches(word), theirs.test(word), `${text} on ${word}`)
    }),
    { numRuns: 2000, seed: 1 },
  )
})

test('complement and intersection are those of the sets of words', () => {
  fc.assert(
    fc.property(source, source, fc.array(word, { maxLength: 10 }), (left, right, words) => {
      const [a, b] = [left, right].map(text => matcherOf(regexp(text)))
      const both = matcherOf(regexp(`(${left})&~(${right})`))
      for (const word of words) assert.equal(both(word), a!(word) && !b!(word), `${left} & ~${right} on ${word}`)
    }),
    { numRuns: 1000, seed: 1 },
  )
})

test('intervals, any string, nothing, quotes and escapes', () => {
  assert.deepEqual(matched(regexp('x<7-120>'), 'x7', 'x007', 'x6', 'x99', 'x120', 'x121', 'x'), [
    'x7',
    'x007',
    'x99',
    'x120',
  ])
  assert.deepEqual(matched(regexp('<007-120>'), '7', '007', '0099', '120'), ['007', '120'])
  for (let n = 0; n < 130; n++) assert.equal(matcherOf(regexp('<13-107>'))(String(n)), n >= 13 && n <= 107, `${n}`)
  assert.deepEqual(matched(regexp('a@'), 'a', 'abc', 'b'), ['a', 'abc'])
  assert.deepEqual(matched(regexp('a|#'), 'a', ''), ['a'])
  assert.deepEqual(matched(regexp('"a.*"b'), 'a.*b', 'axxb'), ['a.*b'])
  assert.deepEqual(matched(regexp('\\w\\.'), 'w.', 'a.'), ['w.'])
  assert.deepEqual(matched(regexp('~a', { operators: [] }), '~a', 'b'), ['~a'])
  assert.deepEqual(matched(regexp('Ab[c]', { ignoreCase: true }), 'aBc', 'abC'), ['aBc'])
  assert.deepEqual(matched(regexp('.😀.'), 'a😀b', '😀😀😀', '😀'), ['a😀b', '😀😀😀'])
  assert.deepEqual(matched({ how: 'wildcard', text: 'a?c*\\*', ignoreCase: false }, 'abc*', 'abcd', 'a😀cx*'), [
    'abc*',
    'a😀cx*',
  ])
})

test('what is no expression is refused', () => {
  const wrong = [
    '(',
    'a)',
    'a{',
    'a{2',
    'a{x}',
    '[',
    '[a',
    '[b-a]',
    '"a',
    '<1-',
    '<x>',
    '<x-y>',
    'a|',
    '\\',
    'a{20000}',
  ]
  for (const text of wrong)
    assert.throws(
      () => matcherOf(regexp(text)),
      error => error instanceof ChainsieveError && error.next === 'refuse',
      text,
    )
})

test('what all matches begin with', () => {
  const starts = ['abc.*', 'ab+', 'abc?d', 'ab|cd', '(ab)', 'abc{2}', '[a]b', 'abc'].map(text =>
    patternStart(regexp(text)),
  )
  assert.deepEqual(starts, ['abc', 'a', 'ab', '', '', 'ab', '', 'abc'])
  fc.assert(
    fc.property(source, fc.array(word), (text, words) => {
      const start = patternStart(regexp(text))
      for (const word of matched(regexp(text), ...words)) assert.ok(word.startsWith(start), `${text} ${word}`)
    }),
  )
})

test('no pattern takes long: it matches in time, or is refused', () => {
  const evil = [
    '(a*)*b',
    '(a|aa)+b',
    '(.*a){25}',
    '(a?){500}a{500}',
    '.*a.{18}',
    '(x+x+)+y',
    '((a{0,100}){0,100}){0,100}',
    '~(.*a.{15}&.*b.{15})',
    '(a|b|ab|ba|aab){1,1000}c',
    '.*.*.*.*.*.*.*.*.*=.*',
    '(([a-z])+.)+[A-Z]([a-z])+',
    '@a@a@a@a@a@a@a@a@a@a@b',
    '~~~~~~~~~~a',
    `${'('.repeat(90)}a${')'.repeat(90)}`,
    'a?'.repeat(400),
  ]
  const texts = ['a'.repeat(255), 'ab'.repeat(127), `${'a'.repeat(200)}b`, 'x'.repeat(255), 'ba='.repeat(80)]
  for (const text of evil) {
    const before = processorTime()
    try {
      const matches = matcherOf(regexp(text))
      for (const it of texts) matches(it)
    } catch (error) {
      assert.ok(error instanceof ChainsieveError && error.next === 'refuse', `${text}: ${error}`)
    }
    const took = processorTime() - before
    assert.ok(took < 3000, `${text} took ${took} ms`)
  }
  const stars: TextPattern = { how: 'wildcard', text: '*a'.repeat(5000), ignoreCase: false }
  assert.throws(() => matcherOf(stars)('a'.repeat(4999)), /too complex/)
  assert.equal(matcherOf({ ...stars, text: '*a'.repeat(100) })('a'.repeat(99)), false)
  assert.equal(matcherOf({ ...stars, text: '*a'.repeat(100) })(`${'ab'.repeat(99)}a`), true)
})
