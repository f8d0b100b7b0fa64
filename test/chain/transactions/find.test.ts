import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SearchMethod } from '../../../src/chain/source.ts'
import type { RawBlock } from '../../../src/chain/wire.ts'
import { never, sourceOf as testSource } from '../../support/chain-source.ts'
import { seeded } from '../../support/logs.ts'
import { type FakeNode, fastClock, NodeError, startNode } from '../../support/node.ts'
import { makeChain } from '../../support/pack.ts'
import { random, unevenChain } from '../../support/scoped.ts'
import { INSIDE, partiesIn, sentIn, serveOtterscan, serveTraceFilter } from '../../support/transactions.ts'

const chain = unevenChain(120, random(9), 0)
const parties = partiesIn(chain)
const nothingKnown = () => new Set<string>()

const sourceOf = (t: TestContext, nodes: FakeNode[], batch = 20) =>
  testSource(t, nodes, { clock: fastClock(1_000), timeoutMs: 5_000, batch })
type Source = ReturnType<typeof sourceOf>

const all = async (source: Source, addresses: string[], by: SearchMethod | null, from = 3, to = 110) => {
  const found: RawBlock[] = []
  let at = from
  const options = { by, known: nothingKnown }
  for await (const part of source.transactions!.find(addresses, { from, to }, options, AbortSignal.timeout(30_000))) {
    assert.equal(part.from, at)
    at = part.to + 1
    found.push(...part.blocks)
  }
  assert.equal(at, to + 1)
  return found
}
const expected = (addresses: string[], from = 3, to = 110) =>
  chain.slice(from, to + 1).flatMap(it => sentIn(it, addresses) ?? [])

const some = [parties[0]!, parties[3]!]

for (const limits of [{}, { blocks: 7 }, { cut: 50 }, { cut: 100 }, { noPages: true }, { cut: 50, noPages: true }])
  test(`transactions are found by trace_filter with ${JSON.stringify(limits)}`, async t => {
    const node = await startNode(t, chain)
    const asked = serveTraceFilter(node, limits)
    const source = sourceOf(t, [node])
    assert.deepEqual(await source.transactions!.searching(3, never), { by: 'trace_filter' })
    assert.deepEqual(await all(source, some, 'trace_filter'), expected(some))
    assert.ok(asked.every(({ to }) => to <= 110))
    assert.deepEqual(await all(source, [`0x${'9'.repeat(40)}`], 'trace_filter'), [])
  })

test('blocks in which others call an address are not read', async t => {
  const node = await startNode(t, chain)
  const asked = serveTraceFilter(node)
  const source = sourceOf(t, [node])
  assert.deepEqual(await all(source, [INSIDE], 'trace_filter', 0, 100), [])
  assert.ok(asked.length > 0)
  assert.ok(!node.calls.some(({ params }) => params[1] === true))
})

test('transactions are found by pages of Otterscan, each asked for once', async t => {
  const node = await startNode(t, chain)
  node.missing.set('trace_filter', new NodeError(-32603, 'unimplemented'))
  const asked = serveOtterscan(node, 4)
  const source = sourceOf(t, [node])
  assert.deepEqual(await source.transactions!.searching(3, never), { by: 'ots_searchTransactionsAfter' })
  for (const addresses of [some, parties]) {
    asked.length = 0
    assert.deepEqual(await all(source, addresses, 'ots_searchTransactionsAfter'), expected(addresses))
    assert.equal(new Set(asked.map(it => JSON.stringify(it))).size, asked.length)
  }
})

test('where no node finds transactions, that is told, and each block can be read', async t => {
  const node = await startNode(t, chain)
  const source = sourceOf(t, [node])
  const told = await source.transactions!.searching(3, never)
  assert.ok(told.by === null)
  assert.match(
    told.why,
    /trace_filter: the method trace_filter does not exist.*ots_searchTransactionsAfter: the method/,
  )
  node.calls.length = 0
  assert.deepEqual(await all(source, some, null), expected(some))
  const calls = node.calls.filter(({ method }) => method === 'eth_getBlockByNumber').length
  assert.equal(calls, 108)
})

