import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import { sourceOf } from '../support/chain-source.ts'
import { type FakeNode, fastClock, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

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
