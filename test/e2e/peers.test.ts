import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeAbiParameters, type Hex } from 'viem'
import type { RawBlock, RpcLog } from '../../src/chain/wire.ts'
import { parseSignature, topicOf } from '../../src/decode/signature.ts'
import { type FakeNode, NodeError, startNode } from '../support/node.ts'
import { bloomOf, makeChain } from '../support/pack.ts'
import { type Behaviour, type Receiver, startReceiver } from '../support/receiver.ts'
import { after, pause, type Server, serve, succeed, tempFolder, until, untilIs, writePack } from './program.ts'

// Where other programs of this kind lose alerts, send them twice, or stop: the same must leave this one as it is.

const NETWORK = 'ethereum/made-up/mainnet'
const FIRST = 100
const ADDRESS = '0x00000000000000000000000000000000000000aa'
const TRANSFER = parseSignature('Transfer(address indexed from, address indexed to, uint256 value)')
const ODD = parseSignature(
  'Odd(uint24 fee, uint96 votes, uint112 reserve, int24 tick, uint160 price, bytes4 selector, bytes20 short, uint8[3] three, string name)',
)

interface Setting {
  chain?: readonly RawBlock[]
  /** Of the settings that a server is started with. */
  args?: readonly string[]
  rules?: readonly object[]
}

/** A server that follows a scripted node, and a receiver of its alerts. */
const setUp = async (t: TestContext, { chain = makeBlocks(3), args = [], rules = [] }: Setting = {}) => {
  const data = tempFolder(t)
  const own = { after: (fn: () => unknown) => after(t, fn) }
  const node = await startNode(own as never, chain)
  // Of tokens that nobody knows.
  node.methods.set('eth_call', () => '0x')
  const receiver = await startReceiver(own)
  const file = join(data, 'odd.json')
  writeFileSync(
    file,
    JSON.stringify([{ type: 'event', name: ODD.name, inputs: ODD.inputs.map(it => ({ ...it, indexed: false })) }]),
  )
  await succeed(t, ['abi', 'add', file], { data })
  const start = () =>
    serve(t, data, [
      ...['--network', NETWORK, '--rpc', node.url, '--from', String(FIRST), '--poll-interval', '20ms'],
      ...['--allow-target', '127.0.0.1/32'],
      ...Array(20).fill(['--delivery-retries', '100ms']).flat(),
      ...args,
    ])
  const server = await start()
  await isStored(server, Number(chain.at(-1)!.block.number))
  const ids: number[] = []
  for (const rule of rules) ids.push(await create(server, receiver, rule))
  let tip = chain.at(-1)!
  const mine = (...blocks: RawBlock[]) => {
    node.extend(blocks)
    tip = blocks.at(-1)!
    return tip
  }
  return {
    data,
    node,
    receiver,
    server,
    start,
    ids,
    mine,
    next: (logs?: LogOf[], salt?: string) => makeNext(tip, logs, salt),
  }
}

/** The chain has others below those that are indexed. */
const BELOW = 20
const makeBlocks = (count: number) => makeChain({ from: FIRST - BELOW, blocks: BELOW + count, txs: 2, logs: 0 })

interface LogOf {
  address?: Hex
  topics: Hex[]
  data: Hex
}

/** The block after another, whose first transaction has these logs. */
const makeNext = (parent: RawBlock, logs: readonly LogOf[] = [], salt = ''): RawBlock => {
  const [block] = makeChain({ blocks: 1, parent, txs: 2, logs: 0, salt }) as [RawBlock]
  const [receipt] = block.receipts
  const { blockHash, blockNumber, transactionHash, transactionIndex } = receipt!
  receipt!.logs = logs.map(
    (log, index): RpcLog => ({
      ...{ blockHash, blockNumber, transactionHash, transactionIndex, address: ADDRESS },
      ...log,
      logIndex: `0x${index.toString(16)}`,
      removed: false,
    }),
  )
  block.block.logsBloom = bloomOf(block.receipts)
  return block
}

