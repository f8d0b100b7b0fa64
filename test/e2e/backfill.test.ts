import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { after, chainsieve, pause, serve, tempFolder, until, untilIs } from './program.ts'

const NETWORK = 'ethereum/test/net'

test('the newest blocks come first, and new ones at once, while older ones are still being filled', async t => {
  const data = join(tempFolder(t), 'data')
  const chain = makeChain({ blocks: 630 })
  const node = await startNode({ after: fn => after(t, fn) }, chain.slice(0, 600))
  node.methods.set('eth_call', () => '0x')
  // Blocks far below take their time, as those of an archive do: once it matters, until the new ones were found.
  let found: PromiseWithResolvers<void> | undefined
  node.trouble = async calls => {
    if (calls.some(({ method, params }) => method === 'eth_getBlockByNumber' && Number(params[0]) < 560))
      await (found?.promise ?? pause(150))
    return undefined
  }
  // No poll finds a block in time: they come as they are announced.
  const nodes = ['--rpc', node.url, '--ws', node.wsUrl, '--poll-interval', '1h']
  const args = ['--network', NETWORK, ...nodes, '--finality', '16', '--store-batch', '10']
  const server = await serve(t, data, [...args, '--rpc-concurrency', '2', '--rpc-batch', '8'])
  const status = async () => (await server.status()).networks[0]!
  const filling = await until(
    status,
    ({ ranges, secondsLeft }) => ranges.at(-1)?.to === 599 && ranges[0]!.from < 560 && secondsLeft !== null,
  )
  assert.deepEqual([filling.state, filling.head, filling.lag, filling.ranges.length], ['filling', 599, 0, 1])

  found = Promise.withResolvers()
  for (let i = 600; i < 630; i++) {
    node.extend([chain[i]!])
    node.announce()
    const term = { term: { _id: chain[i]!.block.hash } }
    await untilIs(() => server.total(NETWORK, 'block', term), 1, server.err)
  }
  const meanwhile = await status()
  assert.ok(meanwhile.ranges[0]!.from > 0, 'the back-fill is still under way')
  assert.deepEqual([meanwhile.state, meanwhile.lag], ['filling', 0])

  // Interrupted, it fetches what is missing and nothing else.
  server.signal('SIGKILL')
  await server.ended
  node.trouble = () => undefined
  found.resolve()
  node.calls.length = 0
  const again = await serve(t, data, args)
  const done = await until(
    async () => (await again.status()).networks[0]!,
    ({ state, ranges }) => state === 'following' && ranges[0]?.from === 0,
    again.err,
  )
  assert.deepEqual([done.ranges, done.head, done.lag, done.secondsLeft], [[{ from: 0, to: 629 }], 629, 0, null])
  const fetched = node.calls.filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true)
  assert.ok(Math.max(...fetched.map(({ params }) => Number(params[0]))) < 560)
  assert.equal(await again.total(NETWORK, 'log'), 630 * 4)
})

test('index: ranges, the last K blocks, and nothing where nothing is missing', async t => {
  const data = join(tempFolder(t), 'data')
  const node = await startNode({ after: fn => after(t, fn) }, makeChain({ blocks: 100 }))
  const index = async (...args: string[]) => {
    const all = ['index', '--network', NETWORK, '--rpc', node.url, '--store-batch', '7', ...args]
    const { code, out, err } = await chainsieve(t, all, { data })
    assert.equal(code, 0, err)
    return out
  }
  assert.equal(
    await index('--from', '10', '--to', '19'),
    'ethereum/test/net: added 10 blocks with 40 logs and 0 events.\nAdded: 10-19 (10 blocks)\nHoles: none\n',
  )
  assert.equal(
    await index('--from', 'latest-4', '--json'),
    `${JSON.stringify({
      network: NETWORK,
      blocks: 5,
      logs: 20,
      events: 0,
      added: [{ from: 95, to: 99 }],
      held: [
        { from: 10, to: 19 },
        { from: 95, to: 99 },
      ],
      missing: [],
      unread: [],
      holes: [{ from: 20, to: 94 }],
    })}\n`,
  )
  assert.equal(
    await index('--from', '0', '--to', 'latest-50', '--order', 'oldest'),
    'ethereum/test/net: added 40 blocks with 160 logs and 0 events.\nAdded: 0-9 (10 blocks), 20-49 (30 blocks)\nHoles: 50-94 (45 blocks)\n',
  )
  assert.equal(
    await index(),
    'ethereum/test/net: added 45 blocks with 180 logs and 0 events.\nAdded: 50-94 (45 blocks)\nHoles: none\n',
  )
  assert.equal(await index(), 'ethereum/test/net: added 0 blocks with 0 logs and 0 events.\nAdded: none\nHoles: none\n')

  const wrong = await chainsieve(t, ['index', '--network', NETWORK, '--rpc', node.url, '--to', '100'], { data })
  assert.deepEqual(
    [wrong.code, wrong.err.split('\n').filter(line => line.startsWith('chainsieve: '))],
    [1, ['chainsieve: block 100 is beyond the head of the chain, which is 99: lower --to']],
  )
})

test('networks of a config file are followed side by side, and one that fails does not touch the others', async t => {
  const data = join(tempFolder(t), 'data')
  const one = await startNode({ after: fn => after(t, fn) }, makeChain({ blocks: 30 }))
  const two = await startNode({ after: fn => after(t, fn) }, makeChain({ blocks: 20, chainId: 10, salt: 'two' }))
  mkdirSync(data)
  const table = (network: string, url: string) =>
    `[[networks]]\nnetwork = "${network}"\nrpc = ["${url}"]\nfinality = 8\npoll-interval = "50ms"\n`
  writeFileSync(
    join(data, 'chainsieve.toml'),
    `readers = 2\n${table('ethereum/one/net', one.url)}${table('ethereum/two/net', two.url)}`,
  )
  const server = await serve(t, data)
  const totals = () => Promise.all(['one', 'two'].map(name => server.total(`ethereum/${name}/net`, 'block')))
  await until(totals, ([first, second]) => first === 30 && second === 20, server.err)

  // The second one is now another chain altogether.
  two.extend(makeChain({ blocks: 40, chainId: 10, salt: 'reset' }))
  await until(
    async () => (await server.status()).networks.map(({ state }) => state),
    states => states[1] === 'stopped',
    server.err,
  )
  one.extend(makeChain({ blocks: 5, parent: one.blocks.get(29)! }))
  await until(totals, ([first, second]) => first === 35 && second === 20, server.err)
  const [first, second] = (await server.status()).networks
  assert.deepEqual([first!.state, first!.error, second!.network], ['following', null, 'ethereum/two/net'])
  assert.match(second!.error!, /more than 8 blocks below block 19/)
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)
})
