import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RpcSourceOptions } from '../../src/chain/rpc-source.ts'
import type { EndpointStatus } from '../../src/chain/source.ts'
import type { CallTrace, RawBlock } from '../../src/chain/wire.ts'
import type { ChainsieveError } from '../../src/lib/errors.ts'
import { rangeOf, sourceOf } from '../support/chain-source.ts'
import { logLines } from '../support/indexing.ts'
import { type FakeNode, fastClock, firstTimes, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { type Act, callTrees, traceBlock } from '../support/traces.ts'

const METHODS = ['trace_block', 'debug_traceBlockByNumber'] as const

/** A chain whose blocks above genesis carry traces; that of genesis has none. */
const traced = (blocks: number, salt = '', parent?: RawBlock): RawBlock[] =>
  makeChain({ blocks, salt, logs: 1, ...(parent && { parent }) }).map(raw => {
    const number = Number(raw.block.number)
    const inner: Act[] = Array.from({ length: number % 3 }, (_, i) => ({
      kind: 'staticcall',
      to: `0x${`0${i}`.repeat(20)}`,
    }))
    const top: Act = { kind: 'call', to: `0x${'aa'.repeat(20)}`, acts: inner }
    return { ...raw, traces: number === 0 ? [] : traceBlock(raw, [top, { ...top, error: 'Reverted' }]) }
  })

const chain = traced(24)
const bare = chain.map(({ traces: _, ...raw }) => raw)

/** A node of the chain that has these of the two methods. */
const startTracingNode = async (t: TestContext, methods: readonly string[] = METHODS): Promise<FakeNode> => {
  const node = await startNode(t, chain)
  node.methods.set('trace_block', ([tag]) => structuredClone(node.blocks.get(Number(tag))?.traces ?? null))
  node.methods.set('debug_traceBlockByNumber', ([tag]) => {
    const raw = node.blocks.get(Number(tag))
    if (Number(tag) === 0) throw new NodeError(-32000, 'genesis is not traceable')
    if (raw === undefined) throw new NodeError(-32000, `block #${Number(tag)} not found`)
    return callTrees(raw, raw.traces!)
  })
  for (const method of METHODS) {
    if (methods.includes(method)) continue
    node.missing.set(method, new NodeError(-32601, `the method ${method} does not exist/is not available`))
  }
  return node
}

const tracingSource = (t: TestContext, nodes: FakeNode[], options: Partial<RpcSourceOptions> = {}) => {
  const { lines, log } = logLines()
  return { source: sourceOf(t, nodes, { traces: 'all', log, ...options }), lines }
}

/** How often the node was asked for each kind of thing. */
const asked = (node: FakeNode) => {
  const counts: Record<string, number> = {}
  for (const { method } of node.calls) counts[method] = (counts[method] ?? 0) + 1
  return counts
}

test('traces come with their blocks, by whichever method the node has, in one form', async t => {
  for (const method of METHODS) {
    const node = await startTracingNode(t, [method])
    for (const traces of ['calls', 'all'] as const) {
      const { source, lines } = tracingSource(t, [node], { traces })
      assert.equal(source.tracing?.(), undefined)
      assert.deepEqual(await rangeOf(source, 0, 23), chain, method)
      assert.deepEqual(source.tracing?.(), { method })
      assert.equal(source.endpoints()[0]!.errors, 0)
      assert.equal(lines.length, 1)
      assert.match(lines[0]!, new RegExp(`Reads traces from the node endpoint=\\S+ method=${method}`))
    }
  }
})

test('idle calls of precompiles, which nodes with trace_block do not tell, are left out of what others tell', async t => {
  const node = await startTracingNode(t, ['debug_traceBlockByNumber'])
  const hash: Act = { kind: 'staticcall', to: `0x${'2'.padStart(40, '0')}`, gasUsed: 72 }
  const [raw] = chain.slice(3) as [RawBlock]
  const [top] = raw.traces as [CallTrace]
  const act = (...acts: Act[]): Act => ({ kind: 'call', to: top.action.to, acts })
  const last: Act = { kind: 'call', to: `0x${'cc'.repeat(20)}` }
  const told = [act(hash, last), act(last, hash)]
  node.methods.set('debug_traceBlockByNumber', ([tag]) => {
    const at = node.blocks.get(Number(tag))!
    return callTrees(at, Number(tag) === Number(raw.block.number) ? traceBlock(raw, told) : at.traces!)
  })
  const { source } = tracingSource(t, [node])
  const number = Number(raw.block.number)
  const [block] = await rangeOf(source, number, number)
  assert.deepEqual(block!.traces, traceBlock(raw, [act(last), act(last)]))
})

test('traces that are not wanted are not asked for', async t => {
  const node = await startTracingNode(t)
  const { source } = tracingSource(t, [node], { traces: 'off' })
  assert.deepEqual(await rangeOf(source, 0, 23), bare)
  assert.deepEqual(Object.keys(asked(node)), ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockReceipts'])
  assert.deepEqual(source.tracing?.(), { method: null, why: 'traces are turned off for this network' })
})

test('the methods are asked for once, and traces go into the requests of their blocks', async t => {
  const node = await startTracingNode(t)
  const { source } = tracingSource(t, [node], { batch: 6 })
  await rangeOf(source, 0, 23)
  const { eth_chainId: _, ...counts } = asked(node)
  assert.deepEqual(counts, {
    trace_block: 25,
    eth_getBlockByNumber: 24,
    eth_getBlockReceipts: 24,
  })
  assert.deepEqual(new Set(node.batches), new Set([1, 6]))
  const geth = await startTracingNode(t, ['debug_traceBlockByNumber'])
  await rangeOf(tracingSource(t, [geth], { batch: 6 }).source, 0, 23)
  const call = geth.calls.find(it => it.method === 'debug_traceBlockByNumber')
  assert.deepEqual(call?.params, [
    '0x0',
    { tracer: 'callTracer', timeout: '20s', tracerConfig: { onlyTopCall: false, withLog: false } },
  ])
  assert.deepEqual(asked(geth).trace_block, 1)
})

test('a node without the methods says so in many ways: blocks come without traces, and it is said once', async t => {
  const refusals = [
    new NodeError(-32601, 'the method trace_block does not exist/is not available'),
    new NodeError(-32601, 'Method not found'),
    new NodeError(-32601, 'rpc method is not whitelisted'),
    new NodeError(-32600, "The method 'trace_block' is found but the namespace 'trace' is disabled"),
    new NodeError(-32600, 'trace_block is not available on the Free tier - upgrade to Pay As You Go'),
    new NodeError(-32604, 'Method not enabled'),
    new NodeError(-32004, 'Unsupported'),
    new NodeError(35, 'method is not available on freetier, please upgrade to paid tier'),
    new NodeError(-32000, 'trace_block is not available on your plan'),
  ]
  for (const refusal of refusals) {
    const node = await startTracingNode(t)
    node.missing.set('trace_block', refusal)
    const second = new NodeError(refusal.code, refusal.message.replaceAll('trace_block', 'debug_traceBlockByNumber'))
    node.missing.set('debug_traceBlockByNumber', second)
    const { source, lines } = tracingSource(t, [node])
    assert.deepEqual(await rangeOf(source, 0, 23), bare, refusal.message)
    assert.deepEqual(await rangeOf(source, 3, 9), bare.slice(3, 10), refusal.message)
    const name = source.endpoints()[0]!.url
    assert.deepEqual(source.tracing?.(), {
      method: null,
      why:
        `${name} has no traces (trace_block: ${refusal.message} (${refusal.code}), ` +
        `debug_traceBlockByNumber: ${second.message} (${second.code}))`,
    })
    assert.equal(lines.length, 1, refusal.message)
    assert.match(lines[0]!, /warn +Continues without traces: no node has them .*remedy="use a node with trace_block/)
    assert.deepEqual([asked(node).trace_block, asked(node).debug_traceBlockByNumber], [1, 1])
    assert.equal(source.endpoints()[0]!.errors, 0)
  }
})

test('a gateway that refuses the methods by HTTP 403 has none; one that refuses everything is asked again', async t => {
  const node = await startTracingNode(t)
  node.trouble = calls => (/trace/.test(calls[0]!.method) ? { status: 403, body: 'not in your plan' } : undefined)
  const { source } = tracingSource(t, [node])
  assert.deepEqual(await rangeOf(source, 0, 23), bare)
  assert.match(JSON.stringify(source.tracing?.()), /trace_block: refuses access \(HTTP 403: not in your plan\)/)

  const locked = await startTracingNode(t)
  let asks = 0
  locked.trouble = calls =>
    /trace/.test(calls[0]!.method) || asks > 0 ? (asks++ < 5 ? { status: 403 } : undefined) : undefined
  const other = tracingSource(t, [locked])
  assert.deepEqual(await rangeOf(other.source, 0, 23), chain)
})

test('trouble while a node is asked for the methods is no answer', async t => {
  const troubles: (NodeError | undefined)[] = [
    undefined,
    new NodeError(-32005, 'daily limit'),
    new NodeError(429, 'slow down'),
  ]
  for (const trouble of troubles) {
    const node = await startTracingNode(t)
    const troubled = firstTimes(3)
    if (trouble === undefined) {
      node.trouble = calls => (calls[0]!.method === 'trace_block' && troubled() ? { status: 502 } : undefined)
    } else node.lie = ({ method }, result) => (method === 'trace_block' && troubled() ? trouble : result)
    const { source } = tracingSource(t, [node])
    assert.deepEqual(await rangeOf(source, 0, 23), chain, trouble?.message)
    assert.deepEqual(source.tracing?.(), { method: 'trace_block' })
  }
  // What goes wrong in a method that is there tells that it is there.
  for (const error of [
    new NodeError(-32000, 'genesis is not traceable'),
    new NodeError(-32603, 'method handler crashed'),
    new NodeError(-32000, 'required historical state unavailable'),
    new NodeError(-32001, 'Block 0 could not be found'),
  ]) {
    const node = await startTracingNode(t)
    node.lie = ({ method, params }, result) => (method === 'trace_block' && params[0] === '0x0' ? error : result)
    const { source } = tracingSource(t, [node])
    assert.deepEqual(await rangeOf(source, 0, 23), chain, error.message)
    assert.deepEqual(source.tracing?.(), { method: 'trace_block' })
  }
})

test('every lie about traces is asked again until it is true, and shows in the status', async t => {
  const other = traced(24, 'other')
  const lies: [string, (result: unknown[]) => unknown, RegExp, RegExp][] = [
    ['none', () => [], /^block 7 has no traces of transaction 0/, /^block 7 has 2 transactions but 0 call trees$/],
    [
      'half',
      all => all.slice(0, all.length >> 1),
      /^block 7 has no traces of transaction 1/,
      /^block 7 has 2 transactions but 1 call trees$/,
    ],
    [
      "another block's",
      all => ('txHash' in (all[0] as object) ? callTrees(chain[8]!, chain[8]!.traces!) : chain[8]!.traces),
      /^block 7 0x\w+: trace 0 is of block 8 0x\w+, not of this one$/,
      /^block 7: call tree 0 is of transaction 0x\w+, not 0x\w+$/,
    ],
    [
      "another branch's",
      all => ('txHash' in (all[0] as object) ? callTrees(other[7]!, other[7]!.traces!) : other[7]!.traces),
      /^block 7 0x\w+: trace 0 is of block 7 0x\w+, not of this one$/,
      /^block 7: call tree 0 is of transaction 0x\w+, not 0x\w+$/,
    ],
    [
      'an error',
      () => new NodeError(-32000, 'went wrong'),
      /^traces of block 7: went wrong \(-32000\)$/,
      /^traces of block 7: went wrong \(-32000\)$/,
    ],
  ]
  for (const method of METHODS) {
    for (const [name, lie, ...messages] of lies) {
      const node = await startTracingNode(t, [method])
      const telling = firstTimes(3)
      node.lie = (call, result) =>
        call.method === method && call.params[0] === '0x7' && telling() ? lie(result as unknown[]) : result
      const { source } = tracingSource(t, [node])
      assert.deepEqual(await rangeOf(source, 2, 19), chain.slice(2, 20), `${name} ${method}`)
      const [status] = source.endpoints()
      assert.match(status!.lastError ?? '', messages[METHODS.indexOf(method)]!, `${name} ${method}`)
      assert.equal(status!.errors, 3, `${name} ${method}`)
      assert.deepEqual(source.tracing?.(), { method })
    }
  }
})

test('traces that a node does not have are missed with their block, which is no fault of the node', async t => {
  const gone = new NodeError(-32000, 'required historical state unavailable (reexec=128)')
  for (const method of METHODS)
    for (const answer of [null, gone, new NodeError(-32000, 'header not found')]) {
      const node = await startTracingNode(t, [method])
      node.lie = (call, result) => (call.method === method && call.params[0] === '0x7' ? answer : result)
      const { source } = tracingSource(t, [node])
      const hint =
        answer === gone ? / \(the node seems not to keep states of that age: use an archive node, / : /traces/
      await assert.rejects(rangeOf(source, 2, 19), error => {
        const { code, details, message } = error as ChainsieveError
        assert.deepEqual([code, details], ['block_missing', { block: 7 }])
        assert.match(message, hint)
        return true
      })
      const [{ lastError, errors, failingSince }] = source.endpoints() as [EndpointStatus]
      assert.deepEqual([lastError, errors, failingSince], [null, 0, undefined])
    }
})

test('a method that a gateway only seems to have, as it says of old blocks that they are pruned, is not taken', async t => {
  const node = await startTracingNode(t, ['debug_traceBlockByNumber'])
  const lacks = node.missing.get('trace_block')!
  node.missing.delete('trace_block')
  node.methods.set('trace_block', ([tag]) => {
    throw Number(tag) < 5 ? new NodeError(4444, 'pruned history unavailable') : lacks
  })
  const { source } = tracingSource(t, [node])
  assert.deepEqual(await rangeOf(source, 5, 23), chain.slice(5))
  assert.deepEqual([source.tracing?.(), source.endpoints()[0]!.errors], [{ method: 'debug_traceBlockByNumber' }, 0])
})

test('only the node that has traces is asked for blocks, whichever place it has', async t => {
  for (const at of [0, 1]) {
    const without = await startTracingNode(t, [])
    const having = await startTracingNode(t, ['debug_traceBlockByNumber'])
    const { source, lines } = tracingSource(t, at === 0 ? [having, without] : [without, having])
    assert.deepEqual(await rangeOf(source, 0, 23), chain)
    assert.deepEqual(source.tracing?.(), { method: 'debug_traceBlockByNumber' })
    assert.equal(asked(without).eth_getBlockByNumber, undefined)
    assert.ok((asked(without).trace_block ?? 0) <= 1)
    assert.equal(lines.length, 1)
    assert.deepEqual(
      source.endpoints().map(it => it.errors),
      [0, 0],
    )
  }
})

test('a run that does not link is read again with its traces', async t => {
  const without = await startTracingNode(t, [])
  const having = await startTracingNode(t)
  const telling = firstTimes(2)
  having.lie = ({ method, params }, result) =>
    method === 'eth_getBlockByNumber' && params[0] === '0x9' && telling()
      ? Object.assign(result as object, { parentHash: `0x${'34'.repeat(32)}` })
      : result
  assert.deepEqual(await rangeOf(tracingSource(t, [without, having]).source, 0, 23), chain)
})

test('while the node that has traces is away, blocks wait for it', async t => {
  const without = await startTracingNode(t, [])
  const having = await startTracingNode(t)
  const { source, lines } = tracingSource(t, [having, without], { clock: fastClock(100) })
  assert.deepEqual(await rangeOf(source, 0, 9), chain.slice(0, 10))
  await having.stop()
  let isDone = false
  const rest = rangeOf(source, 10, 19).finally(() => {
    isDone = true
  })
  await new Promise(resolve => setTimeout(resolve, 700))
  assert.equal(isDone, false)
  assert.match(source.endpoints()[0]!.lastError!, /ECONNREFUSED|other side closed/)
  await having.start()
  assert.deepEqual(await rest, chain.slice(10, 20))
  assert.equal(lines.filter(it => it.includes('without traces')).length, 0)
})

test('a node that never came is waited for a while, and taken up when it comes', async t => {
  const without = await startTracingNode(t, [])
  const dead = await startTracingNode(t)
  await dead.stop()
  const { source, lines } = tracingSource(t, [dead, without], { clock: fastClock(400) })
  assert.deepEqual(await rangeOf(source, 0, 9), bare.slice(0, 10))
  assert.equal(source.tracing?.()?.method, null)
  await dead.start()
  const end = Date.now() + 120_000
  let blocks: RawBlock[] = []
  while (blocks[0]?.traces === undefined) {
    assert.ok(Date.now() < end, JSON.stringify(source.endpoints()))
    await new Promise(resolve => setTimeout(resolve, 10))
    blocks = await rangeOf(source, 10, 12)
  }
  assert.deepEqual(blocks, chain.slice(10, 13))
  assert.deepEqual(source.tracing?.(), { method: 'trace_block' })
  assert.ok(lines.some(it => it.includes('Reads traces from the node')))
})

test('a node that comes back with other methods is asked again', async t => {
  const node = await startTracingNode(t, [])
  const { source, lines } = tracingSource(t, [node], { clock: fastClock(100) })
  assert.deepEqual(await rangeOf(source, 0, 4), bare.slice(0, 5))
  const restart = async (change: () => void) => {
    await node.stop()
    change()
    await assert.rejects(source.head(AbortSignal.timeout(150)))
    await node.start()
  }
  await restart(() => node.missing.delete('debug_traceBlockByNumber'))
  assert.deepEqual(await rangeOf(source, 5, 9), chain.slice(5, 10))
  assert.deepEqual(source.tracing?.(), { method: 'debug_traceBlockByNumber' })
  await restart(() => {
    node.missing.clear()
    node.missing.set('debug_traceBlockByNumber', new NodeError(-32601, 'Method not found'))
  })
  assert.deepEqual(await rangeOf(source, 10, 14), chain.slice(10, 15))
  assert.deepEqual(source.tracing?.(), { method: 'trace_block' })

  // Behind a gateway nothing shows of a restart but the answer itself.
  node.missing.set('trace_block', new NodeError(-32601, 'Method not found'))
  assert.deepEqual(await rangeOf(source, 15, 19), bare.slice(15, 20))
  assert.equal(source.tracing?.()?.method, null)
  assert.deepEqual(
    lines.flatMap(
      it => /(Reads traces.*method=\w+|Continues without traces)/.exec(it)?.[0].replace(/ endpoint=\S+/, '') ?? [],
    ),
    [
      'Continues without traces',
      'Reads traces from the node method=debug_traceBlockByNumber',
      'Reads traces from the node method=trace_block',
      'Continues without traces',
    ],
  )
})

test('following brings traces too, through a reorganisation', async t => {
  const node = await startTracingNode(t, ['debug_traceBlockByNumber'])
  const controller = new AbortController()
  const { source } = tracingSource(t, [node], { pollMs: 100 })
  const held: RawBlock[] = []
  const branch = traced(4, 'branch', chain[20])
  const follow = source.follow({
    from: 15,
    tip: undefined,
    finality: 12,
    signal: controller.signal,
    stored: number => held[number] && { number, hash: held[number].block.hash },
  })
  for await (const event of follow) {
    if (event.type === 'rollback') held.length = event.to + 1
    else held[Number(event.block.block.number)] = event.block
    if (held.at(-1)?.block.hash === chain.at(-1)!.block.hash) node.extend(branch)
    if (held.at(-1)?.block.hash === branch.at(-1)!.block.hash) break
  }
  controller.abort()
  assert.deepEqual(held.slice(15), [...chain.slice(15, 21), ...branch])
})

test('an abort while a node is asked for its methods ends the work, and another can ask', async t => {
  const node = await startTracingNode(t)
  const hanging = firstTimes(1)
  node.trouble = calls => (calls[0]!.method === 'trace_block' && hanging() ? 'hang' : undefined)
  const { source } = tracingSource(t, [node], { timeoutMs: 5_000 })
  const controller = new AbortController()
  const first = (async () => {
    for await (const _ of source.range({ from: 0, to: 3, order: 'oldest', run: 8, signal: controller.signal }));
  })()
  await new Promise(resolve => setTimeout(resolve, 100))
  const second = rangeOf(source, 0, 9)
  await new Promise(resolve => setTimeout(resolve, 50))
  controller.abort()
  await assert.rejects(first, { name: 'AbortError' })
  assert.deepEqual(await second, chain.slice(0, 10))
})
