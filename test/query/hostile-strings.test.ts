import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { compilePredicate } from '../../src/query/predicate.ts'
import { processorTime } from '../support/processor.ts'

const outcome = (query: unknown): string => {
  try {
    const [part] = parseSearch(JSON.stringify({ query }), ['event'], 0).parts
    compilePredicate('event', part!.query)({ _id: '0x1', _source: { event: 'Transfer', args: [{ name: 'to' }] } })
    return 'read'
  } catch (error) {
    assert.ok(error instanceof ChainsieveError && error.next === 'refuse', String((error as Error).stack))
    return error.code
  }
}

const HOSTILE = [
  '('.repeat(5000),
  `${'('.repeat(150)}a${')'.repeat(150)}`,
  `${'('.repeat(90)}a${')'.repeat(90)}`,
  'a '.repeat(5000),
  'a OR '.repeat(2000),
  'NOT '.repeat(2000),
  '-'.repeat(9999),
  '"'.repeat(9999),
  '\\'.repeat(9999),
  '/'.repeat(9999),
  '['.repeat(9999),
  'a~'.repeat(3000),
  '*'.repeat(9999),
  '*a'.repeat(4999),
  '?'.repeat(9999),
  'a+b|'.repeat(2400),
  `event:/${'(a*)*'.repeat(180)}/`,
  `event:/${'a?'.repeat(400)}/`,
  `event:"${'a '.repeat(4000)}"~100`,
  'x'.repeat(1_000_000),
  `event:[${'a'.repeat(9000)} TO *]`,
  'event:>'.repeat(1000),
]

test('strings of every kind are read or refused in little time', () => {
  for (const text of HOSTILE)
    for (const query of [
      { query_string: { query: text } },
      { query_string: { query: text, default_field: 'event', default_operator: 'AND', analyze_wildcard: true } },
      { simple_query_string: { query: text, fields: ['event', 'event.raw'] } },
      { wildcard: { 'event.raw': text } },
      { regexp: { 'event.raw': text } },
      { match_phrase: { event: { query: text, slop: 5 } } },
      { multi_match: { query: text, fields: ['*'] } },
      { fuzzy: { event: text } },
    ]) {
      const before = processorTime()
      outcome(query)
      const took = processorTime() - before
      assert.ok(took < 3000, `${JSON.stringify(query).slice(0, 100)} took ${took} ms`)
    }
})

test('whatever is typed is read or refused', () => {
  const piece = fc.constantFrom(
    ...'()[]{}"~*?:\\/+-!^&| <>=a1',
    ' AND ',
    ' OR ',
    ' NOT ',
    'event',
    'TO',
    '_exists_',
    '😀',
    'u0041',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), pieces => {
      const query = pieces.join('')
      outcome({ query_string: { query, default_field: 'event' } })
      assert.equal(outcome({ simple_query_string: { query, fields: ['event'] } }), 'read', query)
      outcome({ regexp: { 'event.raw': query } })
      assert.equal(outcome({ wildcard: { 'event.raw': query } }), 'read', query)
    }),
    { numRuns: 3000, seed: 1 },
  )
})
