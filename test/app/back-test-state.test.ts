import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../scripts/demo/random.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { readScans } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { simulate } from '../../src/app/simulate.ts'
import type { ReadStateAt } from '../../src/chain/source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { storeFile } from '../../src/engine/files.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { NO_LISTS } from '../../src/rules/lower.ts'
import type { RuleConfig, RuleInput } from '../../src/rules/rule.ts'
import type { RuleSimulation, SimulatedRange } from '../../src/rules/search.ts'
import { openRules } from '../../src/rules/store.ts'
import { createPool } from '../../src/search/pool.ts'
import { dataFolder } from '../support/delivery.ts'
import { followJob, indexIn, NETWORK, readStore, reported } from '../support/indexing.ts'
import { type FakeNode, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const A = `0x${'aa'.repeat(20)}`
const B = `0x${'bb'.repeat(20)}`
const FEED = `0x${'cc'.repeat(20)}`
const LENGTH = 60
const MILLI = 10n ** 15n

const low = { targetMap: [{ name: 'value.coin', operator: 'Less', value: '0.5' }] }
const price = 'function price() view returns (uint256 price)'
const CONFIGS: Readonly<Record<string, object>> = {
  'each reading': { ...low, read: { balances: [A], every: { blocks: 1 } } },
  'each third that changed': {
    targetMap: [{ name: 'changed', operator: 'Equals', value: 'true' }],
    read: { balances: [A, B], every: { blocks: 3 } },
  },
  errors: {
    targetMap: [{ name: 'error', operator: 'Greater', value: '' }],
    read: { address: FEED, call: price, every: { blocks: 1 } },
  },
  episodes: { ...low, read: { balances: [A, B], every: { blocks: 2 } }, when: { by: ['address'] } },
  'held, with another end': {
    ...{ ...low, read: { balances: [A, B], every: { blocks: 3 } } },
    when: {
      ...{ by: ['address'], hold: { blocks: 4 } },
      resolve: [{ name: 'value.coin', operator: 'Greater or Equal', value: '0.7' }],
    },
  },
  'held for a time, with errors between': {
    targetMap: [{ name: 'result.price', operator: 'Less', value: '500' }],
    read: { address: FEED, call: price, every: { blocks: 1 } },
    when: { hold: { seconds: 30 } },
  },
}

const ruleOf = (config: object): RuleInput => {
  const [technology, blockchain, network] = NETWORK.split('/')
  const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }]
  return {
    ...{ name: 'state', maxConfirmationCount: 0, technology, blockchain, network },
    config: { targetType: 'State', alerts, ...config } as unknown as RuleConfig,
  } as RuleInput
}

/** A node with a state of its own at each block; `kept`: the oldest that it has. */
const serveState = (node: FakeNode, chain: readonly RawBlock[], seed: number) => {
  const random = createRandom(seed)
  const amounts = chain.map(() => [A, B, FEED].map(() => (random.chance(0.2) ? 0 : random.int(300, 800))))
  const state = { kept: 0, asked: [] as number[] }
  const blockOf = (at: unknown): number => {
    const { blockHash, requireCanonical } = at as { blockHash: string; requireCanonical: boolean }
    assert.equal(requireCanonical, true)
    const number = chain.findIndex(({ block }) => block.hash === blockHash)
    state.asked.push(number)
    if (number < state.kept) throw new NodeError(-32000, `missing trie node 12ab (path ) state 0x34 is not available`)
    return number
  }
  node.methods.set('eth_getBalance', ([address, at]) => {
    const amount = amounts[blockOf(at)]![[A, B].indexOf(String(address))]!
    return `0x${(BigInt(amount) * MILLI).toString(16)}`
  })
  node.methods.set('eth_call', params => {
    const [{ to }, at] = params as [{ to: string }, unknown]
    if (to !== FEED) return '0x'
    const amount = amounts[blockOf(at)]![2]!
    if (amount === 0) throw new NodeError(3, 'execution reverted: no price')
    return `0x${amount.toString(16).padStart(64, '0')}`
  })
  return state
}

