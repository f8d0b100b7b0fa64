import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudget } from '../../src/chain/budget/budget.ts'
import { openSpent } from '../../src/chain/budget/spent-file.ts'
import { spentStem } from '../../src/engine/files.ts'
import { replayTransaction } from '../../src/ingest/replay.ts'
import { silent } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/retry.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { folderToIndex, NETWORK } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

test('a replay counts beside a server, and says at once that a budget is used up', async t => {
  const chain = makeChain({ blocks: 2, txs: 1 })
  const node = await startNode(t, chain)
  const [tx] = chain[1]!.block.transactions as unknown as [{ hash: string }]
  node.methods.set('eth_getTransactionByHash', () => tx)
  node.methods.set('eth_getBlockByHash', () => ({ ...chain[1]!.block, transactions: [tx.hash] }))
  node.methods.set('eth_getTransactionReceipt', () => chain[1]!.receipts[0])
  const { data } = await folderToIndex(t)
  const replay = () =>
    replayTransaction({
      ...{ urls: [node.url], allowances: [{ daily: 20 }], data, network: NETWORK, log: silent },
      ...{ hash: tx.hash, own: [], codes: false, timeoutMs: 2_000 },
      ...{ limits: DEFAULT_LIMITS, signal: AbortSignal.timeout(20_000) },
    })
  const spent = openSpent(spentStem(data, NETWORK), silent)
  const server = createBudget({ daily: 20 }, { url: node.url, clock: systemClock, spent })!
  server.charge(5)
  const { txs } = await replay()
  assert.equal(txs[0]!.hash, tx.hash)
  assert.ok(node.calls.length >= 4)
  assert.equal(server.status().day!.used, 5 + node.calls.length)
  await assert.rejects(
    async () => {
      for (;;) await replay()
    },
    { code: 'node_budget_used', message: /^the budget of http:\S+ is used up until .*T00:00:00.000Z, but for what is/ },
  )
  assert.equal(server.status().day!.used, 5 + node.calls.length)
  assert.ok(server.status().day!.left >= 2)
})
