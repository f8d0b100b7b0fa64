import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createBlocks } from '../../src/engine/blocks.ts'
import type { IndexJob } from '../../src/ingest/messages.ts'
import { numberOf } from '../support/contents.ts'
import { folderToIndex, followJob, indexIn, indexJob, logLines, readStore, reported } from '../support/indexing.ts'
import { type FakeNode, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const setUp = async (t: TestContext, chain: readonly RawBlock[]) => {
  const { data, store } = await folderToIndex(t)
  const node = await startNode(t, chain)
  const { lines, log } = logLines()
  return {
    ...{ node, lines },
    start: (job: IndexJob) => indexIn(t, data, job, { log }),
    /** Hashes of the blocks that are stored, by number. */
    stored: () =>
      readStore(store, db => {
        const all: string[] = []
        const rows = db.prepare<[], { number: number; hash: string }>('SELECT number, hex(hash) AS hash FROM block')
        for (const { number, hash } of rows.all()) all[number] = `0x${hash.toLowerCase()}`
        return all
      }),
    ranges: () => readStore(store, db => createBlocks(db).ranges()).map(({ from, to }) => `${from}-${to}`),
  }
}

const hashes = (chain: readonly RawBlock[]): string[] => {
  const all: string[] = []
  for (const raw of chain) all[numberOf(raw)] = raw.block.hash
  return all
}

/** Numbers of the blocks that the node was asked for. */
const askedFor = (node: FakeNode): Set<number> =>
  new Set(
    node.calls
      .filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true)
      .map(({ params }) => Number(params[0])),
  )

test('an index that is asked for again fetches what is missing, and nothing else', async t => {
  const chain = makeChain({ blocks: 60 })
  const { node, start, stored, ranges } = await setUp(t, chain)
  const report = await start(indexJob(node, { from: { block: 20 }, to: { block: 29 } })).ended
  assert.deepEqual([report.blocks, report.logs, report.added, report.head], [10, 40, [{ from: 20, to: 29 }], 59])
  assert.deepEqual(ranges(), ['20-29'])

  await start(indexJob(node, { from: { latest: 9 } })).ended
  assert.deepEqual(ranges(), ['20-29', '50-59'])

  node.calls.length = 0
  const rest = await start(indexJob(node, { order: 'oldest' })).ended
  assert.deepEqual(rest.added, [
    { from: 0, to: 19 },
    { from: 30, to: 49 },
  ])
  assert.deepEqual(stored(), hashes(chain))
  const missing = [...Array(20).keys(), ...Array.from({ length: 20 }, (_, i) => i + 30)]
  // Beside them the newest stored one, in case that it was reorganised.
  assert.deepEqual(
    [...askedFor(node)].sort((a, b) => a - b),
    [...missing, 59],
  )

  node.calls.length = 0
  const nothing = await start(indexJob(node)).ended
  assert.deepEqual([nothing.blocks, nothing.added], [0, []])
  assert.deepEqual([...askedFor(node)], [59])
})

test('a range that is not there', async t => {
  const { node, start } = await setUp(t, makeChain({ blocks: 10 }))
  await assert.rejects(start(indexJob(node, { to: { block: 10 } })).ended, {
    code: 'beyond_head',
    message: 'block 10 is beyond the head of the chain, which is 9: lower --to',
  })
  await assert.rejects(start(indexJob(node, { from: { block: 20 } })).ended, {
    code: 'empty_range',
    message: 'there are no blocks from 20 to 9: check --from and --to (the head is 9)',
  })
})

test('an index goes on where the chain was reorganised since the last one', async t => {
  const trunk = makeChain({ blocks: 30 })
  const { node, start, stored } = await setUp(t, trunk)
  await start(indexJob(node)).ended
  const branch = makeChain({ blocks: 10, parent: trunk[24]!, salt: 'branch' })
  node.extend(branch)
  const { added } = await start(indexJob(node)).ended
  assert.deepEqual(added, [{ from: 25, to: 34 }])
  assert.deepEqual(stored(), hashes([...trunk.slice(0, 25), ...branch]))
})

test('all that is stored up to a hole may be reorganised away', async t => {
  const trunk = makeChain({ blocks: 30 })
  const { node, start, stored, ranges } = await setUp(t, trunk)
  await start(indexJob(node, { to: { block: 9 } })).ended
  await start(indexJob(node, { from: { latest: 2 } })).ended
  assert.deepEqual(ranges(), ['0-9', '27-29'])
  const branch = makeChain({ blocks: 10, parent: trunk[19]!, salt: 'branch' })
  node.extend(branch)
  await start(indexJob(node)).ended
  assert.deepEqual(stored(), hashes([...trunk.slice(0, 20), ...branch]))
})

test('an index into a store of another branch stops', async t => {
  const { node, start, stored } = await setUp(t, makeChain({ blocks: 30 }))
  await start(indexJob(node)).ended
  const before = stored()
  node.extend(makeChain({ blocks: 40, salt: 'another' }))
  await assert.rejects(start(indexJob(node, { finality: 8 })).ended, { code: 'reorg_too_deep', next: 'stop' })
  assert.deepEqual(stored(), before)
})

test('a node of another chain is refused', async t => {
  const { node, start } = await setUp(t, makeChain({ blocks: 3 }))
  await start(indexJob(node)).ended
  const other = await startNode(t, makeChain({ blocks: 3, chainId: 10 }))
  await assert.rejects(start(indexJob(other)).ended, {
    code: 'wrong_chain',
    message:
      'the node is on chain 10, but the store of this network has chain 31337: check --rpc, --chain-id and --network, or choose another data folder',
  })
})

