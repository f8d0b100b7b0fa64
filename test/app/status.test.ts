import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { services } from '../../src/app/index.ts'
import { publishStatus, readStatus } from '../../src/ingest/status/live.ts'
import type { ServerStatus } from '../../src/ingest/status/status.ts'
import { silent } from '../../src/lib/log.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'
import { lockDataFolder } from '../../src/sqlite/lock.ts'
import { configOf } from '../doctor/support.ts'

const STATUS: ServerStatus = { version: '1.2.3', networks: [], reasons: [] }

test('the status of a server that has just started is waited for, and is told at once', async t => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-status-'))
  const lock = lockDataFolder(data, 'serve')
  const shutdown = createShutdown({ log: silent })
  const asked = services.status(configOf({ data }), { log: silent, shutdown })
  const began = performance.now()
  assert.equal(readStatus(data), undefined)
  const end = publishStatus(data, async () => STATUS, silent)
  t.after(async () => {
    await end()
    lock.release()
    rmSync(data, { recursive: true, force: true })
  })
  assert.deepEqual(await asked, STATUS)
  // A server that says nothing is waited for for three seconds.
  assert.ok(performance.now() - began < 2_900, `${performance.now() - began} ms`)
})

test('without a server there is nothing to wait for', async t => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-status-'))
  const lock = lockDataFolder(data, 'index')
  t.after(() => {
    lock.release()
    rmSync(data, { recursive: true, force: true })
  })
  const shutdown = createShutdown({ log: silent })
  const began = performance.now()
  await assert.rejects(services.status(configOf({ data }), { log: silent, shutdown }), { code: 'no_data' })
  assert.ok(performance.now() - began < 2_900)
})
