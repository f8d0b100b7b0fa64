import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createRpcSource, type RpcSourceOptions } from '../../src/chain/rpc-source.ts'
import type { EndpointStatus } from '../../src/chain/source.ts'
import type { RawBlock, RpcBlock, RpcReceipt } from '../../src/chain/wire.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import { never, rangeOf, sourceOf, type TestSource } from '../support/chain-source.ts'
import { type FakeNode, fastClock, firstTimes, NodeError, startNode, type Trouble } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const chain = makeChain({ from: 0, blocks: 40 })

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Run by run. */
const runsOf = (
  source: TestSource,
  from: number,
  to: number,
  { order = 'oldest' as 'oldest' | 'newest', run = 8, signal = never } = {},
): Promise<RawBlock[][]> => collect(source.range({ from, to, order, run, signal }))

test('a range comes in linked runs, oldest or newest first', async t => {
  const node = await startNode(t, chain)
  const source = sourceOf(t, node)
  assert.equal(await source.chainId(never), 31337)
  assert.equal(await source.head(never), 39)
  const oldest = await runsOf(source, 5, 29)
  assert.deepEqual(oldest.flat(), chain.slice(5, 30))
  assert.deepEqual(
    oldest.map(run => [Number(run[0]!.block.number), run.length]),
    [
      [5, 3],
      [8, 8],
      [16, 8],
      [24, 6],
    ],
  )
  const newest = await runsOf(source, 5, 29, { order: 'newest' })
  assert.deepEqual(newest, oldest.toReversed())
  const [{ responseMs, ...status }] = source.endpoints() as [EndpointStatus]
  assert.deepEqual(status, {
    ...{ url: node.url, lastError: null, lastErrorAt: null, requests: node.batches.length, errors: 0 },
    head: 39,
  })
  assert.ok(responseMs!.median <= responseMs!.p95)
})

test('calls go in batches, several at once, no larger than allowed', async t => {
  const node = await startNode(t, chain)
  await runsOf(sourceOf(t, node, { batch: 6 }), 0, 39, { run: 16 })
  assert.equal(Math.max(...node.batches), 6)
  assert.equal(node.calls.filter(it => it.method === 'eth_getBlockByNumber').length, 40)
})

