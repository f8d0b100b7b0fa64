import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeFile } from '../../src/engine/files.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'

import { startNode } from '../support/node.ts'
import { assertAskedOnce, expectedOf, fits, holdingsIn, random, serveLogs, unevenChain } from '../support/scoped.ts'
import { isFromOrTo, partiesIn, serveTraceFilter } from '../support/transactions.ts'
import { after, serve, start, succeed, tempFolder, until } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'

test('a scope gains transactions through a kill, and serves them', async t => {
  const chain = unevenChain(60, random(5), 0)
  const last = Number(chain.at(-1)!.block.number)
  const node = await startNode(t, chain)
  node.methods.set('eth_call', () => '0x')
  node.methods.set('eth_getCode', () => '0x6001600255')
  serveLogs(node)
  const data = tempFolder(t)
  const store = storeFile(data, NETWORK)
  const [emitter] = chain.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs.map(({ address }) => address)))
  const addresses = [emitter!, partiesIn(chain)[0]!].sort()
  const command = (...more: string[]) => [
    ...['index', '--network', NETWORK, '--rpc', node.url, '--from', '0', '--to', String(last - 1), ...more],
    ...['--finality', '1', '--store-batch', '1', ...addresses.flatMap(address => ['--contract', address])],
  ]
  const expected = (isSent: boolean) =>
    expectedOf(
      chain,
      log => fits(log, { addresses, topics: [] }) && Number(log.blockNumber) < last,
      () => false,
      tx => isSent && isFromOrTo(addresses)(tx) && Number(tx.blockNumber) < last,
    )
  await succeed(t, command(), { data })
  assert.deepEqual(holdingsIn(store), expected(false))

  const traced = serveTraceFilter(node, { blocks: 10 })
  node.trouble = async () => (traced.length > 4 ? 'hang' : undefined)
  const killed = start(t, command('--transactions', 'true'), { data })
  await until(
    () => traced.length,
    count => count > 4,
  )
  killed.signal('SIGKILL')
  await killed.ended
  node.trouble = () => undefined
  await succeed(t, command('--transactions', 'true'), { data })
  assert.deepEqual(holdingsIn(store), expected(true))

  const before = traced.length
  const server = await serve(t, data, [
    ...[
      '--network',
      NETWORK,
      '--rpc',
      node.url,
      '--finality',
      '1',
      '--poll-interval',
      '20ms',
      '--transactions',
      'true',
    ],
    ...addresses.flatMap(address => ['--contract', address]),
  ])
  await until(server.status, ({ networks: [it] }) =>
    it!.coverage!.some(({ transactions, ranges }) => transactions && ranges.at(-1)!.to === last),
  )
  assert.equal(traced.length, before, 'nothing is searched for twice')
  assertAskedOnce(traced.slice(-2).map(it => ({ ...it, topics: [it.side] })))
  const response = await fetch(`${server.url}/${NETWORK}/es/tx/_search`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  assert.match(
    response.headers.get('chainsieve-coverage')!,
    /^partial; whole=none; filters=2; transactions=1; looked=0-/,
  )
})

/** Calls the account whose address it was given. */
const CALLER = '0x6015600c60003960156000f3600060006000600060006000355af15000'
const noAnvil = anvilPath === undefined && 'there is no anvil for this platform'

test('transactions of a real node are followed with their traces', { skip: noAnvil }, async t => {
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const [a, b, c] = (await anvil.call<string[]>('eth_accounts')) as [string, string, string]
  const caller = (await anvil.send({ from: c, data: CALLER })).contractAddress
  const call = () => anvil.send({ from: c, to: caller, data: `0x${b.slice(2).padStart(64, '0')}` })
  const pay = (from: string, to: string, value: number) => anvil.send({ from, to, value: `0x${value.toString(16)}` })
  await pay(a, b, 1)
  await call()
  await pay(b, c, 2)
  await pay(a, c, 3)
  const network = 'ethereum/anvil/local'
  const scope = ['--network', network, '--rpc', anvil.url, '--traces', 'all', '--transactions', 'true']
  const data = tempFolder(t)
  const found = async (server: Awaited<ReturnType<typeof serve>>) => {
    const { body } = await server.ask<{ hits: { hits: { _source: { value: { num: string }; to: string } }[] } }>(
      `/${network}/es/tx/_search`,
      { size: -1, sort: ['blockNumber.num'] },
    )
    return body.hits.hits.map(({ _source: { value } }) => Number(value.num))
  }
  const reaches = (server: Awaited<ReturnType<typeof serve>>, values: number[]) =>
    until(
      () => found(server),
      it => it.join() === values.join(),
    )
  await t.test('with an account', async inner => {
    const server = await serve(inner, data, [...scope, '--poll-interval', '20ms', '--contract', b])
    await reaches(server, [1, 2])
    const snapshot = await anvil.call('evm_snapshot')
    await pay(a, b, 4)
    await reaches(server, [1, 2, 4])
    await anvil.call('evm_revert', snapshot)
    for (const value of [5, 6]) {
      await pay(a, c, value + 10)
      await pay(b, a, value)
    }
    await reaches(server, [1, 2, 5, 6])
    assert.equal(await server.total(network, 'trace'), 4)
  })
  const wider = await serve(t, data, [...scope, '--poll-interval', '20ms', '--contract', b, '--contract', caller])
  await reaches(wider, [1, 0, 2, 5, 6])
  // The call has another one in it.
  assert.equal(await wider.total(network, 'trace'), 6)
  const call2 = await call()
  await reaches(wider, [1, 0, 2, 5, 6, 0])
  assert.equal(await wider.total(network, 'trace', { term: { transactionHash: call2.transactionHash } }), 2)
})
