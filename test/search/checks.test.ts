import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { startChecks } from '../../src/search/checks.ts'
import { createPool } from '../../src/search/pool.ts'
import { NO_ACCOUNT } from '../../src/search/service.ts'
import { tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const [WHOLE, DAMAGED] = ['ethereum/test/whole', 'ethereum/test/damaged']
const signal = new AbortController().signal

const filled = async (t: TestContext): Promise<string> => {
  const path = await (await tempFolder(t))('network.sqlite', '')
  createTestStore(demoBlocks().slice(0, 20), { path }).close()
  return path
}

test('a pool answers from what is whole, and from nothing that is damaged, from the first answer on', async t => {
  const paths = new Map([
    [WHOLE, await filled(t)],
    [DAMAGED, await filled(t)],
  ])
  const bytes = readFileSync(paths.get(DAMAGED)!)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(paths.get(DAMAGED)!, bytes)

  const account = NO_ACCOUNT
  const stores = () => paths
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), json: false })
  const pool = createPool({
    ...{ stores, threads: 1, deadlineMs: 10_000, limits: DEFAULT_LIMITS },
    checks: startChecks(stores, log),
  })
  t.after(() => pool.close())
  const asks: ((network: string) => Promise<unknown>)[] = [
    network => pool.search({ network, account, entities: 'tx', body: undefined, signal }),
    network => pool.get({ network, account, entity: 'tx', id: '0x', signal }),
    network => pool.suggest({ network, account, q: 'a', size: 1, signal }),
    network => pool.similar({ network, account, kind: 'contract', id: `0x${'0'.repeat(40)}`, size: 1, signal }),
    network => pool.ranges(network),
  ]
  for (const ask of asks) {
    await assert.rejects(ask(DAMAGED), { next: 'stop', code: 'store_damaged', message: /\(page \d+\)/ })
    await ask(WHOLE)
  }
  assert.equal(lines.filter(line => line.includes('Stopped answering from a store')).length, 1)
  assert.deepEqual(await pool.ranges(WHOLE), [{ from: 0, to: 19 }])
})