test('every lie of a node is asked again until it is true, and shows in its status', async t => {
  const other = makeChain({ from: 0, blocks: 40, salt: 'other' })
  type Lie = (result: unknown) => unknown
  /** About block 7. */
  const of = (asked: string, lie: Lie) => (method: string, params: unknown[], result: unknown) =>
    method === asked && params[0] === '0x7' ? lie(result) : result
  const ofBlock = (lie: Lie) => of('eth_getBlockByNumber', lie)
  const ofReceipts = (lie: Lie) => of('eth_getBlockReceipts', lie)
  const edit =
    <T>(change: (it: T) => void): Lie =>
    result => {
      change(result as T)
      return result
    }
  const unlinked = ofBlock(edit<RpcBlock>(block => void Object.assign(block, { parentHash: `0x${'34'.repeat(32)}` })))
  const lies: [said: RegExp | undefined, lie: ReturnType<typeof of>][] = [
    // It is no fault of a node that it does not have a block.
    [undefined, ofBlock(() => null)],
    [undefined, ofReceipts(() => null)],
    [undefined, ofReceipts(() => new NodeError(-32000, 'pruned history unavailable'))],
    [/^block 7 0x\w+: receipt 0 is of block 0x7 0x\w+$/, ofReceipts(() => other[7]!.receipts)],
    [/^block 7 0x\w+: receipt 0 is of block 0x8 0x\w+$/, ofReceipts(() => chain[8]!.receipts)],
    [/^block 7 has 2 transactions but 0 receipts$/, ofReceipts(() => [])],
    [
      /^block 7: its logs bloom has more logs than the 0 received/,
      ofReceipts(edit<RpcReceipt[]>(receipts => receipts.forEach(it => void Object.assign(it, { logs: [] })))),
    ],
    [
      /^block 7: its logs bloom does not cover its 4 logs/,
      ofReceipts(edit<RpcReceipt[]>(all => void Object.assign(all[0]!.logs[0]!, { address: `0x${'12'.repeat(20)}` }))),
    ],
    [/^block 7: the node gave block 8$/, ofBlock(() => chain[8]!.block)],
    [
      /^block 7 has only the hash/,
      ofBlock(edit<RpcBlock>(it => void Object.assign(it, { transactions: it.transactions.map(tx => tx.hash) }))),
    ],
    [/^block 7 0x\w+ names 0x3434\w+ as its parent, but block 6 is 0x\w+$/, unlinked],
    [/^receipts of block 7: went wrong \(-32000\)$/, ofReceipts(() => new NodeError(-32000, 'went wrong'))],
  ]
  for (const [said, lie] of lies) {
    for (const order of ['oldest', 'newest'] as const) {
      const what = `${said} ${order}`
      const node = await startNode(t, chain)
      const telling = firstTimes(lie === unlinked || said === undefined ? 2 : 3)
      node.lie = ({ method, params }, result) => {
        const lied = lie(method, params, structuredClone(result))
        return JSON.stringify(lied) !== JSON.stringify(result) && telling() ? lied : result
      }
      const source = sourceOf(t, node)
      const blocks = (await runsOf(source, 2, 19, { order })).flat()
      const sorted = blocks.sort((a, b) => Number(a.block.number) - Number(b.block.number))
      assert.deepEqual(sorted, chain.slice(2, 20), what)
      const [status] = source.endpoints()
      if (said === undefined) {
        assert.deepEqual([status!.lastError, status!.errors], [null, 0], what)
        continue
      }
      assert.match(status!.lastError ?? '', said, what)
      assert.equal(status!.errors, lie === unlinked ? 1 : 3, what)
      assert.match(status!.lastErrorAt ?? '', /^\d{4}-\d\d-\d\dT.*Z$/)
    }
  }
})

test('a run that never links ends the range: what was yielded has to be reconciled', async t => {
  const node = await startNode(t, chain)
  const branch = makeChain({ parent: chain[14]!, blocks: 20, salt: 'branch' })
  const source = sourceOf(t, node, { clock: fastClock(200) })
  const runs: RawBlock[][] = []
  await assert.rejects(
    async () => {
      for await (const run of source.range({ from: 0, to: 31, order: 'oldest', run: 8, signal: never })) {
        runs.push(run)
        if (runs.length === 2) node.extend(branch)
      }
    },
    { next: 'retry', code: 'block_unlinked' },
  )
  assert.ok(runs.length >= 2)
})

