import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { Config } from '../../src/config/index.ts'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { silent } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { watchStored } from '../../src/services/watch.ts'
import { tempFolder } from '../support/pack.ts'

test('a network whose store is damaged keeps no other from being attended to', async t => {
  const data = dirname(await (await tempFolder(t))('any', ''))
  const [broken, whole] = ['ethereum/test/broken', 'ethereum/test/whole'] as const
  makeStoreFolder(data)
  writeFileSync(storeFile(data, broken), 'x'.repeat(8_192))
  openForWriting(storeFile(data, whole)).close()
  const watching = watchStored({
    config: { data, limits: DEFAULT_LIMITS } as Config,
    rules: { version: () => 1, networks: () => [broken, whole] },
    indexed: new Set(),
    log: silent,
    onAlerts: () => {},
  })
  assert.equal(watching.of(broken), undefined)
  assert.equal(watching.of(whole)?.network, whole)
  await watching.stop()
})
