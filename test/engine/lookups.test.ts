import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStoreLookups } from '../../src/engine/dictionary-reader.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

test('look-ups tell hashes of stored blocks, and nothing of others', t => {
  const blocks = demoBlocks()
  const store = createTestStore(blocks)
  t.after(store.close)
  const lookups = createStoreLookups(store.db)
  for (const { block } of blocks) {
    const number = Number(block.number)
    assert.deepEqual([lookups.hash(number), lookups.parentHash(number)], [block.hash, block.parentHash])
  }
  assert.deepEqual([lookups.hash(2 ** 31), lookups.parentHash(2 ** 31)], [undefined, undefined])
})
