import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRpcSource, type RpcSourceOptions } from '../../../src/chain/rpc-source.ts'
import type { LogFilter } from '../../../src/chain/source.ts'
import type { RawBlock, RpcBlock, RpcLog, RpcReceipt } from '../../../src/chain/wire.ts'
import { never, sourceOf as testSource } from '../../support/chain-source.ts'
import { limitLogs } from '../../support/log-providers.ts'
import { logsOf, makeSparseChain, seeded, wantedOf } from '../../support/logs.ts'
import { type FakeNode, fastClock, firstTimes, NodeError, startNode, type Trouble } from '../../support/node.ts'
import { hex, makeChain } from '../../support/pack.ts'

const chain = makeSparseChain(seeded(11), 400, 0.2)
const [token0, token1, token2] = makeChain({ blocks: 1, txs: 1, logs: 3 })[0]!.receipts[0]!.logs.map(it => it.address)
const event = makeChain({ blocks: 1, txs: 1, logs: 2 })[0]!.receipts[0]!.logs[1]!.topics[0]!
const some: LogFilter = { addresses: [token1!, token2!].sort(), topics: [] }

const sourceOf = (t: TestContext, nodes: FakeNode[], options: Partial<RpcSourceOptions> = {}) =>
  testSource(t, nodes, { clock: fastClock(100), timeoutMs: 5_000, ...options })

const findAll = async (source: ReturnType<typeof sourceOf>, filter = some, from = 0, to = chain.length - 1) => {
  const found: RawBlock[] = []
  let at = from
  for await (const part of source.scoped!.find(filter, { from, to }, never)) {
    assert.equal(part.from, at)
    for (const { block } of part.blocks) assert.ok(Number(block.number) >= at && Number(block.number) <= part.to)
    at = part.to + 1
    found.push(...part.blocks)
  }
  assert.equal(at, to + 1)
  return found
}

const due = (filter = some, from = 0, to = chain.length - 1) =>
  chain.slice(from, to + 1).flatMap(it => wantedOf(it, [filter]) ?? [])

test('what fits a filter is found with its header, transactions and receipts, and nothing else', async t => {
  const node = await startNode(t, chain)
  const source = sourceOf(t, [node])
  const filters: LogFilter[] = [
    some,
    { addresses: [token0!], topics: [] },
    { addresses: [], topics: [event] },
    { addresses: [token1!], topics: [event] },
    { addresses: [`0x${'00'.repeat(20)}`], topics: [] },
    { addresses: [], topics: [] },
  ]
  for (const filter of filters) assert.deepEqual(await findAll(source, filter), due(filter))
  assert.deepEqual(await findAll(source, some, 37, 38), due(some, 37, 38))
  assert.deepEqual(due({ addresses: [`0x${'00'.repeat(20)}`], topics: [] }), [])
  assert.ok(due().length > 20)
  assert.equal(source.endpoints()[0]!.lastError, null)
})

test('blocks that headers at hand rule out are not asked for, where that saves calls', async t => {
  const asked = async (
    filter: LogFilter,
    has: (number: number) => boolean,
    options: Partial<RpcSourceOptions> = {},
  ) => {
    const node = await startNode(t, chain)
    limitLogs(node, { blocks: 10, ofBlocks: () => new NodeError(-32602, 'query exceeds max block range 10') })
    const source = sourceOf(t, [node], options)
    const bloomOf = (number: number) => (has(number) ? chain[number]!.block.logsBloom : undefined)
    const found: RawBlock[] = []
    let at = 0
    for await (const part of source.scoped!.find(filter, { from: 0, to: 399 }, never, bloomOf)) {
      assert.equal(part.from, at)
      at = part.to + 1
      found.push(...part.blocks)
    }
    assert.equal(at, 400)
    assert.deepEqual(found, due(filter))
    return node.calls.filter(it => it.method === 'eth_getLogs').length
  }
  const rare: LogFilter = {
    addresses: [makeChain({ blocks: 1, txs: 1, logs: 5 })[0]!.receipts[0]!.logs[4]!.address],
    topics: [],
  }
  for (const filter of [rare, some]) {
    const busy = due(filter).map(({ block }) => Number(block.number))
    const fewest = fewestCalls(busy, { blocks: 10 })
    const none = await asked(filter, () => false)
    const all = await asked(filter, () => true)
    const half = await asked(filter, number => number < 200)
    // The first questions find out what the node allows, and blooms have some more by chance.
    assert.ok(all <= fewest + 4, `${all} of ${fewest}`)
    assert.ok(all < none && half < none && all <= half, `${all}, ${half} and ${none}`)
    assert.equal(await asked(filter, () => true, { bloom: false }), none)
    t.diagnostic(`${all} of ${fewest}; ${half} with half of the headers, ${none} without`)
  }
})