const scene = async (t: TestContext, seed: number, configs: readonly object[] = []) => {
  const data = await dataFolder(t)
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  accounts.close()
  const rules = openRules(data)
  t.after(rules.close)
  const ids = configs.map(config => rules.create(1, ruleOf(config), 0).id)
  const chain = makeChain({ blocks: LENGTH, txs: 0, logs: 0 })
  const node = await startNode(t, chain)
  const state = serveState(node, chain, seed)
  const indexing = indexIn(t, data, followJob(node, { from: { block: 0 }, finality: 4, node: { pollMs: 5 } }))
  await reported(indexing, ({ blocks }) => blocks === LENGTH)
  const store = storeFile(data, NETWORK)
  const stores = new Map([[NETWORK, store]])
  const pool = createPool({ stores: () => stores, threads: 1, deadlineMs: 60_000, limits: DEFAULT_LIMITS })
  t.after(() => pool.close())
  const run = (
    config: object,
    range: SimulatedRange = {},
    {
      limits = DEFAULT_LIMITS,
      deadlineMs = 60_000,
      read = indexing.pastStateAt!,
      signal = new AbortController().signal,
    }: {
      limits?: Limits
      deadlineMs?: number
      read?: ReadStateAt | string
      signal?: AbortSignal
    } = {},
  ): Promise<RuleSimulation> =>
    simulate(
      {
        pool: { ranges: pool.ranges, request: pool.request, deadlineMs },
        ...{ networks: () => [NETWORK], lists: NO_LISTS, limits, pastState: () => read },
      },
      ruleOf(config),
      range,
      { account: 1, signal },
    )
  return { chain, node, state, indexing, store, ids, run }
}

for (const seed of [1, 2, 3])
  test(`a back-test of state finds what live readings of the same blocks have made, seed ${seed}`, {
    timeout: 120_000,
  }, async t => {
    const { store, ids, run } = await scene(t, seed, Object.values(CONFIGS))
    const lastOf = ids.map((_, i) => {
      const every = (Object.values(CONFIGS)[i] as Pick<RuleConfig, 'read'>).read!.every.blocks
      return Math.floor((LENGTH - 1) / every) * every
    })
    const isRead = () => {
      const scans = readStore(store, readScans)
      return ids.every((id, i) => (scans.get(id)?.next ?? 0) > lastOf[i]!)
    }
    while (!isRead()) await sleep(20)
    const outbox = openOutbox(store)
    t.after(() => outbox.close())
    for (const [i, [name, config]] of Object.entries(CONFIGS).entries()) {
      const live = outbox.alerts(ids[i]!, { size: 1_000 }).map(({ alert }) => alert)
      assert.ok(live.length > 0, name)
      const found = await run(config, { fromBlock: 0, size: 1_000, buckets: 5 })
      assert.equal(found.alerts, live.length, name)
      assert.equal(found.messages![0]!.messages, live.length)
      assert.equal(
        found.series!.buckets.reduce((sum, { count }) => sum + count, 0),
        found.total,
      )
      const shown = found.windows
        ? found.windows.episodes.map(({ key, opened, ended }) => [opened.block, ended?.block, key])
        : (found.hits as { _id: string }[]).map(({ _id }) => _id)
      const wanted = live.map(({ block, entity, when }) => (when ? [block, when.ended?.block, when.key] : entity._id))
      assert.deepEqual(shown.map(it => JSON.stringify(it)).sort(), wanted.map(it => JSON.stringify(it)).sort(), name)
      if (!found.windows)
        assert.deepEqual(
          JSON.parse(JSON.stringify(found.hits)).map(({ _source }: { _source: unknown }) => _source),
          live.map(({ source }) => JSON.parse(source)),
        )
    }
  })

const EACH = { ...low, read: { balances: [A], every: { blocks: 1 } } }
const reasonOf = (asked: Promise<unknown>) =>
  asked.then(
    () => assert.fail('it was answered'),
    (error: { code?: string; message: string }) => [error.code, error.message],
  )

test('before all others the oldest block is read, and a node without its state is told by what it lacks', async t => {
  const { state, indexing, run } = await scene(t, 4)
  state.kept = 40
  state.asked.length = 0
  const [code, reason] = await reasonOf(run(EACH, { fromBlock: 30 }))
  assert.equal(code, 'illegal_argument_exception')
  assert.match(
    reason!,
    /^No node of ethereum\/test\/net has the state of block 30 \(.*missing trie node.*\)\. A back-test of state needs an archive node.* or take newer blocks\.$/,
  )
  assert.deepEqual([...new Set(state.asked)], [30])
  // That is no failure of the node, by which the head would avoid it.
  assert.deepEqual(
    indexing.report().endpoints.map(({ lastError, failingSince }) => [lastError, failingSince]),
    [[null, undefined]],
  )
  // What is there is read, without what was before it.
  const found = await run(
    { ...EACH, targetMap: [{ name: 'blockNumber', operator: 'Greater', value: '0' }] },
    { fromBlock: 40, size: 100 },
  )
  assert.equal(found.total, 20)
  const previous = (found.hits as { _source: { previous: unknown } }[]).map(({ _source }) => _source.previous !== null)
  assert.deepEqual(previous, [...Array(19).fill(true), false])
})

