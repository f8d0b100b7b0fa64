import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean, nearestName } from '../../src/lib/edit-distance.ts'

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
