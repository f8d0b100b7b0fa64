import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Anvil, anvilPath, startAnvil } from '../support/anvil.ts'
import { startRelay } from '../support/relay.ts'
import { after, pause, type Server, serve, start, tempFolder, tokenOf, until, untilIs } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'
const NETWORK = 'ethereum/anvil/local'
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * A token without state: called without data, it emits Transfer(caller, itself, ether sent); called with any, it gives its decimals,
 * or refuses where it has none.
 */
const tokenCode = (decimals: number | undefined): string => {
  const answer = decimals === undefined ? '60006000fd' : `60${decimals.toString(16).padStart(2, '0')}60005260206000f3`
  const code = `366031573460005230337f${TRANSFER}60206000a3005b${answer}`
  const size = (code.length / 2).toString(16).padStart(2, '0')
  return `0x60${size}600c60003960${size}6000f3${code}`
}

const setUp = async (t: TestContext, args: readonly string[] = []) => {
  const folder = tempFolder(t)
  const anvil = await startAnvil({ after: fn => after(t, fn) }, args)
  const chain = tokensOn(anvil)
  return { folder, data: join(folder, 'data'), anvil, ...chain }
}

const tokensOn = (anvil: Anvil) => {
  const { from, send } = anvil
  const deploy = async (decimals: number | undefined) => (await send({ data: tokenCode(decimals) })).contractAddress
  const transferOf = (token: string, value: number) => ({
    from,
    to: token,
    value: `0x${value.toString(16)}`,
    gas: '0x186a0',
  })
  const transfer = (token: string, value: number) => send(transferOf(token, value))
  return { from, deploy, transfer, transferOf }
}

/** All events, oldest first, as `value scaled`. */
const amounts = async (server: Server): Promise<string[]> => {
  const { hits } = await server.search(NETWORK, 'event', { size: -1, sort: '_doc' })
  return hits.hits.map(({ _source }) => {
    const { event, args } = _source as { event: string; args: { value: { num: number; scaled: number | null } }[] }
    const { num, scaled } = args[2]!.value
    return `${event} ${num} ${scaled}`
  })
}

const statusOf = async (server: Server) => (await server.status()).networks.find(({ network }) => network === NETWORK)!

test('a chain is followed: new blocks can be searched once they are announced, tokens are asked once', {
  skip,
}, async t => {
  const { data, anvil, deploy, transfer } = await setUp(t)
  const [dollar, relic] = [await deploy(6), await deploy(undefined)]
  await transfer(dollar, 1_500_000)
  await transfer(relic, 7)
  const proxy = await startRelay({ after: fn => after(t, fn) }, anvil.url)
  // No poll finds a block in time: they come as they are announced.
  const args = ['--network', NETWORK, '--rpc', proxy.url, '--ws', anvil.wsUrl, '--poll-interval', '1h']
  const server = await serve(t, data, args)
  await untilIs(() => server.total(NETWORK, 'block'), 5, server.err)
  assert.deepEqual(await amounts(server), ['Transfer 1500000 1.5', 'Transfer 7 null'])

  for (let i = 1; i <= 15; i++) {
    const { transactionHash } = await transfer(i % 3 === 0 ? relic : dollar, i * 250_000)
    await untilIs(() => server.total(NETWORK, 'event', { term: { transactionHash } }), 1, server.err)
  }
  assert.equal((await amounts(server)).at(-2), 'Transfer 3500000 3.5')
  // Each of the two for its name, symbol and decimals, and for what a vault has.
  assert.equal(proxy.counts.eth_call, 10)

  const { ranges, head, lag, state, error, endpoints } = await until(
    () => statusOf(server),
    ({ head }) => head === 19,
  )
  assert.deepEqual(
    { ranges, head, lag, state, error },
    { ranges: [{ from: 0, to: 19 }], head: 19, lag: 0, state: 'following', error: null },
  )
  assert.deepEqual(
    endpoints.map(({ url, errors }) => [new URL(url).port, errors]),
    [proxy.url, anvil.wsUrl].map(url => [new URL(url).port, 0]),
  )
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)

  // What was learnt is stored, also that a contract refuses.
  await transfer(dollar, 1)
  await transfer(relic, 2)
  const again = await serve(t, data, args)
  await untilIs(() => again.total(NETWORK, 'block'), 22, again.err)
  assert.deepEqual((await amounts(again)).slice(-2), ['Transfer 1 0.000001', 'Transfer 2 null'])
  assert.equal(proxy.counts.eth_call, 10)
})

