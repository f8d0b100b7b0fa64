import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { startRelay } from '../support/relay.ts'
import { after, chainsieve, pause, type Server, serve, tempFolder, until } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'
const NETWORK = 'ethereum/anvil/local'

const setUp = async (t: TestContext, blocks: number) => {
  const data = join(tempFolder(t), 'data')
  const own = { after: (fn: () => unknown) => after(t, fn) }
  const anvil = await startAnvil(own)
  const mine = (count: number) => anvil.call('anvil_mine', `0x${count.toString(16)}`)
  await mine(blocks)
  return { data, anvil, mine, relay: await startRelay(own, anvil.url) }
}

const statusOf = async (server: Server) => (await server.status()).networks[0]!

const lines = (server: Server, pattern: RegExp) =>
  server
    .err()
    .split('\n')
    .filter(it => pattern.test(it))

test('blocks that the only node has pruned hold nothing up, whatever it says of them, and come once it has them', {
  skip,
}, async t => {
  const { data, mine, relay } = await setUp(t, 200)
  relay.prunedBelow = 120
  const args = ['--network', NETWORK, '--rpc', relay.url, '--finality', '16', '--poll-interval', '100ms']
  // No block comes but those that are made here.
  const server = await serve(t, data, [...args, '--stale-after', '0s'])
  const stored = (head: number) =>
    until(
      () => statusOf(server),
      ({ ranges, missing }) => ranges[0]?.from === 120 && ranges.at(-1)?.to === head && missing !== undefined,
      server.err,
    )
  const first = await stored(200)
  assert.deepEqual(first.missing!.ranges, [{ from: 0, to: 119 }])
  assert.match(first.missing!.why, /pruned history unavailable \(4444\)/)
  assert.match(first.missing!.remedy, /--from 120\b.*--rpc/)
  assert.deepEqual([first.state, first.waiting, first.endpoints[0]!.failingSince], ['following', undefined, undefined])
  assert.equal((await fetch(`${server.url}/ready`)).status, 200)
  // A command reads what the server writes down once a second.
  await until(
    () => chainsieve(t, ['status'], { data }),
    ({ out }) => /missing +no node has 0-119 .*--from 120/.test(out),
  )
  for (let head = 201; head <= 230; head++) {
    await mine(1)
    if (head % 10 === 0) await stored(head)
  }
  assert.equal(lines(server, /No node has some of the blocks/).length, 1)
  assert.equal(lines(server, /no usable answer/).length, 0)

  // Another node comes that has them.
  relay.prunedBelow = 0
  const whole = await until(
    () => statusOf(server),
    ({ ranges }) => ranges[0]?.from === 0,
    server.err,
  )
  assert.deepEqual(whole.ranges, [{ from: 0, to: 230 }])
  await until(
    () => statusOf(server),
    ({ missing }) => missing === undefined,
  )
})

for (const [name, pruned, without] of [
  ['null', null, []],
  ['a missing trie node', { code: -32000, message: 'missing trie node 1234 (path ) state 0x12 is not available' }, []],
  ['pruned receipts', { code: -32000, message: 'Receipt not available for From block 5.' }, ['eth_getBlockByNumber']],
] as const)
  test(`a node that answers with ${name} for old blocks, and one block in between`, { skip }, async t => {
    const { data, mine, relay } = await setUp(t, 150)
    relay.prunedBelow = 60
    relay.pruned = pruned
    relay.keeps = without
    relay.lie = ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && Number(params[0]) === 100 ? null : result
    const server = await serve(t, data, ['--network', NETWORK, '--rpc', relay.url, '--finality', '16'])
    const { missing } = await until(
      () => statusOf(server),
      ({ ranges }) => ranges[0]?.from === 60 && ranges.length === 2,
      server.err,
    ).then(() =>
      until(
        () => statusOf(server),
        it => it.missing !== undefined,
      ),
    )
    assert.deepEqual(missing!.ranges, [
      { from: 0, to: 59 },
      { from: 100, to: 100 },
    ])
    await mine(5)
    await until(
      () => statusOf(server),
      ({ ranges }) => ranges.at(-1)!.to === 155,
      server.err,
    )
    await pause(3_000)
    assert.ok(server.err().split('\n').length < 40, server.err())
  })

test('while a node returns false data, the lag grows, and nothing is claimed to be followed', { skip }, async t => {
  const { data, mine, relay } = await setUp(t, 30)
  const server = await serve(t, data, [
    '--network',
    NETWORK,
    '--rpc',
    relay.url,
    '--finality',
    '16',
    '--stale-after',
    '0s',
  ])
  const soon = (holds: (status: Awaited<ReturnType<typeof statusOf>>) => boolean) =>
    until(() => statusOf(server), holds)
  await soon(({ lag, state }) => lag === 0 && state === 'following')
  relay.lie = ({ method }, result) => (method === 'eth_getBlockReceipts' ? [{ false: true }] : result)
  for (const lag of [3, 6]) {
    await mine(3)
    await soon(status => status.lag === lag)
  }
  const { waiting } = await soon(({ state }) => state === 'waiting')
  assert.match(waiting!.for, /^a (new block in a usable form: nodes are at 36 \(the last one was 30|node that answers)/)
  relay.lie = (_, result) => result
  await soon(({ lag, state }) => lag === 0 && state === 'following')
})

test('the head is followed where nodes have only the newest blocks, also after they were away', { skip }, async t => {
  const { data, anvil, mine, relay } = await setUp(t, 150)
  relay.prunedBelow = 145
  const args = ['--network', NETWORK, '--rpc', relay.url, '--finality', '16', '--stale-after', '0s']
  const server = await serve(t, data, args)
  const stored = (ranges: { from: number; to: number }[]) =>
    until(
      () => statusOf(server),
      it => JSON.stringify(it.ranges) === JSON.stringify(ranges),
      server.err,
    )
  await stored([{ from: 145, to: 150 }])
  await mine(1)
  await stored([{ from: 145, to: 151 }])
  // More than a server waits for goes by.
  relay.target = 'http://127.0.0.1:1'
  await mine(100)
  relay.prunedBelow = 249
  relay.target = anvil.url
  const { missing } = await stored([
    { from: 145, to: 151 },
    { from: 249, to: 251 },
  ]).then(() =>
    until(
      () => statusOf(server),
      it => it.missing?.ranges.at(-1)?.to === 248,
    ),
  )
  assert.deepEqual(missing!.ranges, [
    { from: 0, to: 144 },
    { from: 152, to: 248 },
  ])
})

test('a back-fill that ends tells which blocks no node has, and stores the others', { skip }, async t => {
  const { data, relay } = await setUp(t, 150)
  relay.prunedBelow = 60
  const args = ['index', '--network', NETWORK, '--rpc', relay.url]
  const { code, err } = await chainsieve(t, args, { data })
  assert.equal(code, 1)
  assert.match(
    err,
    /no node has blocks 0 to 59 \(.*4444\)\); all others are stored: begin later \(--from 60\), or add a node/,
  )
  const again = await chainsieve(t, [...args, '--from', '60'], { data })
  assert.equal(again.code, 0, again.err)
})