test('trouble of every kind is survived, seen and told', async t => {
  const troubles: Record<string, Trouble> = {
    'HTTP 500: oops <html>': { status: 500, body: 'oops\n<html>' },
    'HTTP 502: upstream': { status: 502, body: '{"error":{"code":-32603,"message":"upstream"}}' },
    'refuses access (HTTP 401): check the key or password in its URL': { status: 401 },
    'says that its quota is used up (HTTP 402)': { status: 402 },
    'HTTP 404: nothing here: is this the URL of a JSON-RPC endpoint?': { status: 404, body: 'nothing here' },
    'HTTP 302': { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    'other side closed (UND_ERR_SOCKET)': 'reset',
    'no answer within 60 ms': 'hang',
    'HTTP 200 with a body that is not a JSON-RPC answer: <!doctype html>': { garbage: '<!doctype html>' },
    'HTTP 200 with a body that is not a JSON-RPC answer: {}': { garbage: '{}' },
    'HTTP 200 with a body that is not a JSON-RPC answer: empty': { garbage: '' },
    'asks to slow down (-32005: daily limit)': {
      garbage: '{"id":null,"error":{"code":-32005,"message":"daily limit"}}',
    },
    'asks to slow down (429: too many)': { garbage: '[{"id":1,"error":{"code":429,"message":"too many"}}]' },
  }
  for (const [message, trouble] of Object.entries(troubles)) {
    const node = await startNode(t, chain)
    const troubled = firstTimes(2)
    node.trouble = () => (troubled() ? trouble : undefined)
    const source = sourceOf(t, node, trouble === 'hang' ? { timeoutMs: 60 } : {})
    assert.deepEqual(await rangeOf(source, 0, 9), chain.slice(0, 10), message)
    const [status] = source.endpoints()
    assert.equal(status!.lastError, message)
    assert.equal(status!.errors, 2, message)
  }
})

test('Retry-After is honoured', async t => {
  const node = await startNode(t, chain)
  const limited = firstTimes(1)
  node.trouble = () => (limited() ? { status: 429, headers: { 'retry-after': '7' }, body: 'slow down' } : undefined)
  const clock = fastClock(100)
  const source = sourceOf(t, node, { clock })
  const before = clock.now()
  assert.equal(await source.head(never), 39)
  const waited = clock.now() - before
  assert.ok(waited >= 7_000 && waited < 30_000, String(waited))
  assert.equal(source.endpoints()[0]!.lastError, 'asks to slow down (HTTP 429: slow down)')
})

test('an overloaded node gets fewer requests at once', async t => {
  const node = await startNode(t, chain)
  let open = 0
  let most = 0
  node.trouble = async () => {
    most = Math.max(most, ++open)
    const trouble = open > 2 ? { status: 429 } : undefined
    await new Promise(resolve => setTimeout(resolve, 4))
    open--
    return trouble
  }
  const source = sourceOf(t, node, { batch: 2, clock: fastClock(100) })
  assert.deepEqual(await rangeOf(source, 0, 39), chain)
  // The window may feel its way up by a few between two refusals; without refusals it would go to 16.
  assert.ok(most <= 8, `${most} at once`)
})

test('another node stands in for one that fails or lies, and the first is used again when it is well', async t => {
  const first = await startNode(t, chain)
  const second = await startNode(t, chain)
  const source = sourceOf(t, [first, second])
  await runsOf(source, 0, 9)
  assert.equal(second.batches.length, 0)

  await first.stop()
  await runsOf(source, 10, 19)
  assert.match(source.endpoints()[0]!.lastError!, /ECONNREFUSED|other side closed/)
  assert.ok(second.batches.length > 0)

  await first.start()
  first.lie = ({ method }, result) => (method === 'eth_getBlockReceipts' ? [] : result)
  const before = second.batches.length
  await runsOf(source, 20, 24)
  assert.ok(second.batches.length > before)

  first.lie = (_, result) => result
  const used = first.batches.length
  // It is doubted for a while. Beside other tests the second one may be faster.
  for (let i = 0; i < 600 && first.batches.length === used; i++) {
    await new Promise(resolve => setTimeout(resolve, 100))
    assert.deepEqual(await rangeOf(source, 30, 39), chain.slice(30))
  }
  assert.ok(first.batches.length > used)
})

test('a node of another chain is not asked for blocks', async t => {
  const other = await startNode(t, makeChain({ blocks: 40, chainId: 5 }))
  const right = await startNode(t, chain)
  const source = sourceOf(t, [other, right], { chainId: 31337 })
  assert.deepEqual(await rangeOf(source, 0, 9), chain.slice(0, 10))
  assert.deepEqual(new Set(other.calls.map(it => it.method)), new Set(['eth_chainId']))
  const [status] = source.endpoints()
  assert.equal(status!.otherChain, 5)
  assert.equal(
    status!.lastError,
    'is a node of chain 5, but this network is chain 31337: check --rpc and --network, or choose another data folder. It is asked again every minute',
  )
})

test('an only node of another chain is told once in the log, and taken when it is of the right one', async t => {
  const node = await startNode(t, chain)
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const told: number[] = []
  const clock = fastClock()
  node.methods.set('eth_chainId', () => {
    told.push(clock.now())
    return told.length > 20 ? '0x7a69' : '0x1'
  })
  const source = sourceOf(t, node, { chainId: 31337, log, clock })
  assert.deepEqual(await rangeOf(source, 0, 9), chain.slice(0, 10))
  for (let i = 1; i < told.length; i++) assert.ok(told[i]! - told[i - 1]! <= 60_000)
  assert.deepEqual(
    lines.map(line => /gives no usable answer|answers again/.exec(line)?.[0]),
    ['gives no usable answer', 'answers again'],
  )
  assert.equal(source.endpoints()[0]!.otherChain, undefined)
})

test('a node is asked for its chain every minute', async t => {
  const node = await startNode(t, chain)
  const clock = fastClock()
  const source = sourceOf(t, node, { clock })
  const asked = () => node.calls.filter(it => it.method === 'eth_chainId').length
  await runsOf(source, 0, 9)
  const before = asked()
  await runsOf(source, 0, 9)
  assert.equal(asked(), before)
  await clock.sleep(60_000)
  await runsOf(source, 0, 9)
  assert.equal(asked(), before + 1)
  node.chainId = 5
  await clock.sleep(60_000)
  const stopping = new AbortController()
  const reading = runsOf(source, 10, 19, { signal: stopping.signal })
  while (source.endpoints()[0]!.errors < 3) await new Promise(resolve => setTimeout(resolve, 5))
  assert.equal(source.endpoints()[0]!.otherChain, 5)
  node.chainId = 31337
  assert.deepEqual((await reading).flat(), chain.slice(10, 20))
})

test('a node that does not tell its chain as a number is not asked for more', async t => {
  const liar = await startNode(t, chain)
  const right = await startNode(t, chain)
  for (const told of [{ toString: 1 }, [], '', true, '0x']) {
    liar.methods.set('eth_chainId', () => told)
    const source = sourceOf(t, [liar, right])
    assert.deepEqual(await rangeOf(source, 0, 9), chain.slice(0, 10))
    assert.equal(source.endpoints()[0]!.lastError, 'does not send its chain id as a number')
  }
})

test('a node that is down at start is waited for, with a line in the log', async t => {
  const node = await startNode(t, chain)
  await node.stop()
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), json: false })
  const source = sourceOf(t, node, { log })
  const head = source.head(never)
  await new Promise(resolve => setTimeout(resolve, 100))
  await node.start()
  assert.equal(await head, 39)
  assert.equal(lines.length, 2)
  const port = new URL(node.url).port
  assert.match(
    lines[0]!,
    new RegExp(
      `warn +The node gives no usable answer, will retry endpoint=${node.url}/? error="connect ECONNREFUSED 127.0.0.1:${port}"$`,
    ),
  )
  assert.match(lines[1]!, new RegExp(`info +The node answers again endpoint=${node.url}/? seconds=\\d+$`))
})