/** The fewest ranges that hold all of some blocks. */
const fewestCalls = (numbers: readonly number[], { blocks }: { blocks: number }): number => {
  let [calls, end] = [0, -1]
  for (const number of numbers) {
    if (number <= end) continue
    calls++
    end = number + blocks - 1
  }
  return calls
}

test('of a block, whichever costs fewer calls is asked for', async t => {
  const node = await startNode(t, chain)
  await findAll(sourceOf(t, [node]))
  const count = (name: string) => node.calls.filter(it => it.method === name).length
  const blocks = due()
  assert.equal(count('eth_getBlockByNumber'), blocks.length + 3)
  assert.equal(count('eth_getBlockReceipts'), blocks.filter(it => it.receipts.length > 1).length)
  assert.equal(count('eth_getTransactionReceipt'), blocks.filter(it => it.receipts.length === 1).length)
})

test('a node without eth_getBlockReceipts is asked for receipts one by one', async t => {
  const node = await startNode(t, chain)
  node.missing.set('eth_getBlockReceipts', new NodeError(-32601, 'the method eth_getBlockReceipts does not exist'))
  assert.deepEqual(await findAll(sourceOf(t, [node])), due())
})

test('a node without batches is asked one call at a time', async t => {
  const node = await startNode(t, chain)
  node.batchLimit = 1
  assert.deepEqual(await findAll(sourceOf(t, [node])), due())
})

type Lie = (method: string, result: unknown, params: unknown[]) => unknown
const edit = <T>(result: unknown, change: (it: T) => unknown) => {
  change(result as T)
  return result
}
const ofLogs = (change: (logs: RpcLog[]) => unknown): Lie => {
  return (method, result) => (isOfSome(method, result) ? edit(result, change) : result)
}
const isOfSome = (method: string, result: unknown) => method === 'eth_getLogs' && (result as RpcLog[]).length > 4

const assigned = (index: number, members: object): Lie => ofLogs(logs => Object.assign(logs[index]!, members))
const isWholeBlock = (method: string, params: unknown[]) => method === 'eth_getBlockByNumber' && params[1] === true
const ofBlocks = (members: object): Lie => {
  return (method, result, params) =>
    isWholeBlock(method, params) ? edit<RpcBlock>(result, it => Object.assign(it, members)) : result
}

const lies: Record<string, [Lie, RegExp]> = {
  'logs of another contract': [assigned(3, { address: token0! }), /contract 0x\w+ .* not asked for/],
  'logs twice': [ofLogs(logs => void logs.splice(3, 0, { ...logs[3]! })), /twice/],
  'removed logs': [assigned(3, { removed: true }), /removed/],
  'logs of another range': [assigned(3, { blockNumber: '0xffff' }), /is of block 0xffff/],
  'logs of another fork': [
    ofLogs(logs => Object.assign(logs[0]!, { blockHash: hashOf(7) })),
    /logs of block|name 0x0+7 as their/,
  ],
  'logs of one more transaction': [
    ofLogs(logs => Object.assign(logs[3]!, { transactionHash: hashOf(8) })),
    /is of another transaction|receipt|transaction/,
  ],
  'other data': [assigned(3, { data: '0x1234' }), /eth_getLogs gave is not in its receipts/],
  'malformed logs': [assigned(3, { topics: 'none' }), /logs\[3\]\.topics/],
  'no list': [(method, result) => (isOfSome(method, result) ? {} : result), /logs is \{\}, not a list/],
  null: [(method, result) => (isOfSome(method, result) ? null : result), /logs is null/],
  'null blocks': [
    (method, result, params) => (isWholeBlock(method, params) ? null : result),
    /does not have it \(null\)/,
  ],
  'null receipts': [(method, result) => (/Receipt/.test(method) ? null : result), /receipts(\[0\])? is (null|nothing)/],
  'receipts without logs': [
    (method, result) =>
      method === 'eth_getTransactionReceipt' ? edit<RpcReceipt>(result, it => Object.assign(it, { logs: [] })) : result,
    /is not in its receipts|bloom/,
  ],
  'blocks of another hash': [ofBlocks({ hash: `0x${'9'.padStart(64, '0')}` }), /it is 0x0+9, but its logs name/],
  'blocks without transactions': [ofBlocks({ transactions: [] }), /transactions/],
}

