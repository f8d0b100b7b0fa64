import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const blocks = generatedBlocks(12)
const store = createTestStore(blocks.slice(0, 6))
after(() => store.close())

test('a read within another one sees the same state, and leaves it open', () => {
  const { reader } = store
  const stored = () => reader.segments().reduce((sum, { first, last }) => sum + last - first + 1, 0)
  reader.begin()
  store.add(blocks.slice(6))
  reader.begin()
  assert.equal(stored(), 6)
  reader.end()
  assert.ok(reader.db.inTransaction)
  assert.throws(() => {
    reader.begin(() => assert.fail('too late'))
    try {
      reader.check()
    } finally {
      reader.end()
    }
  }, /too late/)
  reader.check()
  reader.end()
  assert.ok(!reader.db.inTransaction)
  store.read(() => assert.equal(stored(), 12))
})
