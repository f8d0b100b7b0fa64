import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RpcLog } from '../../../src/chain/wire.ts'
import type { Scoping } from '../../../src/config/scopes.ts'
import { verifyContents } from '../../../src/engine/verify.ts'
import { folderToIndex, indexIn, indexJob } from '../../support/indexing.ts'
import { type FakeNode, startNode } from '../../support/node.ts'
import { makeChain } from '../../support/pack.ts'
import { setUpScopes } from '../../support/scope-following.ts'
import {
  assertAskedOnce,
  blockOf,
  expectedOf,
  fits,
  holdingsIn,
  random,
  scoping,
  serveLogs,
  unevenChain,
} from '../../support/scoped.ts'

const setUp = async (t: TestContext, seed: number, count = 70) => {
  const below = random(seed)
  const chain = unevenChain(count, below)
  const { node, store, asked, index: indexOrdered } = await setUpScopes(t, chain)
  const index = (wanted: Scoping | undefined, range: { from?: number; to?: number } = {}) =>
    indexOrdered(wanted, { ...range, order: below(2) === 0 ? 'newest' : 'oldest' })
  return { chain, node, store, asked, index, below }
}

const addressesOf = (node: FakeNode): string[] =>
  [
    ...new Set(
      [...node.blocks.values()].flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs.map(log => log.address))),
    ),
  ].sort()

test('scopes that are widened in any order store what they want and nothing else', async t => {
  const { chain, node, store, asked, index, below } = await setUp(t, 5)
  const first = Number(chain[0]!.block.number)
  const settled = chain.slice(0, -1)
  const last = Number(settled.at(-1)!.block.number)
  const addresses = addressesOf(node)
  const topics = [
    ...new Set(
      chain.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs.flatMap(log => log.topics.slice(0, 1)))),
    ),
  ]
  const wanted: ((log: RpcLog) => boolean)[] = []
  const whole = new Set<number>()
  for (let step = 0; step < 6; step++) {
    if (step === 3) {
      const from = first + 20
      for (let number = from; number <= from + 20; number++) whole.add(number)
      await index(undefined, { from, to: from + 20 })
    } else {
      const chosen = addresses.filter(() => below(3) === 0)
      const events = below(2) === 0 ? topics : []
      if (chosen.length + events.length === 0) chosen.push(addresses[0]!)
      const from = below(2) === 0 ? 0 : first + below(40)
      const to = below(2) === 0 ? last : from + below(50)
      const filter = { addresses: chosen, topics: events }
      wanted.push(log => fits(log, filter) && Number(log.blockNumber) >= from && Number(log.blockNumber) <= to)
      await index(scoping([{ ...filter, from: { block: from }, to: { block: to } }]))
    }
    const expected = expectedOf(
      settled,
      log => wanted.some(isWanted => isWanted(log)),
      number => whole.has(number),
    )
    assert.deepEqual(holdingsIn(store), expected)
  }
  assertAskedOnce(asked)
  const verifying = verifyContents(store, true)
  let next = verifying.next()
  while (!next.done) next = verifying.next()
  assert.deepEqual(next.value, [])
})

test('a widened scope passes over stored blocks whose headers rule out what is new', async t => {
  const log = (address: string) => ({ address: address as `0x${string}`, topics: [], data: '0x' as const })
  const [old, fresh] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
  const chain = makeChain({ blocks: 1, from: 0, txs: 0 })
  for (let i = 1; i <= 60; i++) chain.push(blockOf(chain.at(-1)!, i % 25 === 0 ? [log(old), log(fresh)] : [log(old)]))
  const { data, store } = await folderToIndex(t)
  const node = await startNode(t, chain)
  const asked = serveLogs(node, 5)
  const index = (...addresses: string[]) => {
    const wanted = scoping([{ addresses, from: { block: 1 } }])
    return indexIn(t, data, indexJob(node, { order: 'oldest', finality: 1, scoping: wanted })).ended
  }
  await index(old)
  const before = asked.length
  await index(old, fresh)
  assert.deepEqual(
    asked.slice(before).map(({ from }) => from),
    [25, 50],
  )
  assert.deepEqual(
    holdingsIn(store),
    expectedOf(chain.slice(0, -1), ({ address }) => address === old || address === fresh),
  )
})

test('what is still looked for is reported while it is, and no more when it is done', async t => {
  const { chain, node, asked } = await setUp(t, 7)
  const { data } = await folderToIndex(t)
  const [address] = addressesOf(node) as [string]
  node.trouble = async () => (asked.length > 0 ? 'hang' : undefined)
  const range = { from: Number(chain[0]!.block.number), to: Number(chain.at(-2)!.block.number) }
  let seen: unknown
  const wanted = scoping([{ addresses: [address], from: { block: range.from } }])
  const job = indexJob(node, { node: { timeoutMs: 400 }, order: 'oldest', finality: 1, scoping: wanted })
  const indexing = indexIn(t, data, job, {
    onReport({ filling }) {
      if (!filling || seen) return
      seen = filling
      node.trouble = () => undefined
    },
  })
  const { report } = await indexing.ended.then(() => ({ report: indexing.report() }))
  const { next } = seen as { next: number }
  assert.deepEqual(seen, { addresses: [address], addressCount: 1, topics: [], topicCount: 0, ...range, next })
  assert.equal(report.filling, null)
})