test('a node that limits batches gets smaller ones', async t => {
  const node = await startNode(t, chain)
  node.batchLimit = 5
  const source = sourceOf(t, node)
  assert.deepEqual(await rangeOf(source, 0, 39), chain)
  assert.match(source.endpoints()[0]!.lastError!, /^a batch of \d+ calls was too large, sends \d$/)

  const alone = await startNode(t, chain)
  alone.trouble = calls =>
    calls.length > 1 ? { garbage: '{"error":{"code":-32601,"message":"batch requests are not supported"}}' } : undefined
  assert.deepEqual(await rangeOf(sourceOf(t, alone), 0, 9), chain.slice(0, 10))

  for (const status of [413, 400]) {
    const full = await startNode(t, chain)
    full.trouble = calls =>
      calls.length > 3 ? { status, body: '{"error":{"code":-32003,"message":"response too large"}}' } : undefined
    assert.deepEqual(await rangeOf(sourceOf(t, full), 0, 9), chain.slice(0, 10))
  }

  const cut = await startNode(t, chain)
  cut.lie = ({ method }, result) =>
    cut.batches.at(-1)! > 4 && method === 'eth_getBlockReceipts' ? new NodeError(-32003, 'response too large') : result
  assert.deepEqual(await rangeOf(sourceOf(t, cut), 0, 9), chain.slice(0, 10))
})

