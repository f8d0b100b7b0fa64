import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQuick, shapeOf } from '../../src/cluster/quick.ts'

test('searches that differ in values alone have one shape', () => {
  const body = (value: unknown) => JSON.stringify({ terms: { 'to.raw': value }, size: 10, from: { gte: value } })
  const shapeOfBody = (value: unknown) => shapeOf('/a/_search', body(value))
  assert.equal(shapeOfBody('x'), '/a/_search {"terms":{"to.raw"},"size":,"from":{"gte"}}')
  for (const value of ['', 'a: b, [c', '\\']) assert.equal(shapeOfBody(value), shapeOfBody('x'))
  assert.equal(shapeOfBody(['x', 'y']), shapeOfBody(['z', 'u']))
  assert.equal(shapeOfBody(12), shapeOfBody(3))
  assert.notEqual(shapeOfBody(['x', 'y']), shapeOfBody('x'))
  assert.notEqual(shapeOf('/b/_search', body('x')), shapeOfBody('x'))
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