test('a server waits for a node of its chain, and goes on by itself', async t => {
  const chain = makeChain({ blocks: 6 })
  const { node, start, stored, lines } = await setUp(t, chain.slice(0, 3))
  await start(indexJob(node)).ended
  node.chainId = 10
  const indexing = start(followJob(node))
  await reported(indexing, ({ waiting }) => waiting?.kind === 'chain')
  assert.match(
    indexing.report().waiting!.for,
    /^a node of its chain \(http:\S+ is a node of chain 10, but this network is chain 31337: check /,
  )
  assert.equal(indexing.report().endpoints[0]!.otherChain, 10)
  assert.equal(indexing.error(), null)
  node.chainId = 31337
  node.extend(chain.slice(3))
  await reported(indexing, ({ newest, waiting }) => newest?.number === 5 && waiting === null)
  await indexing.stop()
  assert.deepEqual(stored(), hashes(chain))
  assert.equal(lines.filter(line => /gives no usable answer/.test(line)).length, 1)
})

test('another chain that appears behind the address of a node is not followed, also where both have blocks in common', async t => {
  const chain = makeChain({ blocks: 12 })
  const { node, start, stored } = await setUp(t, chain.slice(0, 10))
  const indexing = start(followJob(node))
  await reported(indexing, ({ done, total, newest }) => newest?.number === 9 && done === total)
  for (const fork of [
    makeChain({ blocks: 6, parent: chain[7]!, salt: 'other', chainId: 10 }),
    makeChain({ blocks: 15, salt: 'other', chainId: 10 }),
  ]) {
    node.chainId = 10
    node.extend(fork)
    await reported(indexing, ({ waiting }) => waiting?.kind === 'chain')
    node.chainId = 31337
    node.extend(chain.slice(0, 10))
    await reported(indexing, ({ waiting }) => waiting === null)
  }
  node.extend(chain.slice(10))
  await reported(indexing, ({ newest }) => newest?.number === 11)
  await indexing.stop()
  assert.deepEqual(stored(), hashes(chain))
})

test('the head is followed while what is below is filled, and the newest of that first', async t => {
  const chain = makeChain({ blocks: 120 })
  const { node, start, stored, ranges } = await setUp(t, chain.slice(0, 100))
  // The back-fill stands still where the node does not give old blocks.
  let open = false
  node.trouble = calls =>
    !open &&
    calls.some(it => it.method === 'eth_getBlockByNumber' && it.params[1] === true && Number(it.params[0]) < 50)
      ? { status: 503 }
      : undefined
  const indexing = start(followJob(node))
  await reported(indexing, ({ done }) => done >= 40)
  for (let i = 100; i < 120; i++) node.extend([chain[i]!])
  await reported(indexing, ({ added }) => added.at(-1)?.to === 119)
  assert.deepEqual([indexing.report().total, indexing.report().head, ranges().length], [92, 119, 1])
  assert.match(ranges()[0]!, /^\d\d-119$/)
  open = true
  await reported(indexing, ({ done, total }) => done === total)
  await indexing.stop()
  assert.deepEqual(stored(), hashes(chain))

  // Started again, it fetches what came meanwhile.
  node.extend(makeChain({ blocks: 5, parent: chain[119]! }))
  node.calls.length = 0
  const again = start(followJob(node))
  await reported(again, ({ blocks }) => blocks === 5)
  assert.deepEqual([...askedFor(node)], [120, 121, 122, 123, 124])
})

test('what lies before --from is not fetched, also where older blocks are stored', async t => {
  const chain = makeChain({ blocks: 100 })
  const { node, start, ranges } = await setUp(t, chain)
  await start(indexJob(node, { to: { block: 9 } })).ended
  const indexing = start(followJob(node, { from: { latest: 20 } }))
  await reported(indexing, ({ blocks }) => blocks === 21)
  node.extend(makeChain({ blocks: 1, parent: chain[99]! }))
  await reported(indexing, ({ blocks }) => blocks === 22)
  assert.deepEqual(ranges(), ['0-9', '79-100'])
})

test('a node that is down at the start is waited for, and its error is told', async t => {
  const { node, start, stored } = await setUp(t, makeChain({ blocks: 20 }))
  await node.stop()
  const indexing = start(followJob(node))
  await reported(indexing, ({ endpoints }) => (endpoints[0]?.lastError ?? '') !== '')
  assert.match(indexing.report().endpoints[0]!.lastError!, /ECONNREFUSED/)
  assert.equal(indexing.error(), null)
  await node.start()
  await reported(indexing, ({ blocks }) => blocks === 20)
  await indexing.stop()
  assert.equal(stored().length, 20)
})

test('a stop keeps what was finished, and ends without a fault', async t => {
  const { node, start, stored } = await setUp(t, makeChain({ blocks: 500, txs: 5 }))
  const indexing = start(indexJob(node, { order: 'oldest' }))
  await reported(indexing, ({ blocks }) => blocks > 0)
  await indexing.stop()
  const { blocks } = await indexing.ended
  assert.equal(indexing.error(), null)
  assert.equal(stored().length, blocks)
  const rest = await start(indexJob(node)).ended
  assert.equal(blocks + rest.blocks, 500)
  assert.deepEqual(stored(), hashes([...node.blocks.values()]))
})
