import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openForReading, openForWriting } from '../../src/engine/open.ts'
import { createReplica } from '../../src/engine/shipping/replica.ts'
import { createShippedReader } from '../../src/engine/shipping/shipped-ranges.ts'
import { cursorKeyOf, readCursorKey } from '../../src/engine/store-version.ts'

const open = (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-key-'))
  const path = join(folder, 'store.sqlite')
  t.after(() => rmSync(folder, { recursive: true }))
  return { path, db: openForWriting(path) }
}

test('a store has a key of its own, which stays', t => {
  const { path, db } = open(t)
  const key = readCursorKey(db)!
  assert.match(key, /^[0-9a-f]{64}$/)
  db.close()
  const again = openForWriting(path)
  assert.equal(readCursorKey(again), key)
  const reader = openForReading(path)
  assert.equal(cursorKeyOf(reader)().toString('hex'), key)
  reader.close()
  again.close()
  const other = open(t)
  assert.notEqual(readCursorKey(other.db), key)
  other.db.close()
})

test('a store of an older version gets one when it is opened for writing', t => {
  const { path, db } = open(t)
  db.exec("DELETE FROM meta WHERE key = 'cursor_key'")
  db.close()
  const reader = openForReading(path)
  assert.throws(cursorKeyOf(reader), { code: 'store_older' })
  reader.close()
  const again = openForWriting(path)
  assert.match(readCursorKey(again) ?? '', /^[0-9a-f]{64}$/)
  again.close()
})

test('who follows what another process tells in the cluster takes its key', async t => {
  const [writes, searches] = [open(t), open(t)]
  const told = () => createShippedReader(writes.db).shared()
  const { take } = createReplica(searches.db)
  const reader = openForReading(searches.path)
  const keyNow = cursorKeyOf(reader)
  const own = keyNow().toString('hex')
  // An older version tells none.
  take({ ...told(), cursorKey: undefined })
  assert.equal(readCursorKey(searches.db), own)
  take(told())
  assert.equal(readCursorKey(searches.db), readCursorKey(writes.db))
  // A connection looks once a turn.
  await new Promise(setImmediate)
  assert.equal(keyNow().toString('hex'), readCursorKey(writes.db))
  reader.close()
  for (const { db } of [writes, searches]) db.close()
})
