import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRpcSource } from '../../../src/chain/rpc-source.ts'
import type { LogFilter } from '../../../src/chain/source.ts'
import type { RawBlock, RpcLog } from '../../../src/chain/wire.ts'
import { limitLogs, type Provider } from '../../support/log-providers.ts'
import { makeSparseChain, seeded, wantedOf } from '../../support/logs.ts'
import { fastClock, NodeError, startNode } from '../../support/node.ts'

/** A seed that ever failed is kept here. */
const SEEDS = [1, 3, 10, 11, 50, 104]

for (const seed of SEEDS) {
  test(`two nodes that bound, fail, lie and lag give all that is wanted: seed ${seed}`, async t => {
    const random = seeded(seed)
    const below = (bound: number) => Math.floor(random() * bound)
    const chance = (share: number) => random() < share
    const blocks = 150 + below(150)
    const chain = makeSparseChain(random, blocks, 0.05 + random() * 0.5)
    const other = makeSparseChain(seeded(seed + 100), blocks, 0.5, 'other')
    const seen = chain.flatMap(it => it.receipts.flatMap(({ logs }) => logs))
    const pick = (values: string[]) => [...new Set(values)].filter(() => chance(0.4)).sort()
    const filter: LogFilter = {
      addresses: chance(0.8) ? pick(seen.map(it => it.address)) : [],
      topics: chance(0.4) ? pick(seen.flatMap(it => it.topics.slice(0, 1))) : [],
    }

    const verifyLogs = seed % 2 === 0
    const nodes = [await startNode(t, chain), await startNode(t, chain)]
    for (const node of nodes) {
      const provider: Provider = {
        ...(chance(0.7) && { blocks: 1 + below(60) }),
        ...(chance(0.7) && { results: 1 + below(40) }),
        ...(chance(0.3) && { addresses: 1 + below(3) }),
        ...(chance(0.3) && { status: 400 }),
        ofBlocks: () =>
          new NodeError(-32005, chance(0.5) ? `limited to a ${provider.blocks} range` : 'Block range is too large'),
        ofResults: ({ from, fits }) =>
          new NodeError(
            -32602,
            chance(0.5)
              ? `query exceeds max results ${provider.results}, retry with the range ${from}-${fits}`
              : 'query returned more results than it may: too many results',
          ),
        ofAddresses: () => new NodeError(-32000, 'specify less number of addresses'),
      }
      limitLogs(node, provider)
      const ofLimits = node.trouble
      node.trouble = async calls => {
        if (chance(0.04)) return { status: 429, ...(chance(0.5) && { headers: { 'retry-after': '1' } }) }
        if (chance(0.03)) return 'reset'
        if (chance(0.03)) return { garbage: '{"jsonrpc":"2.0","id":1,"result":[{' }
        return ofLimits(calls)
      }
      node.lie = ({ method, params }, result) => {
        // What one node alone leaves out shows only where another one is asked, too.
        if (verifyLogs && node === nodes[0] && method === 'eth_getLogs' && chance(0.3))
          return (result as RpcLog[]).filter(() => chance(0.7))
        if (!chance(0.05) || method === 'eth_chainId') return result
        const fork = other[Number(params[0])] as RawBlock | undefined
        switch (below(5)) {
          case 0:
            return new NodeError(-32603, 'internal error')
          case 1:
            return method === 'eth_getBlockByNumber' ? (params[1] === true ? (fork?.block ?? null) : result) : null
          case 2:
            return method === 'eth_getBlockReceipts' ? (fork?.receipts ?? []) : result
          case 3:
            return method === 'eth_getLogs' ? [...(result as RpcLog[]), ...(result as RpcLog[])].slice(1) : result
          default:
            return (method === 'eth_getLogs' && anyOf(other[below(blocks)]!)) || result
        }
      }
    }

    const source = createRpcSource({
      urls: nodes.map(it => it.url),
      clock: fastClock(1_000),
      timeoutMs: 5_000,
      batch: 1 + below(20),
      verifyLogs,
    })
    t.after(() => source.close())
    const [from, to] = [below(20), blocks - 1 - below(20)]
    const found: RawBlock[] = []
    let at = from
    for await (const part of source.scoped!.find(filter, { from, to }, AbortSignal.timeout(30_000))) {
      assert.equal(part.from, at)
      at = part.to + 1
      found.push(...part.blocks)
    }
    assert.equal(at, to + 1)
    assert.deepEqual(
      found,
      chain.slice(from, to + 1).flatMap(it => wantedOf(it, [filter]) ?? []),
    )
  })
}

/** Logs of a block, if it has any: nothing tells an empty answer from one that is right. */
const anyOf = ({ receipts }: RawBlock): RpcLog[] | undefined => {
  const logs = receipts.flatMap(it => it.logs)
  return logs.length > 0 ? logs : undefined
}
