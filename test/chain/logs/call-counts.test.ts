import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RawBlock, RpcReceipt } from '../../../src/chain/wire.ts'
import { planQuestions } from '../../../src/scopes/filter.ts'
import { never, sourceOf } from '../../support/chain-source.ts'
import { fewestCalls, limitLogs, PROVIDERS, type Provider } from '../../support/log-providers.ts'
import { makeEvents, seeded } from '../../support/logs.ts'
import { NodeError, startNode } from '../../support/node.ts'
import { bloomOf } from '../../support/pack.ts'

const LOGS_OF_BLOCK = 50
const scale = (events: number, blocks: number) => ({
  ...makeEvents({ random: seeded(7), blocks, busy: events / LOGS_OF_BLOCK, logs: LOGS_OF_BLOCK }),
  range: { from: 0, to: blocks - 1 },
})
const full = scale(100_000, 5_000_000)
const tenth = scale(10_000, 500_000)

const find = async (t: TestContext, provider: Provider, { range, chain, filter, newest, blocksOfLogs } = tenth) => {
  const node = await startNode(t)
  const head = range.to + 1_000
  Object.assign(node, { head, chainId: 1, blocks: new Map(chain).set(head, newest(head)) })
  limitLogs(node, provider)
  const source = sourceOf(t, node)
  let logs = 0
  let at = range.from
  for await (const { from, to, blocks } of source.scoped!.find(filter, range, never)) {
    assert.equal(from, at)
    at = to + 1
    for (const { receipts } of blocks) for (const it of receipts) logs += it.logs.length
  }
  assert.equal(at, range.to + 1)
  assert.equal(logs, blocksOfLogs.length)
  assert.equal(source.endpoints()[0]!.lastError, null)
  const asked = node.calls.filter(it => it.method === 'eth_getLogs').length
  const fewest = fewestCalls(blocksOfLogs, range, provider)
  t.diagnostic(`${asked} of ${fewest}; ${node.calls.length} in all, ${node.batches.length} requests`)
  return { asked, fewest, all: node.calls.length, others: 2 * chain.size + 2 }
}

for (const [name, provider] of Object.entries(PROVIDERS)) {
  const size = name === 'infura' ? full : tenth
  test(`${size.blocksOfLogs.length} events over ${size.range.to + 1} blocks by few calls: ${name}`, async t => {
    const { asked, fewest, all, others } = await find(t, provider, size)
    assert.ok(asked <= 1.15 * fewest, `${asked} of ${fewest}`)
    // Header and receipt of each block, the chain's id and the newest block come to it.
    assert.ok(all <= 1.15 * (fewest + others), `${all} of ${fewest + others}`)
  })
}

test('where results alone are bounded, ranges grow and shrink with what is in them', async t => {
  const ofResults = () => new NodeError(-32602, 'query returned more than 1000 results')
  const { asked, fewest } = await find(t, { results: 1_000, ofResults })
  // Ten answers in all, whose events come fifty at a time.
  assert.ok(asked <= 3 * fewest, `${asked} of ${fewest}`)
})

test('contracts with the same events take the calls of one where their ranges overlap', async t => {
  const provider = PROVIDERS.infura
  const other = `0x${'ba'.repeat(20)}`
  const { range, filter, blocksOfLogs, chain, newest } = tenth
  const ofOther = blocksOfLogs.filter((_, i) => Math.floor(i / LOGS_OF_BLOCK) % 2 === 1)
  const halves = new Map(
    [...chain].map(([number, raw], i) => [number, i % 2 === 0 ? raw : emittedBy(raw, other)] as const),
  )
  const from = 100_000
  const questions = [
    { filter, ...range },
    { filter: { ...filter, addresses: [other] }, from, to: range.to },
  ]
  const node = await startNode(t)
  const head = range.to + 1_000
  Object.assign(node, { head, chainId: 1, blocks: new Map(halves).set(head, newest(head)) })
  limitLogs(node, provider)
  const source = sourceOf(t, node)
  const found: number[] = []
  for (const { filter, from, to } of planQuestions(questions))
    for await (const { blocks } of source.scoped!.find(filter, { from, to }, never))
      for (const { receipts } of blocks)
        for (const { logs } of receipts) for (const { blockNumber } of logs) found.push(Number(blockNumber))
  const ofFirst = blocksOfLogs.filter((_, i) => Math.floor(i / LOGS_OF_BLOCK) % 2 === 0)
  const wanted = [...ofFirst, ...ofOther.filter(number => number >= from)].sort((a, b) => a - b)
  assert.deepEqual(found, wanted)
  const asked = node.calls.filter(it => it.method === 'eth_getLogs').length
  const fewest = fewestCalls(wanted, range, provider)
  const apart = fewestCalls(ofFirst, range, provider) + fewestCalls(ofOther, { from, to: range.to }, provider)
  t.diagnostic(`${asked} of ${fewest}; ${apart} one by one`)
  assert.ok(asked <= 1.15 * fewest, `${asked} of ${fewest}`)
  assert.ok(asked < 0.7 * apart, `${asked}, and ${apart} one by one`)
})

/** The same block with logs of another contract. */
const emittedBy = (raw: RawBlock, address: string): RawBlock => {
  const receipts = raw.receipts.map(it => ({ ...it, logs: it.logs.map(log => ({ ...log, address })) }))
  return {
    ...raw,
    block: { ...raw.block, logsBloom: bloomOf(receipts as RpcReceipt[]) },
    receipts: receipts as RpcReceipt[],
  }
}
