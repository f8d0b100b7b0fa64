import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBulkAnswer } from '../../src/cluster/bulk/answer.ts'

const read = (body: object, count: number) =>
  readBulkAnswer({ status: 200, text: JSON.stringify(body) }, count, at => `document ${at}`)
const taken = (count: number) => Array.from({ length: count }, () => ({ index: { status: 201 } }))

test('an answer in which all is well is believed for as many documents as it tells of', () => {
  assert.deepEqual(read({ errors: false, items: taken(3) }, 3), { again: [] })
  assert.deepEqual(read({ errors: false, items: taken(2) }, 3), {
    again: [0, 1, 2],
    why: 'its answer has 2 items for 3 documents',
  })
  assert.deepEqual(read({ errors: false }, 1), { again: [0], why: 'its answer has no items for 1 documents' })
})

test('an answer with errors is read item by item: a newer version is well, and what may be taken later is sent again', () => {
  const items = [
    ...taken(1),
    { index: { status: 409, error: { type: 'version_conflict_engine_exception', reason: 'it has 3' } } },
    { index: { status: 429, error: { type: 'rejected', reason: '"status":201 is what it would be' } } },
  ]
  assert.deepEqual(read({ errors: true, items }, 3), {
    again: [2],
    why: 'it refuses documents for now (429 rejected: "status":201 is what it would be)',
  })
})
