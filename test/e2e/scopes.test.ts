import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { storeFile } from '../../src/engine/files.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'

import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { blockOf, expectedOf, fits, holdingsIn, random, serveLogs, unevenChain } from '../support/scoped.ts'
import { after, serve, start, succeed, tempFolder, until } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'

test('a contract is indexed alone, widened through a kill, and served', async t => {
  const below = random(3)
  const chain = unevenChain(60, below, 0)
  const last = Number(chain.at(-1)!.block.number)
  const node = await startNode(t, chain)
  node.methods.set('eth_call', () => '0x')
  node.methods.set('eth_getCode', () => '0x6001600255')
  const asked = serveLogs(node, 10)
  const data = tempFolder(t)
  const store = storeFile(data, NETWORK)
  const logs = chain.flatMap(({ receipts }) => receipts.flatMap(it => it.logs))
  const [one, other] = [...new Set(logs.map(({ address }) => address))] as [string, string]
  const command = (contracts: readonly string[]) => [
    ...['index', '--network', NETWORK, '--rpc', node.url, '--from', '0', '--to', String(last - 1)],
    ...['--finality', '1', '--store-batch', '1', ...contracts.flatMap(address => ['--contract', address])],
  ]
  const expected = (addresses: string[]) =>
    expectedOf(chain, log => fits(log, { addresses, topics: [] }) && Number(log.blockNumber) < last)

  await succeed(t, command([one]), { data })
  assert.deepEqual(holdingsIn(store), expected([one]))

  // Killed while what it lacks is on its way.
  const before = asked.length
  node.trouble = async () => (asked.length > before + 2 ? 'hang' : undefined)
  const killed = start(t, command([one, other]), { data })
  await until(
    () => asked.length,
    count => count > before + 2,
  )
  killed.signal('SIGKILL')
  await killed.ended
  node.trouble = () => undefined
  await succeed(t, command([one, other]), { data })
  assert.deepEqual(holdingsIn(store), expected([one, other]))
  assert.ok(asked.slice(before).every(({ addresses }) => addresses.join() === other))

  // Narrowed through a kill, and widened again.
  const prune = ['prune', '--network', NETWORK, '--outside-scopes', '--contract', one]
  const [logsOfBoth, logsOfOne] = [expected([one, other]).log.length, expected([one]).log.length]
  const counted = await succeed(t, [...prune, '--dry-run', '--json'], { data })
  assert.equal(JSON.parse(counted).outside.logs, logsOfBoth - logsOfOne)
  assert.deepEqual(holdingsIn(store), expected([one, other]))
  const narrowing = start(t, prune, { data })
  await until(
    () => existsSync(`${store}-prune-scopes`),
    isAsked => isAsked,
  )
  narrowing.signal('SIGKILL')
  await narrowing.ended
  await succeed(t, prune, { data })
  assert.deepEqual(holdingsIn(store), expected([one]))
  await succeed(t, command([one, other]), { data })
  assert.deepEqual(holdingsIn(store), expected([one, other]))

  const server = await serve(t, data, [
    ...['--network', NETWORK, '--rpc', node.url, '--finality', '1', '--poll-interval', '20ms'],
    ...['--contract', one, '--contract', other],
  ])
  const reached = await until(
    server.status,
    ({ networks: [it] }) => it!.lag === 0 && it!.coverage?.some(({ ranges }) => ranges.at(-1)!.to === last) === true,
  )
  const { ranges, coverage } = reached.networks[0]!
  assert.deepEqual(ranges, [])
  assert.ok(coverage!.every(({ addressCount }) => addressCount >= 1))
  const partial = await server.total(NETWORK, 'block', { term: { partial: true } })
  assert.equal(partial, await server.total(NETWORK, 'block'))
  const response = await server.send(`/${NETWORK}/es/log/_search`, { query: { term: { address: one } } })
  assert.match(response.headers.get('chainsieve-coverage')!, /^partial; whole=none; filters=\d+; looked=0-/)
})

