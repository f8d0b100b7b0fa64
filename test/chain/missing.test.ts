import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isMissingBlock } from '../../src/chain/rpc/answers.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { extentOf } from '../../src/ingest/jobs/missing.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { rangeOf, sourceOf, type TestSource } from '../support/chain-source.ts'
import { type FakeNode, fastClock, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const HASH = `0x${'ab'.repeat(32)}`

test('what nodes and providers say of blocks, receipts, logs, traces and states that they do not have', () => {
  const words: [code: number, message: string][] = [
    [4444, 'pruned history unavailable'],
    [4444, 'Pruned history unavailable'],
    [-32000, 'pruned history unavailable: requested block 5, earliest available 15537393'],
    [-32000, `missing trie node ${HASH.slice(2)} (path ) state ${HASH} is not available, not found`],
    [-32000, 'header not found'],
    [-32000, 'header for hash not found'],
    [-32000, 'required historical state unavailable (reexec=128)'],
    [-32000, 'historical state not available in path scheme yet'],
    [-32000, `historical state ${HASH} is not available`],
    [-32000, 'state histories have not been fully indexed yet'],
    [-32000, 'Receipt not available for From block 14319330.'],
    [-32002, `No state available for block ${HASH}`],
    [-32001, 'World state unavailable'],
    [-32000, 'block not found 11185311'],
    [-32000, 'old data not available due to pruning: from tx: 1909646215, min tx: 3200000000'],
    [-32000, 'seek with txNum=1962853355 but data before txNum=2662500000 is not available: blockNum=16999999'],
    [-32000, `block not found: ${HASH}`],
    [-32000, 'could not find block for height 826401374464'],
    [-32000, 'requested from block 100 after last accepted block 90'],
    [-32000, 'height 5 is not available, lowest height is 1000'],
    [-32603, 'History has been pruned for this block'],
    [-32000, 'project ID does not have access to archive state'],
    [-32000, 'unknown block'],
    [
      -32000,
      'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found: block unavailable',
    ],
  ]
  for (const [code, message] of words) assert.ok(isMissingBlock({ code, message }), message)
})

test('what says nothing of a block', () => {
  const words: [code: number, message: string][] = [
    [-32000, 'went wrong'],
    [-32603, 'Internal error'],
    [-32601, 'the method eth_getBlockReceipts does not exist/is not available'],
    [-32005, 'query returned more than 10000 results'],
    [429, 'Too many requests'],
    // A contract may say anything.
    [3, 'execution reverted: header not found'],
    [-32000, 'execution reverted: block not found'],
    [-32015, 'VM execution error: missing trie node'],
  ]
  for (const [code, message] of words) assert.ok(!isMissingBlock({ code, message }), message)
})

test('a block that no node has is told at once and by its number, and the node goes on', async t => {
  const chain = makeChain({ blocks: 40 })
  const [pruned, other] = [await startNode(t, chain), await startNode(t, chain)]
  const answers = [null, new NodeError(4444, 'pruned history unavailable')]
  for (const answer of answers) {
    pruned.lie = ({ params }, result) => (Number(params[0]) < 20 ? answer : result)
    const alone = sourceOf(t, pruned, { clock: fastClock(200) })
    const read = async (source: TestSource, from: number, to: number) =>
      (await rangeOf(source, from, to, { run: 10 })).length
    await assert.rejects(read(alone, 15, 25), error => {
      assert.ok(error instanceof ChainsieveError)
      assert.deepEqual([error.code, error.details], ['block_missing', { block: 15 }])
      return true
    })
    assert.equal(await read(alone, 20, 39), 20)
    const [status] = alone.endpoints()
    assert.deepEqual([status!.errors, status!.lastError, status!.failingSince], [0, null, undefined])
    // Another one has them.
    const both = sourceOf(t, [pruned, other], { clock: fastClock(200) })
    assert.equal(await read(both, 0, 39), 40)
    assert.deepEqual(
      both.endpoints().map(it => it.errors),
      [0, 0],
    )
  }
})

test('the missing blocks around one are found, with few questions', async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const size = 1 + ((seed * 7919) % 5_000)
    const [a, b] = [(seed * 104_729) % size, (seed * 1_299_709) % size]
    const [from, to] = [Math.min(a, b), Math.max(a, b)]
    const at = from + ((seed * 31) % (to - from + 1))
    let asked = 0
    const has = async (number: number) => {
      asked++
      return number < from || number > to
    }
    assert.deepEqual(await extentOf(has, at, { from: 0, to: size - 1 }), { from, to })
    assert.ok(asked <= 56, `${asked}`)
  }
})

const chain = makeChain({ from: 0, blocks: 20 })
const ref = ({ block }: RawBlock) => ({ number: Number(block.number), hash: block.hash })
const ask = async (t: TestContext, ...nodes: FakeNode[]) => {
  const source = sourceOf(t, nodes, { clock: fastClock(50) })
  return source.finality!(AbortSignal.timeout(10_000))
}
test('the blocks that a node tells to be safe and finalized', async t => {
  const node = await startNode(t, chain)
  node.tags.set('safe', 17).set('finalized', 12)
  assert.deepEqual(await ask(t, node), { safe: ref(chain[17]!), finalized: ref(chain[12]!) })
})
test('a node that lacks a tag, in whatever words, tells null', async t => {
  const node = await startNode(t, chain)
  node.tags.set('finalized', 12)
  assert.deepEqual(await ask(t, node), { safe: null, finalized: ref(chain[12]!) })
  for (const error of [
    new NodeError(-39001, 'finalized block not found'),
    new NodeError(-32602, 'invalid argument 0: hex string without 0x prefix'),
    new NodeError(-32000, 'unknown block tag'),
  ]) {
    node.lie = ({ params }, result) => (params[0] === 'safe' || params[0] === 'finalized' ? error : result)
    assert.deepEqual(await ask(t, node), { safe: null, finalized: null }, error.message)
  }
})
test('what the first node lacks is asked of the others', async t => {
  const [first, second] = [await startNode(t, chain), await startNode(t, chain)]
  first.tags.set('finalized', 5)
  second.tags.set('safe', 9).set('finalized', 7)
  assert.deepEqual(await ask(t, first, second), { safe: ref(chain[9]!), finalized: ref(chain[5]!) })
})
test('a node that does not answer has said nothing: that is an error that passes', async t => {
  const node = await startNode(t, chain)
  node.trouble = calls => (calls.some(({ params }) => params[0] === 'safe') ? { status: 502 } : undefined)
  await assert.rejects(ask(t, node), { next: 'retry' })
})
