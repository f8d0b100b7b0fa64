import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRpcSource } from '../../src/chain/rpc-source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { type FakeNode, fastClock, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

/** Numbers from 0 to 1 by a seed (mulberry32). */
const createRandom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

/** A seed that ever failed is kept here. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8]
const FINALITY = 12
const STEPS = 60

let rollbacks = 0

for (const seed of SEEDS) {
  test(`two nodes that reorganise, lag, lie, fail and go away: seed ${seed}`, async t => {
    const random = createRandom(seed)
    const below = (bound: number) => Math.floor(random() * bound)
    const chance = (share: number) => random() < share
    let truth = makeChain({ blocks: 20, txs: 1, logs: 1 })
    const nodes = [await startNode(t, truth), await startNode(t, truth)]
    const other = makeChain({ blocks: 400, txs: 1, logs: 1, salt: 'other' })

    let lying = 0.1
    for (const node of nodes) {
      node.lie = ({ method, params }, result) => {
        if (!chance(lying)) return result
        // Nothing tells a wrong parent of the first block from a right one.
        const fork = params[0] === '0x0' ? undefined : other[Number(params[0])]
        switch (below(5)) {
          case 0:
            return method === 'eth_chainId' ? result : null
          case 1:
            return new NodeError(-32000, 'header not found')
          case 2:
            return method === 'eth_getBlockReceipts' ? (fork?.receipts ?? null) : result
          case 3:
            return method === 'eth_getBlockReceipts' ? [] : result
          default:
            if (method === 'eth_getBlockByNumber' && result !== null && fork !== undefined) {
              Object.assign(result as object, { parentHash: fork.block.parentHash })
            }
            return result
        }
      }
      node.trouble = () => {
        if (!chance(lying)) return undefined
        switch (below(4)) {
          case 0:
            return { status: 500 }
          case 1:
            return { status: 429, headers: { 'retry-after': '0.2' } }
          case 2:
            return 'reset'
          default:
            return 'hang'
        }
      }
    }

    const source = createRpcSource({
      urls: nodes.map(it => it.url),
      ...(seed % 2 === 0 && { wsUrl: nodes[0]!.wsUrl }),
      clock: fastClock(100),
      timeoutMs: 30,
      batch: 6,
    })
    t.after(() => source.close())
    const controller = new AbortController()
    const held: RawBlock[] = []
    const refOf = (raw: RawBlock | undefined) => raw && { number: Number(raw.block.number), hash: raw.block.hash }
    const following = (async () => {
      const events = source.follow({
        from: 0,
        tip: undefined,
        stored: number => refOf(held[number]),
        finality: FINALITY,
        signal: controller.signal,
      })
      for await (const event of events) {
        if (event.type === 'rollback') {
          assert.ok(event.to < held.length - 1, `rolled back from ${held.length - 1} to ${event.to}`)
          assert.ok(held.length - 1 - event.to <= FINALITY)
          held.length = event.to + 1
          rollbacks++
        } else {
          assert.equal(Number(event.block.block.number), held.length)
          if (held.length > 0) assert.equal(event.block.block.parentHash, held.at(-1)!.block.hash)
          held.push(event.block)
        }
      }
    })()
    following.catch(() => {})
    t.after(() => controller.abort())

    const sync = (node: FakeNode, lag = 0) => {
      node.extend(truth)
      node.head -= lag
    }
    for (let step = 0; step < STEPS; step++) {
      const tip = truth.at(-1)!
      if (chance(0.25)) {
        // Not below what is held less finality: such a chain may stop, and rightly.
        const lowest = Math.max(1, Math.max(truth.length, held.length) - FINALITY)
        const depth = below(Math.min(6, truth.length - lowest)) + 1
        const parent = truth.at(-1 - depth)!
        truth = [
          ...truth.slice(0, -depth),
          ...makeChain({ parent, blocks: depth + below(3), txs: 1, logs: 1, salt: `${step}` }),
        ]
      } else truth = [...truth, ...makeChain({ parent: tip, blocks: 1 + below(3), txs: 1, logs: 1, salt: `${step}` })]
      for (const node of nodes) if (chance(0.7)) sync(node, chance(0.2) ? below(4) : 0)
      if (chance(0.5)) nodes[0]!.announce()
      if (chance(0.05)) nodes[0]!.dropSubscribers()
      if (chance(0.05)) {
        await nodes[1]!.stop()
        await nodes[1]!.start()
      }
      await Promise.race([new Promise(resolve => setTimeout(resolve, below(15))), following])
    }

    lying = 0
    truth = [...truth, ...makeChain({ parent: truth.at(-1)!, blocks: 1, txs: 1, logs: 1, salt: 'last' })]
    for (const node of nodes) sync(node)
    const end = Date.now() + 120_000
    while (held.at(-1)?.block.hash !== truth.at(-1)!.block.hash) {
      assert.ok(
        Date.now() < end,
        `held ${held.length - 1} of ${truth.length - 1}; ${JSON.stringify(source.endpoints())}`,
      )
      await Promise.race([new Promise(resolve => setTimeout(resolve, 5)), following])
    }
    assert.deepEqual(held, truth)
    controller.abort()
    await assert.rejects(following, { name: 'AbortError' })
  })
}

// Of one seed, where the machine is busy, every block may come too late to be rolled back.
test('the simulations rolled back', () => {
  assert.ok(rollbacks > 0)
})
