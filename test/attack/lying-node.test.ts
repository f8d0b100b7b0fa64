import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Mutation, randomMutations } from '../../scripts/attack/mutate-block.ts'
import { createRandom } from '../../scripts/lib/random.ts'
import { createRpcSource } from '../../src/chain/rpc-source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { type FakeNode, fastClock, startNode } from '../support/node.ts'
import { fullBlock } from '../support/rich.ts'

const NUMBER = 5
const asked = (node: FakeNode) =>
  node.calls.filter(({ method, params }) => method === 'eth_getBlockByNumber' && Number(params[0]) === NUMBER).length

test('of a node that lies in one member the honest second node is asked at once', async t => {
  const honest = fullBlock()
  const told = JSON.parse(JSON.stringify(honest)) as RawBlock
  const [liar, other] = [await startNode(t, [honest]), await startNode(t, [honest])]
  let mutation: Mutation<RawBlock> | undefined
  for (const node of [liar, other])
    node.methods.set('trace_block', ([number]) => (Number(number) === NUMBER ? honest.traces : []))
  liar.lie = ({ method, params }, result) => {
    if (mutation === undefined || Number(params[0]) !== NUMBER) return result
    const { block, receipts, traces } = mutation.raw
    return method === 'eth_getBlockByNumber' ? block : method === 'eth_getBlockReceipts' ? receipts : traces
  }
  const random = createRandom()
  random.seek(7, 0, 0, 0)
  let refused = 0
  for (mutation of randomMutations(honest, () => random.unit(), 200)) {
    if (mutation.path === 'chainId') continue
    const what = `${mutation.path}: ${mutation.what}`
    for (const node of [liar, other]) node.calls.length = 0
    const source = createRpcSource({ urls: [liar.url, other.url], traces: 'all', clock: fastClock(50) })
    const blocks: RawBlock[] = []
    const range = { from: NUMBER, to: NUMBER, order: 'oldest' as const, run: 1, signal: AbortSignal.timeout(10_000) }
    for await (const run of source.range(range)) blocks.push(...run)
    await source.close()
    assert.ok(asked(liar) + asked(other) <= 2, what)
    if (asked(other) === 0) continue
    refused++
    assert.deepEqual(blocks, [told], what)
  }
  assert.ok(refused > 120, `${refused}`)
})