const word = (value: bigint | number): Hex => `0x${value.toString(16).padStart(64, '0')}`
const transfer = (value: bigint | number, to = 2): LogOf => ({
  topics: [topicOf(TRANSFER) as Hex, word(1), word(to)],
  data: word(value),
})
const odd = (...values: readonly unknown[]): LogOf => ({
  topics: [topicOf(ODD) as Hex],
  data: encodeAbiParameters(ODD.inputs, values),
})

type Alerts = { type: string; parameters: object; payload?: object[] }[]

const ruleOf = (
  targetType: string,
  targetMap: readonly object[],
  rest: { alerts?: Alerts; maxConfirmationCount?: number; startBlock?: number; name?: string } = {},
) => {
  const { alerts, maxConfirmationCount = 0, startBlock, name = 'a rule' } = rest
  return {
    name,
    maxConfirmationCount,
    technology: 'ethereum',
    blockchain: 'made-up',
    network: 'mainnet',
    ...(startBlock !== undefined && { startBlock }),
    config: { targetType, targetMap, ...(alerts && { alerts }) },
  }
}

/** A condition on an argument. */
const arg = (name: string, operator: string, value: string | string[], rest: object = {}) => ({
  name: 'args',
  operator: 'Inspect',
  operatorParameters: [{ name, operator, value, ...rest }],
})
/** A condition on a part of an argument. */
const part = (name: string, inner: string, operator: string, value: string) => ({
  name: 'args',
  operator: 'Inspect',
  operatorParameters: [{ name, operator: 'Inspect', operatorParameters: [{ name: inner, operator, value }] }],
})
const isNamed = (name: string) => ({ name: 'event', operator: 'Equals', value: name })