test('an answer that unpacks to more than there may be is given up on the way, and another node is asked', async t => {
  const liar = await startNode(t, chain)
  const honest = await startNode(t, chain)
  const bomb = gzipSync(`[${'[],'.repeat(100_000_000)}[]]`, { level: 1 })
  let sent = 0
  liar.trouble = calls => {
    if (!calls.some(({ method }) => method === 'eth_getBlockByNumber')) return undefined
    sent++
    return { status: 200, headers: { 'content-encoding': 'gzip' }, body: bomb }
  }
  const source = sourceOf(t, [liar, honest])
  const before = process.memoryUsage().rss
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss - before)
  }, 5)
  assert.deepEqual(await rangeOf(source, 0, 39), chain)
  clearInterval(watch)
  assert.ok(sent > 0)
  assert.ok(most < 600e6, `${most} bytes more`)
})

test('an answer of empty lists is not made into objects', async t => {
  const liar = await startNode(t, chain)
  const honest = await startNode(t, chain)
  liar.trouble = calls =>
    calls.some(({ method }) => method === 'eth_getBlockByNumber')
      ? { garbage: `{"id":1,"result":{"number":"0x0","junk":[${'[],'.repeat(2_000_000)}[]]}}` }
      : undefined
  const source = sourceOf(t, [liar, honest])
  assert.deepEqual(await rangeOf(source, 0, 3), chain.slice(0, 4))
  assert.match(source.endpoints()[0]!.lastError!, /more arrays, objects and members than any block/)
})

test('a contract that answers at great length counts as one that does not answer, and disturbs no other', async t => {
  const node = await startNode(t, chain)
  node.methods.set('eth_call', ([call]) =>
    (call as { to: string }).to.endsWith('13') ? `0x${'00'.repeat(5_000_000)}` : '0x01',
  )
  const source = sourceOf(t, node, { batch: 20 })
  const calls = Array.from({ length: 40 }, (_, i) => ({ to: `0x${String(i).padStart(40, '0')}`, data: '0x' }))
  const expected = calls.map(({ to }) => (to.endsWith('13') ? null : '0x01'))
  assert.deepEqual(await source.call!(calls, AbortSignal.timeout(20_000)), expected)
  // Blocks are asked for in batches as large as before.
  assert.deepEqual(await rangeOf(source, 0, 39), chain)
  assert.ok(node.batches.at(-1)! >= 16, `${node.batches.at(-1)}`)
})

test('a reading that is too long is one with an error, and no fault of the node', async t => {
  const node = await startNode(t, chain)
  node.methods.set('eth_call', ([call]) =>
    (call as { to: string }).to.endsWith('13') ? `0x${'00'.repeat(5_000_000)}` : '0x01',
  )
  const source = sourceOf(t, node, { clock: fastClock(500) })
  const questions = ['13', '14'].map(it => ({ to: `0x${it.padStart(40, '0')}`, data: '0x' }))
  const [long, short] = await source.stateAt!(chain[9]!.block.hash, questions, never)
  assert.match((long as { error: string }).error, /^The answer to eth_call /)
  assert.deepEqual(short, { hex: '0x01' })
  assert.equal(source.endpoints()[0]!.errors, 0)
})

