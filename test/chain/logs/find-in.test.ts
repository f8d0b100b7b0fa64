import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RpcSourceOptions } from '../../../src/chain/rpc-source.ts'
import type { LogFilter } from '../../../src/chain/source.ts'
import type { RawBlock, RpcBlock, RpcLog } from '../../../src/chain/wire.ts'
import { never, sourceOf as testSource } from '../../support/chain-source.ts'
import { limitLogs } from '../../support/log-providers.ts'
import { makeSparseChain, seeded, wantedOf } from '../../support/logs.ts'
import { type FakeNode, fastClock, NodeError, startNode } from '../../support/node.ts'
import { makeChain } from '../../support/pack.ts'

const chain = makeSparseChain(seeded(5), 60, 0.4)
const logs = makeChain({ blocks: 1, txs: 1, logs: 5 })[0]!.receipts[0]!.logs
const [token0, token1, token2] = logs.map(it => it.address)
const event = logs[1]!.topics[0]!
const nobody = `0x${'00'.repeat(20)}`

const sourceOf = (t: TestContext, node: FakeNode, options: Partial<RpcSourceOptions> = {}) =>
  testSource(t, node, { clock: fastClock(100), timeoutMs: 5_000, ...options })
const headerOf = ({ block }: RawBlock): RpcBlock => ({ ...block, transactions: [] })

const sets: LogFilter[][] = [
  [{ addresses: [token1!], topics: [] }],
  [
    { addresses: [token1!], topics: [event] },
    { addresses: [token0!], topics: [] },
  ],
  // Merged, they ask for more than what is wanted.
  [
    { addresses: [token0!], topics: [event] },
    { addresses: [token2!], topics: [`0x${'12'.repeat(32)}`] },
  ],
  [{ addresses: [], topics: [event] }],
  [{ addresses: [], topics: [] }],
  [{ addresses: [nobody], topics: [] }],
]

for (const [i, filters] of sets.entries()) {
  for (const bloom of [true, false]) {
    test(`what fits filters ${i} is found in blocks of the head ${bloom ? 'by' : 'without'} blooms`, async t => {
      const node = await startNode(t, chain)
      const source = sourceOf(t, node, { bloom })
      for (const raw of chain)
        assert.deepEqual(await source.scoped!.findIn(filters, headerOf(raw), never), wantedOf(raw, filters))
      assert.equal(source.endpoints()[0]!.lastError, null)
    })
  }
}

test('blocks whose blooms exclude all filters are not asked for', async t => {
  const node = await startNode(t, chain)
  const source = sourceOf(t, node)
  const filters = sets[0]!
  for (const raw of chain) await source.scoped!.findIn(filters, headerOf(raw), never)
  const asked = node.calls.filter(it => it.method === 'eth_getLogs').length
  const wanted = chain.filter(it => wantedOf(it, filters) !== undefined).length
  assert.ok(wanted > 5 && wanted < 40)
  assert.equal(asked, wanted)
})

test('where the bloom says that there must be logs and eth_getLogs gives none, the block is read', async t => {
  const node = await startNode(t, chain)
  node.lie = ({ method }, result) => (method === 'eth_getLogs' ? [] : result)
  const source = sourceOf(t, node)
  for (const raw of chain)
    assert.deepEqual(await source.scoped!.findIn(sets[0]!, headerOf(raw), never), wantedOf(raw, sets[0]!))
  assert.match(source.endpoints()[0]!.lastError!, /eth_getLogs gave 0 logs of block \d+, which has \d+/)
})

test('logs that are left out of a transaction are found', async t => {
  const node = await startNode(t, chain)
  node.lie = ({ method }, result) => (method === 'eth_getLogs' ? (result as RpcLog[]).slice(0, 1) : result)
  const filters: LogFilter[] = [{ addresses: [], topics: [] }]
  const source = sourceOf(t, node)
  for (const raw of chain) {
    const found = await source.scoped!.findIn(filters, headerOf(raw), never)
    assert.deepEqual(found?.receipts[0], wantedOf(raw, filters)?.receipts[0])
  }
  assert.match(source.endpoints()[0]!.lastError!, /eth_getLogs left out log 1 of block/)
})

test('a block that is gone is given up', async t => {
  const node = await startNode(t, chain)
  const gone = makeChain({ parent: chain[40]!, blocks: 1, txs: 1, logs: 2, salt: 'gone' })[0]!
  const source = sourceOf(t, node)
  const find = () => source.scoped!.findIn(sets[0]!, headerOf(gone), never)
  // The simulated node has no logs of a block that it does not know, others say so.
  await assert.rejects(find, { code: 'block_inconsistent' })
  node.methods.set('eth_getLogs', () => {
    throw new NodeError(-32000, 'unknown block')
  })
  await assert.rejects(find, { code: 'block_missing' })
})

test('a block with more logs than a node will tell is read as a whole', async t => {
  const node = await startNode(t, chain)
  node.methods.set('eth_getLogs', () => {
    throw new NodeError(-32005, 'query returned more than 2 results')
  })
  const source = sourceOf(t, node)
  for (const raw of chain.slice(0, 20))
    assert.deepEqual(await source.scoped!.findIn(sets[1]!, headerOf(raw), never), wantedOf(raw, sets[1]!))
})

test('many addresses take few calls', async t => {
  const node = await startNode(t, chain)
  limitLogs(node, { addresses: 100, ofAddresses: () => new NodeError(-32602, 'too many addresses, at most 100') })
  const others = Array.from({ length: 5_000 }, (_, i) => `0x${(i + 1).toString(16).padStart(40, '0')}`)
  const filters = [{ addresses: [...others, token1!].sort(), topics: [] }]
  const source = sourceOf(t, node)
  for (const raw of chain)
    assert.deepEqual(await source.scoped!.findIn(filters, headerOf(raw), never), wantedOf(raw, filters))
  assert.ok(node.calls.length <= 2 + 2 * chain.length)
})
