import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { didYouMean, editDistance, nearestName } from '../../src/lib/name-matching.ts'

const FIELDS = ['address', 'address.raw', 'blockNumber.num', 'blockNumber.raw', 'event', 'timestamp', 'to', 'tx']

test('a misspelt name finds the one that was meant', () => {
  const cases: Record<string, string | undefined> = {
    adress: 'address',
    'blocknumber.num': 'blockNumber.num',
    'blockNumber.nmu': 'blockNumber.num',
    evnet: 'event',
    timstamp: 'timestamp',
    ot: 'to',
    xt: 'tx',
    gasPrice: undefined,
    '': undefined,
    q: undefined,
  }
  const found = Object.fromEntries(Object.keys(cases).map(name => [name, nearestName(name, FIELDS)]))
  assert.deepEqual(found, cases)
})

test('a long name is compared in reasonable time and means nothing', () => {
  assert.equal(nearestName('x'.repeat(1_000_000), FIELDS), undefined)
})

test('the suggestion is a sentence to append, or nothing', () => {
  assert.equal(didYouMean('evnet', FIELDS), ' Did you mean "event"?')
  assert.equal(didYouMean('gasPrice', FIELDS), '')
})

/** The definition, word by word. */
const naive = (a: string, b: string, transpositions: boolean): number => {
  if (a === '' || b === '') return a.length + b.length
  const ways = [
    naive(a.slice(1), b, transpositions) + 1,
    naive(a, b.slice(1), transpositions) + 1,
    naive(a.slice(1), b.slice(1), transpositions) + (a[0] === b[0] ? 0 : 1),
  ]
  if (transpositions && a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0])
    ways.push(naive(a.slice(2), b.slice(2), transpositions) + 1)
  return Math.min(...ways)
}
test('it is the distance of its definition, and infinite beyond the most', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
  fc.assert(
    fc.property(text, text, fc.nat(5), fc.boolean(), (a, b, most, transpositions) => {
      const due = naive(a, b, transpositions)
      assert.equal(editDistance(a, b, { most, transpositions }), due <= most ? due : Number.POSITIVE_INFINITY)
    }),
    { numRuns: 1500, seed: 1 },
  )
})
test('a swap is one edit or two, and what was swapped is not edited again', () => {
  const of = (a: string, b: string, transpositions: boolean) => editDistance(a, b, { most: 9, transpositions })
  assert.deepEqual([of('ab', 'ba', true), of('ab', 'ba', false), of('ca', 'abc', true)], [1, 2, 3])
})
test('characters of a list count as they are', () => {
  assert.equal(editDistance(Array.from('a😀'), Array.from('a'), { most: 2, transpositions: true }), 1)
  assert.equal(editDistance('a😀', 'a', { most: 2, transpositions: true }), 2)
})
