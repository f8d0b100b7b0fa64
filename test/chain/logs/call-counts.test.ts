import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRpcSource } from '../../../src/chain/rpc-source.ts'
import { fewestCalls, limitLogs, PROVIDERS, type Provider } from '../../support/log-providers.ts'
import { makeEvents, seeded } from '../../support/logs.ts'
import { fastClock, NodeError, startNode } from '../../support/node.ts'

const never = new AbortController().signal
const RANGE = { from: 0, to: 4_999_999 }
const LOGS_OF_BLOCK = Number(process.env.LOGS_OF_BLOCK ?? 50)
const EVENTS = 100_000
const events = makeEvents({
  random: seeded(7),
  blocks: RANGE.to + 1,
  busy: EVENTS / LOGS_OF_BLOCK,
  logs: LOGS_OF_BLOCK,
})

const find = async (t: TestContext, provider: Provider) => {
  const node = await startNode(t)
  Object.assign(node, { blocks: events.chain, head: RANGE.to + 1_000, chainId: 1 })
  node.blocks = new Map(events.chain).set(node.head, { ...events.newest(node.head) })
  limitLogs(node, provider)
  const source = createRpcSource({ urls: [node.url], clock: fastClock() })
  t.after(() => source.close())
  let logs = 0
  let at = RANGE.from
  for await (const { from, to, blocks } of source.scoped!.find(events.filter, RANGE, never)) {
    assert.equal(from, at)
    at = to + 1
    for (const { receipts } of blocks) for (const it of receipts) logs += it.logs.length
  }
  assert.equal(at, RANGE.to + 1)
  assert.equal(logs, EVENTS)
  const count = (name: string) => node.calls.filter(it => it.method === name).length
  const fewest = fewestCalls(events.blocksOfLogs, RANGE, provider)
  const asked = count('eth_getLogs')
  t.diagnostic(`${asked} of ${fewest}; ${node.calls.length} in all, ${node.batches.length} requests`)
  return { asked, fewest, all: node.calls.length, errors: source.endpoints()[0]!.lastError }
}

for (const [name, provider] of Object.entries(PROVIDERS)) {
  test(`${EVENTS} events over 5 million blocks by few calls: ${name}`, async t => {
    const { asked, fewest, all, errors } = await find(t, provider)
    assert.ok(asked <= 1.15 * fewest, `${asked} of ${fewest}`)
    // Header and receipt of each block, the chain's id and the newest block come to it.
    const others = 2 * events.chain.size + 2
    assert.ok(all <= 1.15 * (fewest + others), `${all} of ${fewest + others}`)
    assert.equal(errors, null)
  })
}

test('where results alone are bounded, ranges grow and shrink with what is in them', async t => {
  const ofResults = () => new NodeError(-32602, 'query returned more than 10000 results')
  const { asked, fewest } = await find(t, { results: 10_000, ofResults })
  assert.ok(asked <= 2 * fewest, `${asked} of ${fewest}`)
})