let hooks = 0
/** Without alerts of its own a rule calls the receiver, at a path that tells it from others. */
const create = async (server: Server, receiver: Receiver, rule: object): Promise<number> => {
  const { config } = rule as { config: object }
  const alerts = [{ type: 'Webhook (POST)', parameters: { url: `${receiver.url}/${++hooks}` } }]
  const { status, body } = await server.ask<{ id: number }>('/alerting/rules/', {
    ...rule,
    config: { alerts, ...config },
  })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

const change = async (server: Server, id: number, body: object) => {
  const answer = await server.ask(`/alerting/rules/${id}/`, body, 'PUT')
  assert.equal(answer.status, 200, JSON.stringify(answer))
}

interface Listed {
  id: string
  block: number
  blockHash: string
  state: string
  deliveries: { state: string; type: string }[]
}

const alertsOf = async (server: Server, rule: number): Promise<Listed[]> =>
  (await server.ask<{ alerts: Listed[] }>(`/alerting/rules/${rule}/alerts/?size=1000`)).body.alerts.reverse()

const states = async (server: Server, rule: number) =>
  (await alertsOf(server, rule)).map(({ block, state }) => `${block} ${state}`)

const isStored = (server: Server, block: number) =>
  until(
    async () => (await server.status()).networks.find(({ network }) => network === NETWORK)!,
    ({ ranges }) => ranges.at(-1)?.to === block,
    `should be at ${block}`,
  )

const errorOf = async (server: Server): Promise<string | null> =>
  (await server.status()).networks.find(({ network }) => network === NETWORK)!.error

interface Posted {
  id: string
  type: string
  rule: { id: number }
  payload: Record<string, unknown>
}
const posts = ({ calls }: Receiver): Posted[] => calls.map(({ body }) => JSON.parse(body) as Posted)
/** What was told, as `type rule`, each as often as it came. */
const told = (receiver: Receiver) => posts(receiver).map(({ type, rule }) => `${type} ${rule.id}`)

const valueIs = (value: bigint | number | string) => ({ name: 'value', operator: 'Equals', value: String(value) })

const anyBlock = { name: 'number', operator: 'Greater or Equal', value: '0' }

test('an alert whose delivery is under way when the program is killed is delivered after it is started again, under the same id', async t => {
  const { receiver, server, start, mine, next, ids } = await setUp(t, { rules: [ruleOf('Block', [anyBlock])] })
  receiver.behave = (): Behaviour => 'hang'
  mine(next())
  await until(
    () => receiver.calls.length,
    count => count > 0,
  )
  server.signal('SIGKILL')
  await server.ended
  receiver.behave = () => ({ status: 200 })
  const again = await start()
  await until(
    () => alertsOf(again, ids[0]!),
    ([alert]) => alert?.deliveries[0]?.state === 'delivered',
  )
  const [alert, ...others] = await alertsOf(again, ids[0]!)
  assert.deepEqual([alert!.block, others], [103, []])
  assert.deepEqual([...new Set(receiver.calls.map(({ headers }) => headers['webhook-id']))], [alert!.id])
})

test('receipts that cannot be had are never "no match": the block waits, visibly, and its alert comes', async t => {
  const lies: [string, (result: unknown) => unknown][] = [
    ['an error', () => new NodeError(-32000, 'header not found')],
    ['null', () => null],
    ['none of its logs', result => (result as RawBlock['receipts']).map(receipt => ({ ...receipt, logs: [] }))],
    ['fewer than transactions', result => (result as unknown[]).slice(1)],
    ['those of another fork', result => (result as object[]).map(it => ({ ...it, blockHash: word(9) }))],
  ]
  const { node, receiver, server, mine, next, ids } = await setUp(t, {
    rules: [ruleOf('Log', [{ name: 'address', operator: 'Equals (ignore case)', value: ADDRESS }])],
  })
  for (const [what, lie] of lies) {
    node.lie = ({ method }, result) => (method === 'eth_getBlockReceipts' ? lie(result) : result)
    const before = receiver.calls.length
    const asked = node.calls.length
    const { block } = mine(next([transfer(1)]))
    await until(
      () => node.calls.slice(asked).filter(({ method }) => method === 'eth_getBlockReceipts').length,
      count => count >= 2,
      what,
    )
    assert.equal(receiver.calls.length, before, what)
    const { ranges } = (await server.status()).networks.find(({ network }) => network === NETWORK)!
    assert.equal(ranges.at(-1)!.to, Number(block.number) - 1, what)
    node.lie = (_, result) => result
    await isStored(server, Number(block.number))
    await untilIs(() => receiver.calls.length, before + 1, what)
  }
  assert.deepEqual(
    await states(server, ids[0]!),
    lies.map((_, i) => `${FIRST + 3 + i} confirmed`),
  )
})

test('a node that lags, or does not have a block that it announced, neither takes anything back nor tells anything twice', async t => {
  const { node, receiver, server, mine, next, ids } = await setUp(t, { rules: [ruleOf('Block', [anyBlock])] })
  // It takes a while until what was told is known to be told.
  receiver.behave = (): Behaviour => ({ status: 200, after: 50 })
  for (let i = 0; i < 3; i++) mine(next())
  const before = await until(
    () => alertsOf(server, ids[0]!),
    alerts => alerts.length === 3 && alerts.every(({ deliveries: [first] }) => first?.state === 'delivered'),
  )
  // An older head, as of another node behind the same address.
  node.head = FIRST + 2
  await pause(200)
  node.head = FIRST + 5
  // The head is there before its block is.
  const { block } = mine(next())
  let nulls = 0
  node.lie = ({ method, params }, result) =>
    method === 'eth_getBlockByNumber' && Number(params[0]) === Number(block.number) && nulls++ < 5 ? null : result
  await isStored(server, Number(block.number))
  await untilIs(() => receiver.calls.length, 4)
  await pause(200)
  assert.deepEqual((await alertsOf(server, ids[0]!)).slice(0, 3), before)
  assert.deepEqual(told(receiver), Array(4).fill(`alert.confirmed ${ids[0]}`))
  assert.equal(new Set(posts(receiver).map(({ id }) => id)).size, 4)
})

test('a reorganisation takes back what was told, and looks at the new block of the same height', async t => {
  const { receiver, server, mine, next, ids } = await setUp(t, {
    rules: [ruleOf('Event', [isNamed('Transfer')]), ruleOf('Block', [anyBlock], { maxConfirmationCount: 1 })],
  })
  const [event, block] = ids as [number, number]
  const other = next([transfer(7)], 'other')
  mine(next([transfer(6)]))
  await untilIs(() => receiver.calls.length, 1)
  mine(other, makeNext(other))
  await until(
    () => receiver.calls.length,
    count => count >= 4,
  )
  assert.deepEqual(told(receiver).sort(), [
    `alert.confirmed ${event}`,
    `alert.confirmed ${event}`,
    `alert.confirmed ${block}`,
    `alert.retracted ${event}`,
  ])
  const [first, second] = await alertsOf(server, event)
  assert.deepEqual([first!.state, second!.state, second!.blockHash], ['retracted', 'confirmed', other.block.hash])
  assert.deepEqual(await states(server, block), ['103 withdrawn', '103 confirmed', '104 pending'])
  const ofEvent = posts(receiver).filter(({ rule }) => rule.id === event)
  assert.deepEqual(
    ofEvent.filter(({ id }) => id === first!.id).map(({ type }) => type),
    ['alert.confirmed', 'alert.retracted'],
  )
})

test('logs of every kind: anonymous ones, several of one signature, integers and bytes of every width, two rules on one log', async t => {
  const rules = {
    anything: ruleOf('Log', [
      { name: 'address', operator: 'Equals (ignore case)', value: ADDRESS.toUpperCase().replace('X', 'x') },
    ]),
    anyContract: ruleOf('Event', [isNamed('Odd')]),
    sameLog: ruleOf('Event', [isNamed('Odd'), arg('fee', 'Equals', '3000')]),
    votes: ruleOf('Event', [arg('votes', 'Greater', '79228162514264337593543950334')]),
    reserve: ruleOf('Event', [arg('reserve', 'Less or Equal', '5192296858534827628530496329220095')]),
    tick: ruleOf('Event', [arg('tick', 'Less', '-887271')]),
    price: ruleOf('Event', [arg('price', 'Equals', '1461501637330902918203684832716283019655932542975')]),
    selector: ruleOf('Event', [arg('selector', 'Equals', '0xa9059cbb')]),
    selectorInCapitals: ruleOf('Event', [arg('selector', 'Equals (ignore case)', '0xA9059CBB')]),
    withoutPrefix: ruleOf('Event', [arg('selector', 'Equals', 'a9059cbb')]),
    short: ruleOf('Event', [arg('short', 'Equals', `0x${'5a'.repeat(20)}`)]),
    element: ruleOf('Event', [part('three', '1', 'Equals', '255')]),
    second: ruleOf('Event', [isNamed('Transfer'), arg('value', 'Equals', '2')]),
    beyondDoubles: ruleOf('Event', [isNamed('Transfer'), arg('value', 'Equals', '9007199254740993')]),
    beyondDoublesNot: ruleOf('Event', [isNamed('Transfer'), arg('value', 'Equals', '9007199254740992')]),
    failed: ruleOf('Transaction', [{ name: 'status', operator: 'Equals', value: 'false' }]),
    succeeded: ruleOf('Transaction', [{ name: 'status', operator: 'Equals', value: 'true' }]),
  }
  const names = Object.keys(rules)
  const { receiver, mine, next, server, ids } = await setUp(t, { rules: Object.values(rules) })
  const block = next([
    { topics: [], data: '0x' },
    { topics: [], data: '0x1234' },
    odd(
      3000,
      2n ** 96n - 1n,
      2n ** 112n - 1n,
      -887272,
      2n ** 160n - 1n,
      '0xa9059cbb',
      `0x${'5a'.repeat(20)}`,
      [0, 255, 1],
      'x',
    ),
    transfer(1),
    transfer(2),
    transfer(2n ** 53n + 1n),
    // Known by its name alone.
    { topics: [topicOf(TRANSFER) as Hex, word(1), word(2)], data: '0x12' },
  ])
  // One of two transactions fails, in a block that has logs.
  block.receipts[1]!.status = '0x0'
  mine(block)
  await isStored(server, Number(block.block.number))
  const expected: Record<string, number> = Object.fromEntries(names.map(name => [name, 1]))
  Object.assign(expected, { anything: 7, withoutPrefix: 0, beyondDoublesNot: 0 })
  const counts = async () =>
    Object.fromEntries(
      await Promise.all(names.map(async (name, i) => [name, (await alertsOf(server, ids[i]!)).length])),
    )
  assert.deepEqual(await counts(), expected)
  const all = Object.values(expected).reduce((sum, it) => sum + it)
  await untilIs(() => receiver.calls.length, all)
  const second = posts(receiver).find(({ rule }) => rule.id === ids[names.indexOf('second')])
  const args = second!.payload.args as { name: string; value: { num: number } }[]
  assert.equal(args.find(({ name }) => name === 'value')!.value.num, 2)
  const texts = receiver.calls.map(({ body }) => body).filter(body => body.includes('9007199254740993'))
  assert.equal(texts.length, 1, 'an integer beyond 2^53 is told with every digit')
  // What a simulation finds is what was found.
  for (const [i, name] of names.entries()) {
    const { body } = await server.ask<{ total: number }>(`/alerting/rules/${ids[i]}/simulate/`, {
      fromBlock: 103,
      toBlock: 103,
    })
    assert.equal(body.total, expected[name], name)
  }
})

test('a changed rule replays no history, and one that was restarted with the program skips and doubles nothing', async t => {
  const { receiver, server, start, mine, next, ids, node } = await setUp(t, {
    rules: [ruleOf('Transaction', [{ name: 'value', operator: 'Greater or Equal', value: '0' }])],
  })
  const [id] = ids as [number]
  mine(next())
  mine(next())
  await untilIs(() => receiver.calls.length, 4)
  await change(server, id, { name: 'renamed', description: 'by another name' })
  // Each block has one transaction of an odd value.
  await change(server, id, {
    config: {
      ...(
        ruleOf('Transaction', [{ name: 'nonce', operator: 'Greater', value: '0' }, valueIs(106_001)]) as {
          config: object
        }
      ).config,
      alerts: [{ type: 'Webhook (POST)', parameters: { url: `${receiver.url}/changed` } }],
    },
  })
  await pause(300)
  assert.equal(receiver.calls.length, 4)
  server.signal('SIGTERM')
  await server.ended
  // Blocks that come while it is away, and others at whose taking it is killed.
  const away = next()
  const last = makeNext(away)
  node.extend([away, last])
  const again = await start()
  await isStored(again, 106)
  await until(
    () => alertsOf(again, id),
    alerts => alerts.length === 5 && alerts.every(({ deliveries }) => deliveries[0]?.state === 'delivered'),
  )
  again.signal('SIGKILL')
  await again.ended
  const third = await start()
  await isStored(third, 106)
  await pause(300)
  assert.deepEqual(
    await states(third, id),
    ['103', '103', '104', '104', '106'].map(it => `${it} confirmed`),
  )
  assert.equal(new Set(posts(receiver).map(it => it.id)).size, 5)
  assert.equal(receiver.calls.length, 5)
})

test('a network that is served from what is stored, and followed later, tells each alert once', async t => {
  const data = tempFolder(t)
  const own = { after: (fn: () => unknown) => after(t, fn) }
  const chain = makeBlocks(6)
  const receiver = await startReceiver(own)
  const pack = writePack(join(data, 'chain.ndjson'), chain.slice(0, -3))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const delivery = ['--allow-target', '127.0.0.1/32', '--delivery-retries', '100ms']
  const server = await serve(t, data, delivery)
  const id = await create(server, receiver, ruleOf('Block', [anyBlock], { startBlock: FIRST, maxConfirmationCount: 1 }))
  await until(
    () => states(server, id),
    list => list.length === 3,
  )
  const { block } = chain.at(-4)!
  const top = Number(block.number)
  assert.deepEqual(await states(server, id), [
    ...[top - 2, top - 1].map(number => `${number} confirmed`),
    `${top} pending`,
  ])
  await untilIs(() => receiver.calls.length, 2)
  await change(server, id, { enabled: false })
  server.signal('SIGTERM')
  await server.ended

  const node = await startNode(own as never, chain)
  const follow = ['--network', NETWORK, '--rpc', node.url, '--from', String(FIRST - BELOW), '--poll-interval', '20ms']
  const again = await serve(t, data, [...follow, ...delivery])
  await isStored(again, top + 3)
  assert.deepEqual((await states(again, id)).at(-1), `${top} pending`, 'a paused rule waits')
  await change(again, id, { enabled: true })
  await untilIs(() => receiver.calls.length, 3)
  node.extend([makeNext(chain.at(-1)!)])
  await isStored(again, top + 4)
  await pause(200)
  assert.deepEqual(told(receiver), Array(3).fill(`alert.confirmed ${id}`))
  assert.deepEqual((await states(again, id)).slice(2), [`${top} confirmed`, `${top + 4} pending`])
})

test('a rule that is deleted withdraws what has not fired, gives up what is queued, and retracts what may have arrived', async t => {
  const { receiver, server, mine, next, ids } = await setUp(t, {
    rules: [ruleOf('Block', [anyBlock]), ruleOf('Block', [anyBlock], { maxConfirmationCount: 1 })],
  })
  const [fired, waits] = ids as [number, number]
  let open = false
  receiver.behave = () => ({ status: open ? 200 : 503 })
  const other = next([], 'other')
  mine(next())
  await until(
    () => receiver.calls.length,
    count => count > 0,
  )
  for (const id of [fired, waits]) {
    assert.equal((await server.ask(`/alerting/rules/${id}/`, undefined, 'DELETE')).status, 204)
  }
  // What is queued is given up within a second; an attempt that had begun may still come.
  await pause(1_500)
  const tried = receiver.calls.length
  open = true
  await pause(1_500)
  assert.equal(receiver.calls.length, tried, 'nothing is tried again')
  mine(other, makeNext(other))
  await until(
    () => told(receiver),
    list => list.includes(`alert.retracted ${fired}`),
  )
  await isStored(server, FIRST + 4)
  await pause(200)
  assert.deepEqual([...new Set(told(receiver))], [`alert.confirmed ${fired}`, `alert.retracted ${fired}`])
  assert.equal(new Set(posts(receiver).map(({ id }) => id)).size, 1)
})

test('where decimals that a rule needs cannot be asked the block waits, the status says so, and it goes on when the node answers', async t => {
  const down = (node: FakeNode) =>
    node.missing.set('eth_call', new NodeError(-32601, 'the method eth_call does not exist'))
  const scaled = ruleOf('Event', [
    isNamed('Transfer'),
    arg('value', 'Greater or Equal', '1.5', { useScaledValue: true }),
  ])
  const { node, receiver, server, mine, next } = await setUp(t, { rules: [ruleOf('Event', [isNamed('Transfer')])] })
  // Without such a rule nothing waits.
  down(node)
  mine(next([transfer(1_499_999)]))
  await untilIs(() => receiver.calls.length, 1)
  assert.equal(await errorOf(server), null)
  const id = await create(server, receiver, scaled)
  const { block } = mine(next([transfer(1_499_999), transfer(1_500_000)]))
  const error = await until(
    () => errorOf(server),
    it => it !== null,
  )
  assert.equal(
    error,
    `block ${Number(block.number)} waits for the decimals of ${ADDRESS}, which a rule needs and the node does not send`,
  )
  assert.deepEqual(await alertsOf(server, id), [])
  node.missing.delete('eth_call')
  node.methods.set('eth_call', () => word(6))
  await isStored(server, Number(block.number))
  assert.deepEqual(await states(server, id), ['104 confirmed'])
  await untilIs(() => errorOf(server), null)
})
