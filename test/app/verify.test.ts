import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { verifyDataFolder } from '../../src/app/verify.ts'
import { loadConfig } from '../../src/config/index.ts'
import { storeFile } from '../../src/engine/files.ts'
import { silent } from '../../src/lib/log.ts'
import type { Progress } from '../../src/lib/progress.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'
import { tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const unseen: Progress = { update: () => {}, finish: () => {} }

const NETWORK = 'ethereum/test/net'

test('all files of a data folder are gone through, and each is told of', async t => {
  const data = dirname(await (await tempFolder(t))('any', ''))
  const store = storeFile(data, NETWORK)
  mkdirSync(dirname(store))
  createTestStore(demoBlocks().slice(0, 20), { path: store }).close()
  openAccounts(data).close()
  const config = loadConfig({ flags: { data }, env: {}, cwd: data })
  const shutdown = createShutdown({ log: silent })
  t.after(() => shutdown.close())
  const found = (network?: string) =>
    verifyDataFolder(config, network, true, { log: silent, shutdown, progress: () => unseen })
  const whole = [store, join(data, 'accounts.sqlite')].map(file => ({ file, faults: [], unchecked: false }))
  assert.deepEqual(await found(), whole)

  const bytes = readFileSync(store)
  bytes[9_000]! ^= 1
  writeFileSync(store, bytes)
  const fault = `1 of ${bytes.length / 4096} pages do not match their checksums: 3`
  assert.deepEqual(await found(NETWORK), [{ file: store, faults: [fault], unchecked: false }])
  await assert.rejects(found('a/b/c'), { code: 'index_not_found_exception' })

  const accounts = join(data, 'accounts.sqlite')
  writeFileSync(accounts, readFileSync(accounts).fill(7, 4096, 8192))
  assert.match((await found())[1]!.faults[0]!, /malformed|page 2/)
})