const hashOf = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

for (const [name, [lie, said]] of Object.entries(lies)) {
  test(`a node that gives ${name} is asked again until it is right, and shows why`, async t => {
    const node = await startNode(t, chain)
    const isFirst = firstTimes(name === 'null blocks' ? 2 : 3)
    node.lie = ({ method, params }, result) => {
      if (result instanceof NodeError) return result
      const told = lie(method, structuredClone(result), params)
      return JSON.stringify(told) === JSON.stringify(result) || !isFirst() ? result : told
    }
    const source = sourceOf(t, [node])
    assert.deepEqual(await findAll(source), due())
    // It is no fault of a node that it does not have a block.
    assert.match(source.endpoints()[0]!.lastError ?? 'none', name === 'null blocks' ? /^none$/ : said)
  })
}

test('logs that eth_getLogs leaves out of a transaction or a block are found, and shown', async t => {
  const node = await startNode(t, chain)
  // Blocks with several logs that are wanted keep their first one.
  node.lie = ({ method }, result) =>
    method === 'eth_getLogs'
      ? (result as RpcLog[]).filter((log, i, logs) => logs[i - 1]?.blockHash !== log.blockHash)
      : result
  const source = sourceOf(t, [node])
  const [found, expected] = [await findAll(source), due()]
  // Of a block of which a single receipt was asked for, what other transactions have cannot be known.
  for (const raw of found) assert.ok(raw.receipts.length > 0)
  for (const raw of expected) {
    const same = found.find(it => it.block.hash === raw.block.hash)!
    assert.deepEqual(same.receipts[0], raw.receipts[0])
  }
  assert.match(source.endpoints()[0]!.lastError!, /eth_getLogs left out log \d+ of block \d+/)
})