test('a value that only equals its bound is no match', async t => {
  const { chain, node, run } = await scene(t, 5)
  let amount = MILLI * 500n
  node.methods.set('eth_getBalance', ([, at]) =>
    (at as { blockHash: string }).blockHash === chain[50]!.block.hash
      ? `0x${amount.toString(16)}`
      : `0x${(MILLI * 900n).toString(16)}`,
  )
  assert.equal((await run(EACH, { fromBlock: 45 })).total, 0)
  amount--
  assert.deepEqual((await run(EACH, { fromBlock: 45 })).hits.length, 1)
})

test('without blocks, a hundred are read; more readings than the limit are refused, and none is told', async t => {
  const { state, run } = await scene(t, 6)
  const limits = { ...DEFAULT_LIMITS, simulatedReadings: 20 }
  const both = { ...EACH, read: { balances: [A, B], every: { blocks: 2 } } }
  assert.deepEqual([(await run(both)).fromBlock, (await run(both, {}, { limits })).fromBlock], [0, 40])
  state.asked.length = 0
  assert.deepEqual(await reasonOf(run(both, { lastBlocks: 60 }, { limits })), [
    'illegal_argument_exception',
    'A simulation that asks for 60 has more than 20 readings. Take fewer blocks, or a larger every.blocks: each balance or call counts at each block that is read. The operator can raise this with --limit simulatedReadings=N.',
  ])
  assert.deepEqual(state.asked, [])
  const none = await run({ ...EACH, read: { balances: [A], every: { blocks: 50 } } }, { fromBlock: 1, toBlock: 49 })
  assert.deepEqual(
    [none.total, none.alerts, none.warnings],
    [0, 0, ['No stored block of the range is divisible by every.blocks: nothing was read.']],
  )
  assert.deepEqual(await reasonOf(run(EACH, {}, { read: 'There is no node.' })), [
    'illegal_argument_exception',
    'There is no node.',
  ])
})

test('a node that hangs ends with the time of a query, a client that leaves ends the reading, and a node that fails is named', async t => {
  const { node, run, indexing } = await scene(t, 7)
  node.trouble = calls => (calls.some(({ method }) => method === 'eth_getBalance') ? 'hang' : undefined)
  assert.deepEqual(await reasonOf(run(EACH, {}, { deadlineMs: 300 })), [
    'search_timeout_exception',
    'the state of 0 of 60 blocks was read before query-deadline passed: take fewer blocks, or raise it. The node may be slow, or its budget used up for now.',
  ])
  const leaving = new AbortController()
  const asked = run(EACH, {}, { signal: leaving.signal })
  setTimeout(() => leaving.abort(new Error('left')), 100)
  assert.deepEqual(await reasonOf(asked), [undefined, 'left'])
  node.trouble = () => undefined
  const before = node.calls.length
  await sleep(300)
  assert.equal(node.calls.slice(before).filter(({ method }) => method === 'eth_getBalance').length, 0)
  node.methods.set('eth_getBalance', () => {
    throw new NodeError(-32603, 'something broke')
  })
  const [code, reason] = await reasonOf(run(EACH, { lastBlocks: 3 }))
  assert.equal(code, 'node_error')
  assert.match(reason!, /^The state of block 57 was not read: .*something broke/)
  await indexing.stop()
  assert.equal((await reasonOf(run(EACH)))[0], 'node_unreachable')
})

test('answers that are too much together are refused', async t => {
  const { node, run } = await scene(t, 8)
  node.methods.set('eth_call', () => `0x${'ab'.repeat(120_000)}`)
  const read = { address: FEED, call: price, every: { blocks: 1 } }
  assert.deepEqual(await reasonOf(run({ ...EACH, read })), [
    'content_too_large_exception',
    'The answers to the first 34 of 60 blocks have more than 8 MB: take fewer blocks.',
  ])
})
