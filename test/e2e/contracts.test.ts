import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from 'viem'
import { readCode } from '../../src/decode/abi-finder.ts'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { codeOf, initCodeOf } from '../support/deploy.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, type Server, serve, tempFolder, until, untilIs } from './program.ts'

/** Contracts and tokens of a real node. */
const NETWORK = 'ethereum/anvil/local'
const skip = anvilPath === undefined && 'there is no anvil for this platform'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Emits a transfer when it is called without data, and answers every question with the same word. */
const oddToken = (word: string): string =>
  `0x36602e5760016002${`7f${TRANSFER.slice(2)}`}60205fa3005b${`7f${word}`}5f5260205ff3`

const found = async (server: Server, entity: string, id: string) => {
  const answer = await until(
    () => server.search(NETWORK, entity, { query: { ids: { values: [id] } } }),
    ({ hits }) => hits.total > 0,
    `${entity} ${id}`,
  )
  return answer.hits.hits.map(({ _source }) => _source as Record<string, unknown>)
}

const ruleOf = (target: string, name: string, value: string, url: string) =>
  ruleOn(NETWORK, [target, name, 'Equals', value], [webhookTo(url, 'address', 'standard', 'symbol')])

test('a contract is found from its creation on, a token from its first sight, and rules on both fire', {
  skip,
}, async t => {
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  const [wallet] = (await anvil.call<string[]>('eth_accounts')) as [string]
  const server = await serve(t, tempFolder(t), [
    ...['--network', NETWORK, '--rpc', anvil.url, '--poll-interval', '20ms', '--allow-target', '127.0.0.1/32'],
  ])
  await until(
    () => server.total(NETWORK, 'block'),
    total => total > 0,
  )
  for (const [target, name, value] of [
    ['Contract', 'standard', 'ERC-20'],
    ['Token', 'symbol', 'USDX'],
    ['Token', 'standard', 'ERC-721'],
  ] as const) {
    const { status, body } = await server.ask<{ idle: string | null }>(
      '/alerting/rules/',
      ruleOf(target, name, value, receiver.url),
    )
    assert.deepEqual([status, body.idle], [201, null], JSON.stringify(body))
  }

  const code = codeOf('Plain')
  const deployed = await anvil.send({ from: wallet, data: initCodeOf(code, { 3: 'Dollar of X', 4: 'USDX' }) })
  const address = deployed.contractAddress.toLowerCase()
  const { selectors, topics } = readCode(code)
  const [contract] = await found(server, 'contract', address)
  const { timestamp, ...rest } = contract!
  assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  assert.deepEqual(rest, {
    address: checksumAddress(address),
    creator: checksumAddress(wallet),
    origin: checksumAddress(wallet),
    transactionHash: deployed.transactionHash,
    blockNumber: { num: Number(deployed.blockNumber), raw: deployed.blockNumber },
    blockHash: deployed.blockHash,
    codeHash: keccak256(code as `0x${string}`),
    codeSize: (code.length - 2) / 2,
    selectors,
    topics,
    name: null,
    standard: 'ERC-20',
    standardSource: 'selectors',
    implementation: null,
    abi: { source: 'signatures' },
    probability: 0.9,
  })
  const [token] = await found(server, 'token', address)
  assert.deepEqual(
    { ...token, timestamp: undefined },
    {
      address: checksumAddress(address),
      name: 'Dollar of X',
      symbol: 'USDX',
      decimals: 18,
      standard: 'ERC-20',
      firstSeen: { num: Number(deployed.blockNumber), raw: deployed.blockNumber },
      blockHash: deployed.blockHash,
      timestamp: undefined,
      error: null,
    },
  )
  for (const query of [
    { match: { name: 'dollar' } },
    { match: { name: { query: 'dolar', fuzziness: 'AUTO' } } },
    { prefix: { 'symbol.raw': 'US' } },
    { term: { decimals: 18 } },
    { term: { 'firstSeen.num': Number(deployed.blockNumber) } },
    { range: { timestamp: { gte: timestamp, lte: timestamp } } },
  ])
    assert.equal(await server.total(NETWORK, 'token', query), 1, JSON.stringify(query))

  // Whatever a contract answers stops nothing, and is told.
  const odd = await anvil.send({ from: wallet, data: initCodeOf(oddToken(`80${'00'.repeat(31)}`)) })
  await anvil.send({ from: wallet, to: odd.contractAddress })
  const [nonsense] = await found(server, 'token', odd.contractAddress)
  assert.deepEqual([nonsense?.name, nonsense?.symbol, nonsense?.decimals], ['\ufffd', '\ufffd', null])
  assert.equal(nonsense?.error, `decimals() answers ${2n ** 255n}`)
  // A maker of this age answers with 32 bytes.
  const maker = `${Buffer.from('MKR').toString('hex').padEnd(64, '0')}`
  const old = await anvil.send({ from: wallet, data: initCodeOf(oddToken(maker)) })
  await anvil.send({ from: wallet, to: old.contractAddress })
  assert.equal((await found(server, 'token', old.contractAddress))[0]?.symbol, 'MKR')

  const nft = await anvil.send({ from: wallet, data: initCodeOf(codeOf('Nft')) })
  assert.equal((await found(server, 'token', nft.contractAddress))[0]?.standard, 'ERC-721')

  const calls = await until(
    () => receiver.calls,
    calls => calls.length === 3,
    'three webhooks',
  )
  const told = calls.map(({ body }) => {
    const { entity, payload } = JSON.parse(body) as { entity: { _type: string }; payload: unknown }
    return JSON.stringify([entity._type, payload])
  })
  const due = [
    ['contract', { address: checksumAddress(address), standard: 'ERC-20' }],
    ['token', { address: checksumAddress(address), standard: 'ERC-20', symbol: 'USDX' }],
    ['token', { address: checksumAddress(nft.contractAddress), standard: 'ERC-721', symbol: '' }],
  ]
  assert.deepEqual(told.sort(), due.map(one => JSON.stringify(one)).sort())

  // What a reorganisation takes back is gone.
  const before = await server.total(NETWORK, 'contract')
  await anvil.call('anvil_reorg', 1, [])
  await untilIs(() => server.total(NETWORK, 'contract'), before - 1, 'a contract less')
  assert.equal(await server.total(NETWORK, 'token', { term: { standard: 'ERC-721' } }), 0)
})