const troubles: [string, Trouble, RegExp][] = [
  ['429', { status: 429 }, /asks to slow down \(HTTP 429/],
  ['429 with Retry-After', { status: 429, headers: { 'retry-after': '3' } }, /asks to slow down/],
  ['half an answer', { garbage: '{"jsonrpc":"2.0","id":1,"result":[{"address":"0x12' }, /not a JSON-RPC answer/],
  ['a cut connection', 'reset', /socket|ECONNRESET|closed/],
  ['no answer', 'hang', /no answer within/],
  ['502', { status: 502, body: '<html>Bad Gateway</html>' }, /HTTP 502/],
]
for (const [name, trouble, said] of troubles) {
  test(`nothing is lost to ${name}`, async t => {
    const node = await startNode(t, chain)
    let count = 0
    node.trouble = () => (count++ % 3 === 1 && count < 12 ? trouble : undefined)
    const source = sourceOf(t, [node], trouble === 'hang' ? { timeoutMs: 100 } : {})
    assert.deepEqual(await findAll(source), due())
    assert.match(source.endpoints()[0]!.lastError!, said)
  })
}

test('what a node says to a range beyond its head is not taken for an answer', async t => {
  const node = await startNode(t, chain)
  const lags = firstTimes(3)
  node.trouble = ([call]) => {
    if (call!.params[0] === 'latest') node.head = lags() ? 300 : 399
    return undefined
  }
  const source = sourceOf(t, [node])
  assert.deepEqual(await findAll(source), due())
  assert.match(source.endpoints()[0]!.lastError!, /its head is block 300, but logs up to block 399 are wanted/)
})

test('an answer of a machine behind the same address that lags is not taken, either', async t => {
  const node = await startNode(t, chain)
  const lags = firstTimes(2)
  // Batches go to another machine, which has not heard of the newest blocks.
  node.trouble = calls => {
    node.head = calls[0]!.method === 'eth_getLogs' && lags() ? 380 : 399
    return undefined
  }
  const source = sourceOf(t, [node])
  assert.deepEqual(await findAll(source), due())
  assert.match(source.endpoints()[0]!.lastError!, /block 399: the node does not have it/)
})

test('a node that has no eth_getLogs is passed over', async t => {
  const [without, other] = [await startNode(t, chain), await startNode(t, chain)]
  without.missing.set('eth_getLogs', new NodeError(-32601, 'the method eth_getLogs does not exist/is not available'))
  assert.deepEqual(await findAll(sourceOf(t, [without, other])), due())
})

test('addresses are asked for in as many pieces as a node takes', async t => {
  const node = await startNode(t, chain)
  const ofAddresses = () => new NodeError(-32602, 'Please specify less number of addresses')
  limitLogs(node, { addresses: 100, ofAddresses })
  const others = Array.from({ length: 1_500 }, (_, i) => `0x${(i + 1).toString(16).padStart(40, '0')}`)
  const filter = { addresses: [...others, token1!, token2!].sort(), topics: [] }
  const source = sourceOf(t, [node])
  assert.deepEqual(await findAll(source, filter), due())
  assert.ok(node.calls.filter(it => it.method === 'eth_getLogs').length < 60)
  assert.equal(source.endpoints()[0]!.lastError, null)
})

test('a block with more logs than a node will tell is read as a whole', async t => {
  const node = await startNode(t, chain)
  const ofResults = () => new NodeError(-32005, 'query returned more than 2 results')
  limitLogs(node, { results: 2, ofResults })
  const source = sourceOf(t, [node])
  assert.deepEqual(await findAll(source), due())
  assert.equal(source.endpoints()[0]!.lastError, null)
})

test('answers that were cut at a round number without a word are completed', async t => {
  const dense = makeChain({ blocks: 60, txs: 10, logs: 5 })
  const filter: LogFilter = { addresses: [], topics: [] }
  const node = await startNode(t, dense)
  node.methods.set('eth_getLogs', params => logsOf(node, params[0]).slice(0, 1_000))
  const source = sourceOf(t, [node])
  const found = await findAll(source, filter, 0, 59)
  assert.equal(found.length, 60)
  assert.deepEqual(
    found,
    dense.map(it => wantedOf(it, [filter])),
  )
})

test('an error that nobody knows makes ranges smaller', async t => {
  const node = await startNode(t, chain)
  node.lie = ({ method, params }, result) => {
    const [query] = params as [{ fromBlock: string; toBlock: string }]
    const isMuch = method === 'eth_getLogs' && Number(query.toBlock) - Number(query.fromBlock) >= 40
    return isMuch ? new NodeError(-32603, 'oops') : result
  }
  assert.deepEqual(await findAll(sourceOf(t, [node])), due())
})

test('with verify-logs, what one node leaves out is found by the other, and the one is named', async t => {
  const nodes = [await startNode(t, chain), await startNode(t, chain)]
  nodes[0]!.lie = ({ method }, result) =>
    method === 'eth_getLogs' ? (result as RpcLog[]).filter(it => Number(it.blockNumber) % 7 !== 0) : result
  const source = sourceOf(t, nodes, { verifyLogs: true })
  assert.deepEqual(await findAll(source), due())
  const [bad, good] = source.endpoints()
  assert.match(bad!.lastError!, /eth_getLogs gave 0 logs of block \d+, which has \d+/)
  assert.equal(good!.lastError, null)
})

test('with verify-logs, logs that one node makes up are not taken', async t => {
  const other = makeSparseChain(seeded(12), 400, 0.2, 'other')
  const nodes = [await startNode(t, chain), await startNode(t, chain)]
  const asked = new Map<string, unknown>()
  nodes[1]!.lie = ({ method, params }, result) => {
    if (method !== 'eth_getLogs') return result
    asked.set(hex(asked.size), params[0])
    return [...(result as RpcLog[]), ...logsOf({ blocks: new Map([[399, other[399]!]]), head: 399 }, params[0])]
  }
  assert.deepEqual(await findAll(sourceOf(t, nodes, { verifyLogs: true })), due())
})

test('verify-logs takes two nodes', () => {
  assert.throws(() => createRpcSource({ urls: ['http://localhost:1'], verifyLogs: true }), { code: 'no_second_node' })
})

test('a search that is no longer wanted ends with its reason', async t => {
  const node = await startNode(t, chain)
  node.trouble = calls => (calls[0]!.method === 'eth_getLogs' ? 'hang' : undefined)
  const controller = new AbortController()
  setTimeout(() => controller.abort(new Error('enough')), 30)
  const source = sourceOf(t, [node], { timeoutMs: 5_000 })
  const parts = source.scoped!.find(some, { from: 0, to: 399 }, controller.signal)
  await assert.rejects(async () => {
    for await (const _ of parts);
  }, /enough/)
})