const ruleFor = (address: string) =>
  ruleOn(
    'ethereum/made-up/mainnet',
    ['Log', 'address', 'Equals (ignore case)', address],
    [webhookTo('https://example.org/hook', 'address')],
    { maxConfirmationCount: 1 },
  )

test('a rule fires for what a scope stores, and warns of what lies outside', async t => {
  const [inside, outside] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const
  const log = (address: `0x${string}`) => ({ address, topics: [], data: '0x' as const })
  const chain = makeChain({ blocks: 3, from: 10, txs: 0 })
  const node = await startNode(t, chain)
  node.methods.set('eth_call', () => '0x')
  node.methods.set('eth_getCode', () => '0x6001600255')
  serveLogs(node)
  const server = await serve(t, tempFolder(t), [
    ...['--network', NETWORK, '--rpc', node.url, '--finality', '1', '--poll-interval', '20ms', '--contract', inside],
  ])
  await until(server.status, ({ networks: [it] }) => it!.lag === 0)
  const made = async (address: string) => {
    const { status, body } = await server.ask<{ id: number; warnings: string[] }>('/alerting/rules/', ruleFor(address))
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }
  const [good, bad] = [await made(inside), await made(outside)]
  assert.deepEqual(good.warnings, [])
  assert.match(bad.warnings.join(), /nothing of 0x2{40} is found/)
  for (const logs of [[], [log(outside), log(inside)], []]) {
    chain.push(blockOf(chain.at(-1)!, logs))
    node.extend(chain.slice(-1))
  }
  const alerts = ({ id }: { id: number }) =>
    server.ask<{ alerts: { state: string; entity: { _id: string } }[] }>(`/alerting/rules/${id}/alerts`)
  const { body } = await until(
    () => alerts(good),
    answer => answer.body.alerts.some(({ state }) => state === 'confirmed'),
  )
  assert.equal(body.alerts.length, 1)
  assert.deepEqual((await alerts(bad)).body.alerts, [])
})

/** Emits one log with the call's value as data for each call. */
const EMITTER = '0x600b600c600039600b6000f334600052602a60206000a100'
const noAnvil = anvilPath === undefined && 'there is no anvil for this platform'

test('a contract of a real node is followed alone, through a reorganisation', {
  skip: noAnvil,
}, async t => {
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const [from] = (await anvil.call<string[]>('eth_accounts')) as [string]
  const deploy = async () => (await anvil.send({ from, data: EMITTER })).contractAddress.toLowerCase()
  const emit = (to: string, value: number) => anvil.send({ from, to, value: `0x${value.toString(16)}` })
  const [wanted, other] = [await deploy(), await deploy()]
  for (const value of [1, 2, 3]) {
    await emit(wanted, value)
    await emit(other, value)
  }
  const network = 'ethereum/anvil/local'
  const server = await serve(t, tempFolder(t), [
    ...['--network', network, '--rpc', anvil.url, '--poll-interval', '20ms', '--contract', wanted],
  ])
  const found = async () => {
    const { body } = await server.ask<{ hits: { hits: { _source: { address: string; data: string } }[] } }>(
      `/${network}/es/log/_search`,
      { size: -1, sort: ['blockNumber.num'] },
    )
    return body.hits.hits.map(({ _source: { address, data } }) => [address.toLowerCase(), Number(data)])
  }
  const reaches = async (...values: number[]) => {
    await until(found, it => it.at(-1)?.[1] === values.at(-1))
    assert.deepEqual(
      await found(),
      values.map(value => [wanted, value]),
    )
  }
  await reaches(1, 2, 3)
  const snapshot = await anvil.call('evm_snapshot')
  await emit(wanted, 4)
  await reaches(1, 2, 3, 4)
  await anvil.call('evm_revert', snapshot)
  for (const value of [5, 6]) {
    await emit(other, value)
    await emit(wanted, value)
  }
  await reaches(1, 2, 3, 5, 6)
  const blocks = await server.total(network, 'block')
  assert.deepEqual([blocks, await server.total(network, 'block', { term: { partial: true } })], [5, 5])
})