test('contracts that contracts create are found by traces, each time that they are created', { skip }, async t => {
  // Since Cancun a contract only destroys itself in the transaction that created it.
  const anvil = await startAnvil({ after: fn => after(t, fn) }, ['--hardfork', 'shanghai'])
  const [wallet] = (await anvil.call<string[]>('eth_accounts')) as [string]
  // Which anvil has from the start: creates what is sent to it, behind 32 bytes of salt.
  const FACTORY = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
  const mortal = initCodeOf('0x33ff')
  const create = () => anvil.send({ from: wallet, to: FACTORY, data: `0x${'00'.repeat(32)}${mortal.slice(2)}` })
  const first = await create()
  const server = await serve(t, tempFolder(t), [
    ...['--network', NETWORK, '--rpc', anvil.url, '--poll-interval', '20ms', '--traces', 'all'],
  ])
  await untilIs(() => server.total(NETWORK, 'contract'), 1)
  const { hits } = await server.search(NETWORK, 'contract', { query: { term: { 'creator.raw': FACTORY } } })
  const id = hits.hits[0]!._id
  const begun = await server.search(NETWORK, 'contract', { query: { term: { origin: wallet.toLowerCase() } } })
  assert.deepEqual(
    begun.hits.hits.map(({ _id, _source }) => [_id, _source.origin]),
    [[id, checksumAddress(wallet.toLowerCase())]],
  )
  assert.equal(hits.hits[0]!._source.transactionHash, first.transactionHash)
  // In the same block again it fails, which creates nothing.
  await create()
  await anvil.send({ from: wallet, to: id })
  const second = await create()
  const all = await until(
    () => found(server, 'contract', id),
    all => all.length === 2,
    'two creations',
  )
  assert.deepEqual(
    all.map(({ transactionHash, codeSize }) => [transactionHash, codeSize]),
    [
      [second.transactionHash, 2],
      [first.transactionHash, 2],
    ],
  )
  const latest = await server.ask<{ _source: { transactionHash: string } }>(`/${NETWORK}/es/contract/${id}/`)
  assert.equal(latest.body._source.transactionHash, second.transactionHash)
})