test('a node without eth_getBlockReceipts is asked for them one by one, and only once whether it has it', async t => {
  for (const error of [
    new NodeError(-32601, 'Method not found'),
    new NodeError(-32600, 'Unsupported method: eth_getBlockReceipts'),
    new NodeError(-32004, 'method not supported'),
    new NodeError(-32046, 'this method is not available on your plan'),
  ]) {
    const node = await startNode(t, chain)
    node.missing.set('eth_getBlockReceipts', error)
    const source = sourceOf(t, node, { concurrency: 1 })
    assert.deepEqual(await rangeOf(source, 0, 39), chain, error.message)
    const asked = node.calls.filter(it => it.method === 'eth_getBlockReceipts').length
    assert.ok(asked <= 20, `${error.message}: asked ${asked} times`)
    assert.equal(source.endpoints()[0]!.errors, 0, error.message)
  }
})

test('blocks without transactions may have null for receipts', async t => {
  const empty = makeChain({ blocks: 5, txs: 0 })
  const node = await startNode(t, empty)
  node.lie = ({ method }, result) => (method === 'eth_getBlockReceipts' ? null : result)
  assert.deepEqual(await rangeOf(sourceOf(t, node), 0, 4), empty)
})

test('calls: data, null for what reverts, and nothing known where the node fails', async t => {
  const node = await startNode(t, chain)
  let failing = false
  const answers: Record<string, string | NodeError> = {
    '0x1': '0x12',
    '0x2': new NodeError(3, 'execution reverted', '0x'),
    '0x3': '0x',
    '0x4': new NodeError(-32000, 'invalid opcode: INVALID'),
    '0x5': new NodeError(-32603, 'EVM error InvalidFEOpcode'),
    '0x6': new NodeError(-32015, 'VM execution error.'),
    // As go-ethereum puts what a contract can do wrong.
    ...Object.fromEntries(
      [
        'out of gas',
        'stack underflow (0 <=> 2)',
        'stack limit reached 1024 (1023)',
        'invalid jump destination',
        'return data out of bounds',
        'gas uint64 overflow',
        'write protection',
        'max call depth exceeded',
        'execution aborted (timeout = 5s)',
      ].map((message, i) => [`0x${10 + i}`, new NodeError(-32000, message)]),
    ),
  }
  node.methods.set('eth_call', ([call, tag]) => {
    assert.equal(tag, 'latest')
    const { to } = call as { to: string }
    return failing && to === '0x3' ? new NodeError(-32000, 'missing trie node') : answers[to]
  })
  const source = sourceOf(t, node, { clock: fastClock(500) })
  const calls = Object.keys(answers).map(to => ({ to, data: '0x313ce567' }))
  const due = ['0x1', '0x3'].map(to => [to, answers[to]])
  const told = (await source.call!(calls, never)).map((answer, i) => [calls[i]!.to, answer])
  assert.deepEqual(
    told.filter(([, answer]) => answer !== null),
    due,
  )
  failing = true
  await assert.rejects(source.call!(calls, never), {
    next: 'retry',
    code: 'block_missing',
    message: 'eth_call: missing trie node (-32000)',
  })
})

test('codes and storage are read at the head, and a node that does not have the method is not asked again and again', async t => {
  const [node, other] = [await startNode(t, chain), await startNode(t, chain)]
  const address = `0x${'ab'.repeat(20)}`
  const questions = [{ codeOf: address }, { storageOf: address, slot: '0x1' }]
  const asked: unknown[] = []
  const source = sourceOf(t, [node, other], { clock: fastClock(500) })
  await assert.rejects(source.state!(questions, never), { next: 'retry', code: 'node_lacks_method' })
  const requests = () => source.endpoints().map(({ errors }) => errors)
  assert.deepEqual(requests(), [0, 0], 'which is no fault of theirs')
  assert.equal(await source.head(never), 39)

  other.methods.set('eth_getCode', params => {
    asked.push(params)
    return '0x60AB'
  })
  other.methods.set('eth_getStorageAt', params => {
    asked.push(params)
    return '0x00'
  })
  assert.deepEqual(await source.state!(questions, never), ['0x60ab', '0x00'])
  assert.deepEqual(asked, [
    [address, 'latest'],
    [address, '0x1', 'latest'],
  ])
})

