import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStores } from '../../src/app/stores.ts'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'

test('the list of stores is as old as that at most, and of now where a network is not in it', t => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-test-'))
  t.after(() => rmSync(data, { recursive: true }))
  const clock = { now: 0 }
  const stores = createStores(data, () => clock.now)
  const names = (wanted?: string) => [...stores(wanted).keys()]
  assert.deepEqual(names(), [])
  makeStoreFolder(data)
  writeFileSync(storeFile(data, 'a/b/c'), '')
  assert.deepEqual(names(), [])
  assert.deepEqual(names('a/b/c'), ['a/b/c'])
  assert.equal(stores().get('a/b/c'), storeFile(data, 'a/b/c'))
  writeFileSync(storeFile(data, 'd/e/f'), '')
  rmSync(storeFile(data, 'a/b/c'))
  assert.deepEqual(names('a/b/c'), ['a/b/c'])
  clock.now += 249
  assert.deepEqual(names(), ['a/b/c'])
  clock.now += 1
  assert.deepEqual(names(), ['d/e/f'])
  assert.deepEqual(names('a/b/c'), ['d/e/f'])
})
