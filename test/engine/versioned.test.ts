import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { perVersion, stateVersion } from '../../src/engine/store-version.ts'
import { openReadonly, openWritable } from '../../src/sqlite/database.ts'

test('what a store tells is read anew once another connection has written, and by all of a connection at once', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-versioned-'))
  const path = join(folder, 'store.sqlite')
  const check = () => {}
  const writing = openWritable(path, { check, make: db => void db.exec('CREATE TABLE it (n)') })
  const reading = openReadonly(path, { check })
  t.after(() => {
    reading.close()
    writing.close()
    rmSync(folder, { recursive: true })
  })
  const write = () => void writing.exec('INSERT INTO it VALUES (1)')
  const count = reading.prepare<[], number>('SELECT count(*) FROM it').pluck()
  let reads = 0
  const rows = perVersion(reading, () => {
    reads++
    return count.get()
  })
  const doubled = perVersion(reading, () => count.get()! * 2)
  assert.equal(stateVersion(reading), stateVersion(reading))
  assert.deepEqual([rows(), rows(), doubled()], [0, 0, 0])
  write()
  assert.deepEqual([rows(), doubled()], [0, 0], 'still the same turn')
  await nextTurn()
  assert.deepEqual([rows(), doubled()], [1, 2])
  await nextTurn()
  assert.deepEqual([rows(), doubled(), reads], [1, 2, 2])
})