test('reorganisations: a shallow one is followed, one below finality stops the indexing and not the search', {
  skip,
}, async t => {
  const { data, anvil, deploy, transfer, transferOf } = await setUp(t)
  const dollar = await deploy(6)
  for (let i = 1; i <= 12; i++) await transfer(dollar, i)
  const server = await serve(t, data, [
    '--network',
    NETWORK,
    '--rpc',
    anvil.url,
    '--ws',
    anvil.wsUrl,
    '--finality',
    '8',
  ])
  const values = async () => (await amounts(server)).map(text => Number(text.split(' ')[1]))
  await until(values, found => found.length === 12, server.err)
  const lost = await server.search(NETWORK, 'event', { sort: { 'blockNumber.num': 'desc' }, size: 1 })

  // Three blocks are replaced, by ones of which the second holds another transfer.
  await anvil.call('anvil_reorg', 3, [[transferOf(dollar, 1000), 1]])
  await transfer(dollar, 13)
  assert.deepEqual(await until(values, found => found.at(-1) === 13, server.err), [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000, 13])
  assert.equal((await server.ask(`/${NETWORK}/es/event/${lost.hits.hits[0]!._id}/`)).status, 404)
  await server.says(/Followed a reorganisation network=ethereum\/anvil\/local keptUpTo=10/)
  // What is served is what the node has.
  const head = await anvil.call<{ hash: string; number: string }>('eth_getBlockByNumber', 'latest', false)
  const { hits } = await server.search(NETWORK, 'block', { size: -1, sort: { 'number.num': 'asc' } })
  assert.deepEqual([hits.total, hits.hits.at(-1)!._id], [Number(head.number) + 1, head.hash])

  for (let i = 14; i <= 24; i++) await transfer(dollar, i)
  await until(values, found => found.at(-1) === 24, server.err)
  await anvil.call('anvil_reorg', 12, [])
  await transfer(dollar, 25)
  const { state, error } = await until(
    () => statusOf(server),
    ({ state }) => state === 'stopped',
    server.err,
  )
  assert.equal(state, 'stopped')
  assert.match(
    error!,
    /^the node's chain leaves the stored one more than 8 blocks below block 25 \(0x[0-9a-f]{64}\), which is deeper than this finality\. .* raise finality above that depth or index into an empty data folder/,
  )
  await server.says(
    /error Stopped indexing network=ethereum\/anvil\/local error="the node's chain leaves the stored one/,
  )
  assert.equal((await values()).at(-1), 24)
  assert.equal((await server.ask('/health')).status, 200)
  server.signal('SIGINT')
  assert.equal((await server.ended).code, 0)

  // With a greater finality it is followed.
  const again = await serve(t, data, ['--network', NETWORK, '--rpc', anvil.url, '--finality', '30'])
  await untilIs(async () => (await amounts(again)).at(-1), 'Transfer 25 0.000025', again.err)
})

test('a node that is down at the start, and one that goes down and comes back', { skip }, async t => {
  const folder = tempFolder(t)
  const kept = ['--state', join(folder, 'state.json')]
  const first = await startAnvil({ after: fn => after(t, fn) }, kept)
  const port = Number(new URL(first.url).port)
  const { deploy, transfer } = await tokensOn(first)
  const dollar = await deploy(6)
  await transfer(dollar, 1)
  await first.stop()

  const data = join(folder, 'data')
  const server = await serve(t, data, ['--network', NETWORK, '--rpc', first.url, '--ws', first.wsUrl])
  const down = await until(
    () => statusOf(server),
    ({ endpoints }) => (endpoints[0]?.lastError ?? null) !== null,
    server.err,
  )
  assert.match(down.endpoints[0]!.lastError!, /ECONNREFUSED/)
  assert.deepEqual([down.head, down.ranges, down.error], [null, [], null])
  assert.equal(await server.total(NETWORK, 'block'), 0)

  const second = await startAnvil({ after: fn => after(t, fn) }, kept, port)
  await untilIs(() => server.total(NETWORK, 'block'), 3, server.err)
  await second.stop()
  await until(
    () => statusOf(server),
    ({ endpoints }) => endpoints.every(({ errors }) => errors > 0),
    server.err,
  )
  const meanwhile = await server.total(NETWORK, 'block')
  assert.equal(meanwhile, 3)

  const third = await startAnvil({ after: fn => after(t, fn) }, kept, port)
  await (await tokensOn(third)).transfer(dollar, 2)
  await until(
    () => amounts(server),
    found => found.at(-1) === 'Transfer 2 0.000002',
    server.err,
  )
  assert.equal((await statusOf(server)).error, null)
})

test('killed at the head again and again, it has every block once', { skip }, async t => {
  const { data, anvil, deploy, transfer } = await setUp(t)
  const dollar = await deploy(6)
  const token = tokenOf(data)
  const args = ['serve', '--port', '0', '--network', NETWORK, '--rpc', anvil.url, '--ws', anvil.wsUrl]
  let sent = 0
  let mining = true
  const mine = (async () => {
    while (mining) {
      await transfer(dollar, ++sent)
      await pause(10)
    }
  })()
  for (let i = 0; i < 4; i++) {
    const program = start(t, args, { data })
    await program.says(/Serves/)
    await pause(200 + 150 * i)
    program.signal('SIGKILL')
    await program.ended
  }
  mining = false
  await mine
  const server = await serve(t, data, args.slice(3))
  assert.notEqual(server.token, token)
  const found = await until(
    () => amounts(server),
    found => found.length >= sent,
    server.err,
  )
  assert.deepEqual(
    found,
    Array.from({ length: sent }, (_, i) => `Transfer ${i + 1} ${(i + 1) / 1e6}`),
  )
})
