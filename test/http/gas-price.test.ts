import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { createPool } from '../../src/search/pool.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'
import { appOf, callerOf, MAINNET, TOKEN } from './support.ts'

test('the gas price has two names, and refuses what it does not know', async t => {
  const store = createTestStore(generatedBlocks(3))
  const search = createPool({
    stores: () => new Map([[MAINNET, store.path]]),
    threads: 1,
    deadlineMs: 60_000,
    limits: DEFAULT_LIMITS,
  })
  t.after(async () => {
    await search.close()
    store.close()
  })
  const ask = callerOf(appOf({ search }), TOKEN)
  const whole = await ask('GET', `/${MAINNET}/gasprice`)
  assert.equal(whole.status, 200)
  assert.deepEqual(Object.keys(whole.body), [
    ...['health', 'blockNumber', 'blockTime', 'slow', 'standard', 'fast', 'instant'],
    ...['latestBlockBaseFee', 'latestBlockMinFee', 'eip1559'],
  ])
  for (const path of ['gasprice/?pretty', 'latest-minimum-gasprice', 'latest-minimum-gasprice/'])
    assert.deepEqual((await ask('GET', `/${MAINNET}/${path}`)).body, whole.body, path)
  const { body: second } = await ask('GET', `/${MAINNET}/gasprice?from=22600001&to=22600001`)
  assert.deepEqual([second.health, second.blockNumber], [true, 22_600_001])

  const faults: [path: string, status: number, reason: RegExp][] = [
    [`${MAINNET}/gasprice?from=0x10`, 400, /\[from\] must be an integer of at least 0, not "0x10"/],
    [`${MAINNET}/gasprice?to=-1`, 400, /\[to\] must be an integer of at least 0/],
    [`${MAINNET}/gasprice?from=2&to=1`, 400, /\[from\] must be at most \[to\], which is 1, not 2/],
    [`${MAINNET}/gasprice?form=2`, 400, /\[form\] is not known.*Did you mean "from"/],
    ['ethereum/ethereum/main/gasprice', 404, /Did you mean "ethereum\/ethereum\/mainnet"/],
  ]
  for (const [path, status, reason] of faults) {
    const refused = await ask('GET', `/${path}`)
    assert.equal(refused.status, status, path)
    assert.match(refused.body.error.reason, reason)
  }
  assert.equal((await ask('POST', `/${MAINNET}/gasprice`)).status, 405)
  assert.equal((await callerOf(appOf({ search }), 'cs_bad')('GET', `/${MAINNET}/gasprice`)).status, 401)
})
