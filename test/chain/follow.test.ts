import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createHeads } from '../../src/chain/blocks/head-watcher.ts'
import { createHeadBudget } from '../../src/chain/budget/head-budget.ts'
import type { Rpc } from '../../src/chain/rpc/rpc.ts'
import { createRpcSource, type RpcSourceOptions } from '../../src/chain/rpc-source.ts'
import type { BlockRef, ChainEvent, FollowOptions } from '../../src/chain/source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { silent } from '../../src/lib/log.ts'
import { until } from '../support/indexing.ts'
import { type FakeNode, fastClock, firstTimes, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const trunk = makeChain({ from: 0, blocks: 20 })
const ref = (raw: RawBlock): BlockRef => ({ number: Number(raw.block.number), hash: raw.block.hash })

/** A store that applies what a source tells, and remembers it in short: `5`, `5'` for a block that is not of the trunk, `back to 4`. */
const startFollower = (
  t: TestContext,
  nodes: FakeNode | FakeNode[],
  {
    held = [] as readonly RawBlock[],
    ...options
  }: Partial<RpcSourceOptions & FollowOptions> & { held?: readonly RawBlock[] } = {},
) => {
  const source = createRpcSource({
    urls: (Array.isArray(nodes) ? nodes : [nodes]).map(it => it.url),
    clock: fastClock(50),
    ...options,
  })
  const controller = new AbortController()
  const stored = new Map(held.map(it => [Number(it.block.number), it]))
  const told: string[] = []
  const apply = (event: ChainEvent) => {
    if (event.type === 'rollback') {
      for (const number of stored.keys()) if (number > event.to) stored.delete(number)
      told.push(`back to ${event.to}`)
    } else {
      const { number } = ref(event.block)
      stored.set(number, event.block)
      told.push(`${number}${trunk[number]?.block.hash === event.block.block.hash ? '' : "'"}`)
    }
  }
  const follow: FollowOptions = {
    from: 0,
    stored: number => (stored.has(number) ? ref(stored.get(number)!) : undefined),
    tip: held.length > 0 ? ref(held.at(-1)!) : undefined,
    finality: 64,
    ...options,
    signal: controller.signal,
  }
  let ended: unknown
  const done = (async () => {
    for await (const event of source.follow(follow)) apply(event)
  })().catch(error => {
    ended = error
  })
  const stop = async () => {
    controller.abort()
    await done
    await source.close()
  }
  t.after(stop)
  return {
    source,
    told,
    stop,
    done,
    get ended() {
      return ended
    },
    /** What was told since the last call, once the newest block is this one. */
    async until(block: RawBlock): Promise<string> {
      const { number, hash } = ref(block)
      const isThere = () => Math.max(...stored.keys()) === number && stored.get(number)!.block.hash === hash
      await waitFor(() => isThere() || ended !== undefined, `block ${number}`)
      if (ended !== undefined) throw ended
      return told.splice(0).join(' ')
    },
    error: () => source.endpoints()[0]!.lastError,
  }
}

const waitFor = (isTrue: () => boolean, what: string) => until(isTrue, () => what)

test('from the first block that is wanted on, and then block by block', async t => {
  const node = await startNode(t, trunk.slice(0, 10))
  const follower = startFollower(t, node, { from: 3 })
  assert.equal(await follower.until(trunk[9]!), '3 4 5 6 7 8 9')
  node.extend(trunk.slice(10, 11))
  assert.equal(await follower.until(trunk[10]!), '10')
  node.extend(trunk.slice(11, 14))
  assert.equal(await follower.until(trunk[13]!), '11 12 13')
})

test('from the stored tip on; a chain that has not reached the first block yet is waited for', async t => {
  const node = await startNode(t, trunk.slice(0, 10))
  const follower = startFollower(t, node, { held: trunk.slice(2, 6) })
  assert.equal(await follower.until(trunk[9]!), '6 7 8 9')
  const early = startFollower(t, node, { from: 12 })
  await pause(50)
  assert.deepEqual(early.told, [])
  node.extend(trunk.slice(10, 14))
  assert.equal(await early.until(trunk[13]!), '12 13')
})

test('reorganisations of every depth, to longer branches and to ones of the same height', async t => {
  for (const depth of [1, 2, 7, 8, 9, 17]) {
    for (const longer of [0, 1, 3]) {
      const node = await startNode(t, trunk)
      const follower = startFollower(t, node, { held: trunk.slice(0, 20) })
      const branch = makeChain({ parent: trunk[19 - depth]!, blocks: depth + longer, salt: 'branch' })
      node.extend(branch)
      const expected = [`back to ${19 - depth}`, ...branch.map(it => `${ref(it).number}'`)].join(' ')
      assert.equal(await follower.until(branch.at(-1)!), expected, `depth ${depth}, ${longer} longer`)
      await follower.stop()
    }
  }
})

test('a chain that changes its mind again and again', async t => {
  const node = await startNode(t, trunk)
  const follower = startFollower(t, node, { held: trunk })
  const one = makeChain({ parent: trunk[16]!, blocks: 4, salt: 'one' })
  const two = makeChain({ parent: one[1]!, blocks: 3, salt: 'two' })
  node.extend(one)
  assert.equal(await follower.until(one.at(-1)!), "back to 16 17' 18' 19' 20'")
  node.extend(two)
  assert.equal(await follower.until(two.at(-1)!), "back to 18 19' 20' 21'")
  node.extend([...trunk.slice(17), ...makeChain({ parent: trunk[19]!, blocks: 5 })])
  assert.equal(await follower.until(node.blocks.get(24)!), "back to 16 17 18 19 20' 21' 22' 23' 24'")
})

test('a reorganisation below everything that is held starts again at its first block', async t => {
  const node = await startNode(t, trunk)
  const branch = makeChain({ parent: trunk[9]!, blocks: 12, salt: 'branch' })
  node.extend(branch)
  const follower = startFollower(t, node, { held: trunk.slice(15, 20), from: 0 })
  assert.equal(await follower.until(branch.at(-1)!), "back to 14 15' 16' 17' 18' 19' 20' 21'")
})

test('blocks that a node has reported as finalized are never left', async t => {
  for (const { depth, finalized, follows } of [
    { depth: 4, finalized: 15, follows: true },
    { depth: 5, finalized: 15, follows: false },
    { depth: 12, finalized: 15, follows: false },
  ]) {
    const node = await startNode(t, trunk)
    const follower = startFollower(t, node, { held: trunk, finality: 30, finalized: () => finalized })
    const branch = makeChain({ parent: trunk[19 - depth]!, blocks: depth + 2, salt: 'branch' })
    node.extend(branch)
    if (follows) await follower.until(branch.at(-1)!)
    else {
      await follower.done
      assert.equal((follower.ended as { code: string }).code, 'reorg_below_finalized')
      assert.match(String(follower.ended), /up to block 19 \(0x.*\), below block 15, although a node had reported/)
      assert.deepEqual(follower.told, [])
    }
  }
})

test('down to the finalized block reorganisations are followed however deep, and by depth while none is known', async t => {
  const follow = async (depth: number, finalized: number | undefined) => {
    const node = await startNode(t, trunk)
    const options = { held: trunk, finality: 5, finalized: () => finalized, toFinalized: true }
    const follower = startFollower(t, node, options)
    const branch = makeChain({ parent: trunk[19 - depth]!, blocks: depth + 2, salt: 'branch' })
    node.extend(branch)
    await Promise.race([follower.done, follower.until(branch.at(-1)!).catch(() => {})])
    return (follower.ended as { code?: string } | undefined)?.code ?? 'followed'
  }
  assert.equal(await follow(14, 5), 'followed')
  assert.equal(await follow(15, 5), 'reorg_below_finalized')
  assert.equal(await follow(5, undefined), 'followed')
  assert.equal(await follow(6, undefined), 'reorg_too_deep')
})

test('a reorganisation as deep as finality is followed, a deeper one stops with a clear error', async t => {
  const follow = async (depth: number) => {
    const node = await startNode(t, trunk)
    const branch = makeChain({ parent: trunk[19 - depth]!, blocks: depth + 1, salt: 'branch' })
    node.extend(branch)
    const follower = startFollower(t, node, { held: trunk, finality: 5 })
    return follower.until(branch.at(-1)!)
  }
  assert.equal(await follow(5), "back to 14 15' 16' 17' 18' 19' 20'")
  await assert.rejects(follow(6), {
    next: 'stop',
    code: 'reorg_too_deep',
    message: new RegExp(
      `^the node's chain leaves the stored one more than 5 blocks below block 19 \\(${trunk[19]!.block.hash}\\), which is deeper than this finality\\. If the node is right`,
    ),
  })
})

test('another chain with the same numbers stops, genesis included', async t => {
  const node = await startNode(t, makeChain({ blocks: 20, salt: 'another' }))
  const follower = startFollower(t, node, { held: trunk.slice(0, 10) })
  await assert.rejects(follower.until(trunk[0]!), { next: 'stop', code: 'reorg_too_deep' })
})

test('an older head of the same branch is waited for: nothing is rewound', async t => {
  const node = await startNode(t, trunk)
  const follower = startFollower(t, node, { held: trunk })
  node.head = 12
  await waitFor(() => follower.source.endpoints()[0]!.errors > 2, 'errors')
  assert.equal(follower.error(), 'its head is block 12, but block 19 is already known: the node lags')
  node.extend([...trunk.slice(11), ...makeChain({ parent: trunk[19]!, blocks: 1 })])
  assert.equal(await follower.until(node.blocks.get(20)!), "20'")
})

test('a node that is behind is asked at least each second, so that its next block comes at once', async t => {
  const node = await startNode(t, trunk)
  node.head = 12
  const clock = fastClock(50)
  const sleeps: number[] = []
  const sleep: typeof clock.sleep = (ms, signal) => {
    sleeps.push(ms)
    return clock.sleep(ms, signal)
  }
  const follower = startFollower(t, node, { held: trunk, clock: { ...clock, sleep }, random: () => 1 })
  await waitFor(() => sleeps.length > 30, 'polls')
  // Other nodes are asked every ten seconds.
  assert.deepEqual([sleeps.filter(ms => ms > 2_000 && ms < 9_000), follower.told], [[], []])
})

test('an older head of another branch is believed where the only node tells it poll after poll', async t => {
  const branch = makeChain({ parent: trunk[10]!, blocks: 5, salt: 'restored' })
  const node = await startNode(t, trunk)
  const follower = startFollower(t, node, { held: trunk })
  node.extend(branch)
  assert.equal(await follower.until(branch.at(-1)!), "back to 10 11' 12' 13' 14' 15'")
  assert.equal(follower.source.highest!(), 15)
})

test('an older head of another branch is not believed at once, and not while another node has ours', async t => {
  const stale = makeChain({ parent: trunk[10]!, blocks: 5, salt: 'stale' })
  const next = makeChain({ parent: trunk[19]!, blocks: 1 })
  const node = await startNode(t, trunk)
  let lies = 0
  node.lie = ({ params }, it) => (params[0] === 'latest' && lies < 4 && ++lies ? stale[4]!.block : it)
  const once = startFollower(t, node, { held: trunk })
  await waitFor(() => lies === 4, 'the lies')
  node.extend(next)
  assert.equal(await once.until(next[0]!), "20'")

  const other = await startNode(t, trunk)
  const short = await startNode(t, [...trunk.slice(0, 11), ...stale])
  const follower = startFollower(t, [short, other], { held: trunk })
  await pause(600)
  assert.deepEqual(follower.told, [])
  assert.equal(follower.source.highest!(), 19)
  other.extend(next)
  assert.equal(await follower.until(next[0]!), "20'")
})

test('what nodes that are not followed tell is known: how far they are, and that one is on another branch', async t => {
  const branch = makeChain({ parent: trunk[10]!, blocks: 12, salt: 'branch' })
  const nodes = [await startNode(t, trunk), await startNode(t, trunk.slice(0, 15)), await startNode(t, trunk)] as const
  const follower = startFollower(t, [...nodes], { held: trunk.slice(0, 19) })
  await follower.until(trunk[19]!)
  const status = (i: number) => follower.source.endpoints()[i]!
  await waitFor(() => status(1).head === 14 && status(2).head === 19, 'the heads of all nodes')
  nodes[2].extend(branch)
  await waitFor(() => status(2).otherBranch !== undefined, 'another branch')
  const { since, ...block } = status(2).otherBranch!
  assert.deepEqual(block, ref(branch[5]!))
  assert.ok(Date.parse(since))
  assert.deepEqual(
    [status(0).otherBranch, status(1).otherBranch, follower.source.highest!()],
    [undefined, undefined, 22],
  )
  assert.deepEqual(follower.told, [])
  nodes[2].extend(trunk)
  await waitFor(() => status(2).otherBranch === undefined, 'the same branch')
})

test('the newest block that nodes tell is known while none of its blocks can be stored', async t => {
  const more = makeChain({ parent: trunk[19]!, blocks: 40 })
  const node = await startNode(t, trunk)
  const follower = startFollower(t, node, { held: trunk })
  node.lie = ({ method }, it) => (method === 'eth_getBlockReceipts' ? [] : it)
  for (const upTo of [10, 40]) {
    node.extend(more.slice(0, upTo))
    await waitFor(() => follower.source.highest!() === 19 + upTo, 'the head')
  }
  assert.deepEqual(follower.told, [])
})

test('a second node stands in for one that lags', async t => {
  const next = makeChain({ parent: trunk[19]!, blocks: 2 })
  const lagging = await startNode(t, trunk.slice(0, 15))
  const second = await startNode(t, [...trunk, ...next])
  const follower = startFollower(t, [lagging, second], { held: trunk })
  assert.equal(await follower.until(next[1]!), "20' 21'")
  assert.match(follower.error()!, /the node lags$|does not have it/)
})

test('a development chain that was cut back is cut back, where that is allowed', async t => {
  const node = await startNode(t, trunk)
  const follower = startFollower(t, node, { held: trunk, shrinks: true })
  node.head = 12
  await waitFor(() => follower.told.length > 0, 'a rollback')
  assert.deepEqual(follower.told, ['back to 12'])
  node.extend(makeChain({ parent: trunk[10]!, blocks: 1, salt: 'reverted' }))
  assert.equal(await follower.until(node.blocks.get(11)!), "back to 12 back to 10 11'")
})

test('a development chain that was begun anew is taken from its first block on, whether it is shorter by then or longer', async t => {
  for (const blocks of [3, 20, 30]) {
    const node = await startNode(t, trunk)
    const follower = startFollower(t, node, { held: trunk, finality: 100, shrinks: true })
    node.blocks.clear()
    const anew = makeChain({ from: 0, blocks, salt: 'anew' })
    node.extend(anew)
    node.head = blocks - 1
    const told = anew.map(({ block }) => `${Number(block.number)}'`).join(' ')
    assert.equal(await follower.until(anew.at(-1)!), `back to -1 ${told}`)
    await follower.stop()
  }
})

test('every lie at the head is asked again until it is true, and rewinds nothing', async t => {
  const other = makeChain({ from: 0, blocks: 21, salt: 'other' })
  const next = makeChain({ parent: trunk[19]!, blocks: 1 })[0]!
  const ofReceipts =
    (lied: unknown): FakeNode['lie'] =>
    ({ method }, it) =>
      method === 'eth_getBlockReceipts' ? lied : it
  const ofLatest =
    (lied: unknown): FakeNode['lie'] =>
    ({ params }, it) =>
      params[0] === 'latest' ? lied : it
  const lies: [RegExp, FakeNode['lie']][] = [
    [
      /does not have it/,
      ({ method, params }, it) => (method === 'eth_getBlockByNumber' && params[1] === true ? null : it),
    ],
    [/does not have them \(null\)/, ofReceipts(null)],
    [/receipt 0 is of block/, ofReceipts(other[20]!.receipts)],
    [
      /^block 20 0x\w+ ?names|names 0x\w+ as its parent, but the node's block 19 is/,
      ({ method, params }, it) =>
        method === 'eth_getBlockByNumber' && Number(params[0]) === 20
          ? Object.assign(it as object, { parentHash: other[19]!.block.hash })
          : it,
    ],
    [/the latest block: the node does not have it/, ofLatest(null)],
    [/header not found/, ofReceipts(new NodeError(-32000, 'header not found'))],
    // A sibling of our tip, once.
    [/^$/, ofLatest(other[19]!.block)],
  ]
  for (const [message, lie] of lies) {
    const node = await startNode(t, [...trunk, next])
    const telling = firstTimes(3)
    node.lie = (call, result) => {
      const lied = lie(call, structuredClone(result))
      return JSON.stringify(lied) !== JSON.stringify(result) && telling() ? lied : result
    }
    const follower = startFollower(t, node, { held: trunk })
    assert.equal(await follower.until(next), "20'", `${message}`)
    assert.match(follower.error() ?? '', message)
    await follower.stop()
  }
})

test('new heads by WebSocket: announced blocks come without polling', async t => {
  const node = await startNode(t, trunk.slice(0, 10))
  const follower = startFollower(t, node, { wsUrl: node.wsUrl, clock: fastClock(1), pollMs: 60_000 })
  assert.equal(await follower.until(trunk[9]!), '0 1 2 3 4 5 6 7 8 9')
  await waitFor(() => node.subscribers === 1, 'a subscription')
  for (let number = 10; number < 15; number++) {
    node.extend([trunk[number]!])
    node.announce()
    assert.equal(await follower.until(trunk[number]!), `${number}`)
  }
  const branch = makeChain({ parent: trunk[12]!, blocks: 3, salt: 'branch' })
  node.extend(branch)
  for (const block of branch) node.announce(block)
  assert.equal(await follower.until(branch[2]!), "back to 12 13' 14' 15'")
  await follower.stop()
  await waitFor(() => node.subscribers === 0, 'the end of the subscription')
})

test('a block that was announced but is not there yet is waited for', async t => {
  const node = await startNode(t, trunk.slice(0, 10))
  const follower = startFollower(t, node, { wsUrl: node.wsUrl, pollMs: 1_000_000 })
  await follower.until(trunk[9]!)
  await waitFor(() => node.subscribers === 1, 'a subscription')
  node.announce(trunk[10]!)
  await waitFor(() => follower.error() !== null, 'an error')
  assert.equal(follower.error(), 'block 10: the node does not have it (null)')
  node.extend([trunk[10]!])
  assert.equal(await follower.until(trunk[10]!), '10')
})

test('a subscription that is lost, refused, silent or babbles: polls stand in, and it comes back', async t => {
  const node = await startNode(t, trunk.slice(0, 10))
  const follower = startFollower(t, node, { wsUrl: node.wsUrl })
  const ws = () => follower.source.endpoints()[1]!
  await follower.until(trunk[9]!)
  await waitFor(() => node.subscribers === 1, 'a subscription')

  node.dropSubscribers()
  node.extend([trunk[10]!])
  assert.equal(await follower.until(trunk[10]!), '10')
  await waitFor(() => node.subscribers === 1, 'another subscription')
  assert.match(ws().lastError!, /closed|no connection/)

  // Silent: the chain moves, but nothing is announced.
  node.extend([trunk[11]!])
  assert.equal(await follower.until(trunk[11]!), '11')
  await pause(300)
  node.extend([trunk[12]!])
  assert.equal(await follower.until(trunk[12]!), '12')
  await waitFor(() => /silent/.test(ws().lastError!), 'a silent subscription to be given up')
  await waitFor(() => node.subscribers === 1, 'another subscription')

  node.announce({ number: 12, hash: 'nonsense', parentHash: '' })
  await waitFor(() => /malformed hash/.test(ws().lastError!), 'a wrong announcement to be noticed')

  node.missing.set('eth_subscribe', new NodeError(-32601, 'notifications not supported'))
  node.dropSubscribers()
  await waitFor(() => /refuses/.test(ws().lastError!), 'a refusal')
  assert.equal(ws().lastError, 'the node refuses the subscription: notifications not supported')
  node.extend([trunk[13]!])
  assert.equal(await follower.until(trunk[13]!), '13')
})

test('the whole node goes away and comes back with another branch', async t => {
  const node = await startNode(t, trunk)
  const follower = startFollower(t, node, { held: trunk, wsUrl: node.wsUrl })
  await waitFor(() => node.subscribers === 1, 'a subscription')
  await node.stop()
  await waitFor(() => follower.error() !== null, 'an error')
  const branch = makeChain({ parent: trunk[17]!, blocks: 4, salt: 'branch' })
  node.extend(branch)
  await node.start()
  assert.equal(await follower.until(branch[3]!), "back to 17 18' 19' 20' 21'")
})

test('a store that is behind with its writing does not confuse the walk back', async t => {
  const node = await startNode(t, trunk.slice(0, 5))
  const follower = startFollower(t, node, { stored: () => undefined })
  await follower.until(trunk[4]!)
  const branch = makeChain({ parent: trunk[2]!, blocks: 3, salt: 'branch' })
  node.extend(branch)
  assert.equal(await follower.until(branch[2]!), "back to 2 3' 4' 5'")
})

test('a reorganisation near the first block that is held asks for none below it: a node may have forgotten those', async t => {
  const node = await startNode(t, trunk.slice(10, 16))
  for (const [kept, expected] of [
    [12, "back to 12 13' 14' 15' 16'"],
    [10, "back to 10 11' 12' 13' 14' 15' 16'"],
    [9, "back to 9 10' 11' 12' 13' 14' 15' 16'"],
  ] as const) {
    const branch = makeChain({ parent: trunk[kept]!, blocks: 16 - kept, salt: `after ${kept}` })
    node.blocks = new Map(trunk.slice(10, kept + 1).map(raw => [Number(raw.block.number), raw]))
    node.extend(branch)
    const follower = startFollower(t, node, { held: trunk.slice(10, 16) })
    assert.equal(await follower.until(branch.at(-1)!), expected)
    assert.equal(follower.error(), null)
    await follower.stop()
  }
})

test('a head is believed of a node that can show it: one that makes heads up leads nobody', async t => {
  const liar = await startNode(t, trunk.slice(0, 10))
  const honest = await startNode(t, trunk.slice(0, 10))
  liar.lie = ({ method, params }, result) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest'
      ? { ...(result as object), number: '0x7fffffff' }
      : result
  const source = createRpcSource({ urls: [liar.url, honest.url], clock: fastClock(50) })
  t.after(() => source.close())
  assert.equal(await source.head(AbortSignal.timeout(5_000)), 9)

  const follower = startFollower(t, [liar, honest], { from: 3, wsUrl: liar.wsUrl })
  assert.equal(await follower.until(trunk[9]!), '3 4 5 6 7 8 9')
  for (const raw of trunk.slice(10, 14)) {
    liar.extend([raw])
    honest.extend([raw])
    liar.announce({ number: 0x7fffffff, hash: raw.block.hash, parentHash: raw.block.parentHash })
    assert.equal(await follower.until(raw), String(Number(raw.block.number)))
  }
  const asked = [...liar.calls, ...honest.calls]
    .filter(({ params }) => params[1] === true)
    .map(it => Number(it.params[0]))
  assert.ok(Math.max(...asked) < 100, `${Math.max(...asked)}`)
})

test('a node that announces nonsense is asked again ever more rarely, and polled meanwhile', async t => {
  const node = await startNode(t, trunk.slice(0, 10))
  const nonsense = setInterval(() => node.announce({ number: 12, hash: 'nonsense', parentHash: '' }), 2)
  t.after(async () => clearInterval(nonsense))
  const follower = startFollower(t, node, { wsUrl: node.wsUrl, random: () => 0.5 })
  await follower.until(trunk[9]!)
  await pause(1_000)
  const requests = () => follower.source.endpoints()[1]!.requests
  await waitFor(() => requests() >= 3, 'three connections')
  node.extend(trunk.slice(10, 12))
  assert.equal(await follower.until(trunk[11]!), '10 11')
  assert.ok(requests() <= 15, `${requests()} connections in 50 seconds`)
})

/** Most blocks that one poll found, in each quarter of the time that so many blocks take, and how many polls there were. */
const follow = async (blockMs: number, blocks: number, isSparing = false) => {
  const clock = createVirtualClock()
  const start = clock.now()
  let polls = 0
  const chainHead = () => Math.floor((clock.now() - start) / blockMs)
  const rpc = {
    endpoints: [{ name: 'node' }],
    isSparing,
    async attempt() {
      polls++
      return { number: chainHead(), hash: '', parentHash: '' }
    },
  } as unknown as Rpc
  const heads = createHeads({ rpc, budget: createHeadBudget([], clock, silent), clock })
  const controller = new AbortController()
  const { signal } = controller
  const most = [0, 0, 0, 0]
  const following = (async () => {
    for (let found = 0; ; ) {
      const head = await heads.next(signal)
      const quarter = Math.min(3, Math.floor((4 * chainHead()) / blocks))
      most[quarter] = Math.max(most[quarter]!, head!.number - found)
      found = head!.number
    }
  })().catch(error => signal.aborted || assert.fail(error))
  await clock.run(blocks * blockMs - 1)
  controller.abort()
  await following
  return { most, polls }
}
test('polls find the pace of a chain by themselves: after a few blocks, each block is found by itself', async () => {
  assert.deepEqual((await follow(200, 40)).most, [5, 1, 1, 1])
  assert.deepEqual((await follow(2_000, 40)).most, [1, 1, 1, 1])
  assert.deepEqual((await follow(12_000, 40)).most, [1, 1, 1, 1])
})
test('the head is polled as before when the clock is set back or ahead', async () => {
  const clock = createVirtualClock()
  const controller = new AbortController()
  const { signal } = controller
  const polls: number[] = []
  const rpc = {
    endpoints: [{ name: 'node' }],
    async attempt() {
      polls.push(clock.elapsed())
      return { number: Math.floor(clock.elapsed() / 12_000), hash: '', parentHash: '' }
    },
  } as unknown as Rpc
  const heads = createHeads({ rpc, budget: createHeadBudget([], clock, silent), clock })
  const following = (async () => {
    for (;;) await heads.next(signal)
  })().catch(error => signal.aborted || assert.fail(error))
  await clock.run(120_000)
  for (const minutes of [-1, -60, -1_440, 60, 1_440, -1_440]) {
    clock.step(minutes * 60_000)
    await clock.run(60_000)
  }
  controller.abort()
  await following
  const waits = [...polls.slice(1), clock.elapsed()].map((at, i) => at - polls[i]!)
  assert.ok(Math.max(...waits) <= 2_000, `${Math.max(...waits)} ms between two polls`)
  assert.ok(waits.length <= 600, `${waits.length} polls`)
})
test('where questions count, the head is polled once a block is due, and not six times a block', async () => {
  const [counted, free] = [await follow(12_000, 16, true), await follow(12_000, 16)]
  assert.deepEqual([counted.most, counted.polls, free.polls], [[1, 1, 1, 1], 47, 118])
})
