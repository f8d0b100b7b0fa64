import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryOf } from '../../src/ingest/network.ts'

test('few networks have as much memory as one alone, and many share it', () => {
  const one = memoryOf('follow', 1, false)
  assert.deepEqual(one, { youngMb: 24, writerCacheMb: 128, readerCacheMb: 64 })
  assert.deepEqual(memoryOf('follow', 2, false), one)
  for (const networks of [5, 10, 16]) {
    const { youngMb, writerCacheMb, readerCacheMb } = memoryOf('follow', networks, false)
    assert.ok(youngMb * networks <= 96 && writerCacheMb * networks <= 256 && readerCacheMb * networks <= 128)
  }
  assert.deepEqual(memoryOf('follow', 1_000, false), { youngMb: 6, writerCacheMb: 16, readerCacheMb: 8 })
  assert.equal(memoryOf('import', 10, false).youngMb, 96)
  assert.equal(memoryOf('import', 10, true).youngMb, 6)
})
