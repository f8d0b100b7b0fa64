import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQuick, shapeOf } from '../../src/cluster/quick.ts'

test('searches that differ in values alone have one shape', () => {
  const body = (value: unknown) => JSON.stringify({ query: { term: { 'to.raw1': { value } } }, size: 10 })
  const shape = '/a/_search {"query":{"term":{"to.raw1":{"value":}}},"size":}'
  for (const value of ['x', 'a "b": \\', 12]) assert.equal(shapeOf('/a/_search', body(value)), shape)
  assert.notEqual(shapeOf('/b/_search', body('x')), shape)
  assert.notEqual(shapeOf('/a/_search', body(['x', 'y'])), shape)
})

test('a shape is quick by its last searches, and a slow one is long remembered', () => {
  const quick = createQuick()
  assert.equal(quick.is('a'), false)
  quick.saw('a', 3, 1_000)
  assert.equal(quick.is('a'), true)
  quick.saw('a', 3, 1_000_000)
  assert.equal(quick.is('a'), false)
  quick.saw('a', 1_000, 1_000)
  const until = (again: () => void) => {
    let times = 0
    for (; !quick.is('a'); times++) again()
    return times
  }
  assert.equal(
    until(() => quick.saw('a', 3, 1_000)),
    72,
  )
})

test('of shapes that are not asked any more nothing is kept', () => {
  const quick = createQuick()
  for (let i = 0; i < 1_001; i++) {
    quick.saw(`s${i}`, 1, 1)
    quick.saw('often', 1, 1)
  }
  assert.deepEqual(['s0', 's1', 's3', 'often', 's1000'].map(quick.is), [false, false, true, true, true])
})