test('a node that has forgotten old states does not find old transactions', async t => {
  const node = await startNode(t, chain)
  node.methods.set('trace_filter', params => {
    if (Number((params as [{ fromBlock: string }])[0].fromBlock) < 50)
      throw new NodeError(-32000, 'historical state of block 3 is not available')
    return []
  })
  const source = sourceOf(t, [node])
  assert.equal((await source.transactions!.searching(3, never)).by, null)
  assert.equal((await source.transactions!.searching(60, never)).by, 'trace_filter')
})

test('one of two nodes finds transactions, and both give the blocks', async t => {
  const nodes = [await startNode(t, chain), await startNode(t, chain)]
  serveTraceFilter(nodes[1]!)
  const source = sourceOf(t, nodes)
  assert.deepEqual(await source.transactions!.searching(3, never), { by: 'trace_filter' })
  assert.deepEqual(await all(source, some, 'trace_filter'), expected(some))
})

test('what is stored already is not fetched', async t => {
  const node = await startNode(t, chain)
  serveTraceFilter(node)
  const source = sourceOf(t, [node])
  const due = expected(some)
  const stored = new Set(due.slice(0, 10).flatMap(({ block }) => block.transactions.map(({ hash }) => hash)))
  const known = (hashes: readonly string[]) => new Set(hashes.filter(hash => stored.has(hash)))
  const found: RawBlock[] = []
  const range = { from: 3, to: 110 }
  for await (const part of source.transactions!.find(some, range, { by: 'trace_filter', known }, never))
    found.push(...part.blocks)
  assert.deepEqual(found, due.slice(10))
})

test('transactions of blocks of the head take no question unless there are some', async t => {
  const node = await startNode(t, chain)
  const source = sourceOf(t, [node])
  for (const raw of chain) {
    node.calls.length = 0
    const { chainId, block } = structuredClone(raw)
    const event = { ...(chainId !== undefined && { chainId }), block, receipts: [], partial: true as const }
    const due = sentIn(raw, some)
    assert.deepEqual(await source.transactions!.findIn(some, event, never), due)
    const asked = node.calls.filter(({ method }) => method !== 'eth_chainId').length
    assert.equal(asked, due ? 1 : 0)
  }
})

test('a block that is gone is given up', async t => {
  const node = await startNode(t, chain)
  const [gone] = makeChain({ parent: chain[40]!, blocks: 1, txs: 3, logs: 0, salt: 'gone' })
  const source = sourceOf(t, [node])
  const addresses = partiesIn([gone!])
  await assert.rejects(source.transactions!.findIn(addresses, gone!, never), { next: 'retry' })
})

/** A seed that ever failed is kept here. */
for (const seed of [1, 2, 3, 4, 5, 6])
  test(`two nodes that fail, lie and lag give all that is wanted: seed ${seed}`, async t => {
    const chance = seeded(seed)
    const below = random(seed)
    const by = seed % 3 === 0 ? 'ots_searchTransactionsAfter' : seed % 3 === 1 ? 'trace_filter' : null
    const nodes = [await startNode(t, chain), await startNode(t, chain)]
    const other = makeChain({ blocks: 120, txs: 3, salt: 'other' })
    for (const node of nodes) {
      serveTraceFilter(node, { ...(chance() < 0.5 && { blocks: 1 + below(40) }), ...(chance() < 0.3 && { cut: 100 }) })
      serveOtterscan(node, 1 + below(10))
      node.trouble = () => {
        if (chance() < 0.04) return { status: 429 }
        if (chance() < 0.03) return 'reset'
        return chance() < 0.03 ? { garbage: '{"jsonrpc":"2.0","id":1,"result":[{' } : undefined
      }
      node.lie = ({ method, params }, result) => {
        if (method === 'eth_chainId' || chance() > 0.05) return result
        const fork = other[Number(params[0])]
        if (method === 'eth_getBlockByNumber') return fork && params[1] === true ? fork.block : null
        if (method === 'eth_getBlockReceipts') return fork?.receipts.slice(1) ?? null
        if (method === 'eth_getTransactionReceipt') return other[60]!.receipts[0]
        if (method === 'trace_filter') return [{ blockNumber: 5_000, transactionHash: null, traceAddress: [] }]
        return new NodeError(-32603, 'internal error')
      }
    }
    const source = sourceOf(t, nodes, 1 + below(20))
    const addresses = parties.filter(() => chance() < 0.5)
    assert.deepEqual(await all(source, addresses, by), expected(addresses))
  })
