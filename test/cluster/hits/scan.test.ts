import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOfValue, scanAnswer } from '../../../src/cluster/hits/scan.ts'

test('a string ends where it ends, however long it is and whatever is escaped in it', () => {
  for (let length = 0; length < 90; length++)
    for (const end of ['', '\\', '\\\\', '"', '\\"', 'é', '\n', '\\'.repeat(5), '"'.repeat(4), '"x'.repeat(60)]) {
      const text = JSON.stringify('a'.repeat(length) + end)
      const bytes = Buffer.from(`[${text},"b"]`)
      assert.equal(endOfValue(bytes, 1), 1 + Buffer.byteLength(text), text)
    }
  for (const open of ['"', `"${'a'.repeat(200)}`, `"${'a'.repeat(200)}\\"`])
    assert.throws(() => endOfValue(Buffer.from(open), 0), /is not an answer to a search/)
})

test('hits are told apart from what stands in their documents', () => {
  const source = { a: '"}],'.repeat(40), b: [{ _id: 'no' }], chainsieve: { batch: 1 } }
  const hit = { _index: 'i', _id: 'x"y', _score: null, _source: source, sort: [1, 2] }
  const answer = { took: 1, hits: { total: { value: 2 }, max_score: 1.5, hits: [hit, hit] }, aggregations: { n: 1 } }
  const { hits, ...rest } = scanAnswer(Buffer.from(JSON.stringify(answer)))
  assert.deepEqual(rest, { total: 2, maxScore: 1.5, aggregations: '{"n":1}' })
  for (const { source: bytes, sort, last, ...one } of hits) {
    assert.deepEqual(one, { id: 'x"y', score: null })
    assert.equal(bytes.toString(), JSON.stringify(source))
    assert.equal(bytes.toString('utf8', last), '{"batch":1}}')
    assert.equal(sort?.toString(), '[1,2]')
  }
  assert.equal(hits.length, 2)
})