test('secrets of an address are used but never shown', async t => {
  const node = await startNode(t, chain)
  const { port } = new URL(node.url)
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), json: false })
  const secrets = ['topsecretpathkey', 'hunter2pass', 'querykey99', 'someuser']
  const source = createRpcSource({
    urls: [`http://someuser:hunter2pass@127.0.0.1:${port}/v3/topsecretpathkey?apikey=querykey99`],
    wsUrl: `ws://someuser:hunter2pass@127.0.0.1:${port}/topsecretpathkey`,
    clock: fastClock(),
    log,
  })
  t.after(() => source.close())
  const refusing = firstTimes(2)
  node.trouble = () =>
    refusing() ? { status: 403, body: `no: topsecretpathkey hunter2pass querykey99 someuser` } : undefined
  assert.equal(await source.head(never), 39)
  assert.equal(node.headers.authorization, `Basic ${Buffer.from('someuser:hunter2pass').toString('base64')}`)
  const [http, ws] = source.endpoints()
  assert.equal(http!.url, `http://127.0.0.1:${port}/[secret]`)
  assert.equal(ws!.url, `ws://127.0.0.1:${port}/[secret]`)
  assert.match(http!.lastError!, /^refuses access \(HTTP 403: no: \[secret\] \[secret\] \[secret\] \[secret\]\)/)
  const shown = JSON.stringify([source.endpoints(), lines])
  for (const secret of secrets) assert.ok(!shown.includes(secret), secret)
})

test('addresses that are none are refused without repeating them', () => {
  const refusal = (options: RpcSourceOptions) => {
    try {
      createRpcSource(options)
    } catch (error) {
      assert.ok(error instanceof ChainsieveError && error.next === 'refuse')
      return error.message
    }
    return assert.fail('accepted')
  }
  assert.equal(refusal({ urls: [] }), 'no node is named: give the URL of at least one')
  assert.equal(
    refusal({ urls: ['key123'] }),
    'the URL of the node is not valid: write it as one of http://, https://, ws://, wss:// or ipc://, and what follows',
  )
  assert.equal(
    refusal({ urls: ['ftp://host/key123'] }),
    'the URL of the node begins with ftp:, but must begin with http://, https://, ws://, wss:// or ipc://',
  )
  assert.equal(
    refusal({ urls: ['http://host'], wsUrl: 'http://host/key123' }),
    'the URL of the node begins with http:, but must begin with ws://, wss:// or ipc://',
  )
})

test('an abort rejects with its reason, wherever it strikes', async t => {
  const node = await startNode(t, chain)
  const troubles: FakeNode['trouble'][] = [() => 'hang', () => ({ status: 429, headers: { 'retry-after': '3600' } })]
  for (const trouble of troubles) {
    node.trouble = trouble
    const source = sourceOf(t, node, { clock: fastClock(1) })
    const controller = new AbortController()
    const reason = new Error('stopped by the test')
    setTimeout(() => controller.abort(reason), 50)
    const is = (error: unknown) => error === reason
    await Promise.all([
      assert.rejects(source.head(controller.signal), is),
      assert.rejects(source.chainId(controller.signal), is),
      assert.rejects(runsOf(source, 0, 30, { signal: controller.signal }), is),
      assert.rejects(source.call!([{ to: '0x1', data: '0x' }], controller.signal), is),
      assert.rejects(
        collect(
          source.follow({ from: 0, stored: () => undefined, tip: undefined, finality: 64, signal: controller.signal }),
        ),
        is,
      ),
    ])
  }
})
