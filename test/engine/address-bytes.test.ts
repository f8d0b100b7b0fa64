import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import { createAddressBytes } from '../../src/engine/show/address-bytes.ts'
import { createTestStore } from '../support/store.ts'

test('addresses are those of their ids, alone, in runs and at the end of the dictionary', () => {
  const store = createTestStore([...generateBlocks({ seed: 2, count: 3 })])
  const all = store.db.prepare('SELECT id, bytes FROM address ORDER BY id').raw().all() as [number, Buffer][]
  assert.ok(all.length > 200)
  const seventh = all.filter((_, i) => i % 7 === 0)
  for (const order of [all, all.toReversed(), [...seventh, ...all]]) {
    const bytesOf = createAddressBytes(store.reader)
    for (const [id, bytes] of order) assert.deepEqual(Buffer.from(bytesOf(id)), bytes)
    assert.throws(() => bytesOf(all.at(-1)![0] + 1), /the number of an address/)
  }
  store.close()
})
