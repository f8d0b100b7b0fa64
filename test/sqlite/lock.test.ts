import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockDataFolder, lockedFor } from '../../src/sqlite/lock.ts'

test('who keeps a folder is known to others, who keep it from nobody', t => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-lock-'))
  t.after(() => rmSync(data, { recursive: true, force: true }))
  assert.equal(lockedFor(data), undefined)
  assert.equal(lockedFor(join(data, 'nowhere')), undefined)
  const lock = lockDataFolder(data, 'serve')
  assert.equal(lockedFor(data), 'serve')
  assert.throws(() => lockDataFolder(data, 'index'), { code: 'data_folder_locked' })
  assert.equal(lockedFor(data), 'serve')
  lock.release()
  // What it left behind says nothing.
  assert.equal(lockedFor(data), undefined)
  const next = lockDataFolder(data, 'index')
  assert.equal(lockedFor(data), 'index')
  next.release()
  writeFileSync(join(data, 'lock.sqlite'), Buffer.alloc(9_000, 7))
  assert.throws(() => lockDataFolder(data, 'serve'), {
    code: 'lock_damaged',
    message: /lock\.sqlite is damaged: delete it/,
  })
  rmSync(join(data, 'lock.sqlite'))
  lockDataFolder(data, 'serve').release()
})
