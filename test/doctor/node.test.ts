import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createBudget } from '../../src/chain/budget/budget.ts'
import { openSpent } from '../../src/chain/budget/spent-file.ts'
import type { ObservedTimes } from '../../src/doctor/machine.ts'
import { checkNodes } from '../../src/doctor/node.ts'
import { spentStem } from '../../src/engine/files.ts'
import { silent } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/retry.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { NodeError, startNode } from '../support/node.ts'
import { demoBlocks } from '../support/store.ts'
import { configOf, linesOf, MAINNET, type Test, tempFolder } from './support.ts'

const CHAIN = demoBlocks().slice(0, 3)
const FIRST = String(Number(CHAIN[0]!.block.number))
const never = new AbortController().signal
const newWatch = (): ObservedTimes => ({ startedAt: Date.now(), started: performance.now(), heads: [] })

const spentAt = (data: string) => openSpent(spentStem(data, MAINNET), silent)

const look = (t: Test, flags: Record<string, string | string[]>, watch = newWatch()) =>
  linesOf(checkNodes(configOf({ data: tempFolder(t), network: MAINNET, ...flags }), watch, never))

describe('a node', { skip: anvilPath === undefined }, () => {
  test('that is well is told with what it can', async t => {
    const anvil = await startAnvil(t)
    const watch = newWatch()
    const lines = await look(t, { rpc: [anvil.url], ws: anvil.wsUrl, traces: 'calls' }, watch)
    assert.match(lines[0]!, /^ok node: chain 31337, newest block 0, \d+ s old$/)
    assert.match(
      lines[1]!,
      /^ok node: receipts of whole blocks, traces \(trace_block, debug_traceBlockByNumber\), states back to block 0$/,
    )
    assert.match(lines[2]!, /^ok node: answers within [\d.]+ ms, \d+ requests\/s$/)
    assert.equal(lines[3], 'ok node: takes a subscription to new blocks')
    assert.equal(lines.length, 4)
    assert.deepEqual(
      watch.heads.map(({ node }) => node),
      [anvil.url],
    )
  })

  test('of another chain than the one before it fails', async t => {
    const [one, other] = [await startAnvil(t), await startAnvil(t, ['--chain-id', '5'])]
    const lines = await look(t, { rpc: [one.url, other.url] })
    assert.equal(lines.at(-1), `fail node: is of chain 5, but ${one.url} is of chain 31337`)
  })
})

test('a node that is not there fails, and no secret of its URL is told', async t => {
  const planted = 'planted-key'
  const config = configOf({
    data: tempFolder(t),
    network: MAINNET,
    rpc: [`http://planted-user:planted-password@127.0.0.1:9/${planted}?key=${planted}`],
    ws: `ws://planted-user:planted-password@127.0.0.1:9/${planted}`,
  })
  const findings = []
  for await (const finding of checkNodes(config, newWatch(), never)) findings.push(finding)
  assert.deepEqual(
    findings.map(({ state }) => state),
    ['fail', 'warn'],
  )
  assert.doesNotMatch(JSON.stringify(findings), /planted/)
  assert.ok(findings.every(({ remedy }) => remedy !== undefined))
})

test('a node with less than all is told to lack it', async t => {
  const node = await startNode(t, CHAIN)
  for (const method of ['eth_getBlockReceipts', 'trace_block', 'debug_traceBlockByNumber'])
    node.missing.set(method, new NodeError(-32601, `the method ${method} does not exist`))
  node.methods.set('eth_getBalance', () => {
    throw new NodeError(-32000, 'missing trie node')
  })
  node.methods.set('eth_syncing', () => ({ currentBlock: '0x1' }))
  const first = await look(t, { rpc: [node.url], from: FIRST })
  assert.match(first.join('\n'), /^warn node: its newest block is \d+ d( \d+ h)? old$/m)
  assert.match(first.join('\n'), /^warn node: it is still syncing$/m)
  assert.match(first.join('\n'), /^warn node: receipts one by one, no traces, recent states only$/m)
  const traced = await look(t, { rpc: [node.url], from: FIRST, traces: 'all', staleAfter: '0s' })
  assert.match(traced.join('\n'), /^fail node: receipts one by one, .*; but --traces all is set$/m)
  assert.doesNotMatch(traced.join('\n'), /warn node: its newest block/)
})

test('a node that limits the rate is told', async t => {
  const node = await startNode(t, CHAIN)
  node.methods.set('eth_syncing', () => false)
  node.methods.set('eth_getBalance', () => '0x0')
  let numbers = 0
  node.trouble = calls =>
    calls.some(({ method }) => method === 'eth_blockNumber') && ++numbers > 5 ? { status: 429 } : undefined
  const lines = await look(t, { rpc: [node.url], from: FIRST })
  assert.match(lines.at(-1)!, /^warn node: refused \d+ of 40 requests at once: /)
})

test('what is asked counts beside a server, the rate is kept, and a budget that is used up is told', async t => {
  const node = await startNode(t, CHAIN)
  node.methods.set('eth_syncing', () => false)
  node.methods.set('eth_getBalance', () => '0x0')
  const data = tempFolder(t)
  const config = configOf({
    ...{ data, network: MAINNET, rpc: [node.url], from: FIRST, staleAfter: '0s' },
    ...{ rpcDaily: '100', rpcMonth: '5k', rpcRate: '60/s' },
  })
  const doctor = () => linesOf(checkNodes(config, newWatch(), never))
  const server = createBudget({ daily: 100 }, { url: node.url, clock: systemClock, spent: spentAt(data) })!
  server.charge(7)
  const first = await doctor()
  const asked = node.calls.length
  assert.equal(asked, 3 + 5 + 5 + 15)
  assert.equal(server.status().day!.used, 7 + asked)
  // The server has counted a part of a call ahead.
  assert.match(
    first.at(-1)!,
    new RegExp(`^ok node: ${92 - asked} of 100 calls left today \\(until .*T00:00Z\\), ${4992 - asked} of 5000`),
  )
  for (let i = 0; i < 3; i++) await doctor()
  const last = await doctor()
  assert.match(
    last.at(-1)!,
    /^warn node: its budget is used up, .*, so it is not looked at: \d+ of 100 calls left today/,
  )
  assert.ok(server.status().day!.used <= 90, `${server.status().day!.used}`)
  assert.equal(server.status().day!.used, 7 + node.calls.length)
})

test('what is no node fails', async t => {
  const node = await startNode(t)
  node.trouble = () => ({ garbage: '<html>' })
  assert.match((await look(t, { rpc: [node.url] })).join('\n'), /^fail node: /)
})

test('a node without the blocks that are to be indexed fails', async t => {
  const node = await startNode(t, CHAIN)
  node.blocks.delete(1)
  node.methods.set('eth_syncing', () => false)
  node.methods.set('eth_getBalance', () => '0x0')
  assert.match((await look(t, { rpc: [node.url] })).join('\n'), /^fail node: .*; it does not have block 1$/m)
  assert.doesNotMatch((await look(t, { rpc: [node.url], from: 'latest-0' })).join('\n'), /does not have/)
})

test('without a node there is a warning', async t => {
  const config = configOf({ data: tempFolder(t) })
  assert.deepEqual(await linesOf(checkNodes(config, newWatch(), never)), [
    'warn node: none is configured: what is stored is served, and no block is added',
  ])
})
