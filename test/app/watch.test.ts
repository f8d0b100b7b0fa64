import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { watchStored } from '../../src/app/retention.ts'
import type { Config } from '../../src/config/index.ts'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { silent } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { until } from '../e2e/program.ts'
import { tempFolder } from '../support/pack.ts'

test('a network whose store is damaged keeps no other from being watched, and is watched once it is whole', async t => {
  const data = dirname(await (await tempFolder(t))('any', ''))
  const [broken, whole] = ['ethereum/test/broken', 'ethereum/test/whole'] as const
  makeStoreFolder(data)
  writeFileSync(storeFile(data, broken), 'x'.repeat(8_192))
  openForWriting(storeFile(data, whole)).close()
  const watching = watchStored({
    config: { data, networks: [], limits: DEFAULT_LIMITS } as unknown as Config,
    rules: { version: () => 1, networks: () => [broken, whole] },
    indexed: new Set(),
    log: silent,
    onAlerts: () => {},
  })
  t.after(watching.stop)
  const { restarts, report } = watching.of(broken)!
  assert.match(restarts()!.error, /damaged|not a database/)
  assert.equal(report().blocks, 0)
  assert.equal(watching.of(whole)?.network, whole)
  rmSync(storeFile(data, broken))
  await until(restarts, it => it?.nextAt === null)
  assert.equal(watching.of(broken)!.error(), null)
})
