import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { toEventSelector, toFunctionSelector } from 'viem'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { after, serve, succeed, tempFolder, until } from './program.ts'

test('events of a contract are decoded by its ABI once it was given, and by no other contract of an address', async t => {
  const folder = tempFolder(t)
  const demo = fileURLToPath(new URL('../../data/demo.ndjson.gz', import.meta.url))
  const abi = fileURLToPath(new URL('../../data/demo-abi.json', import.meta.url))
  const HARBOR = '0x96413f97B68fA79d0Be52a7EDc327D283fAaa5A8'
  const BIRDS = '0xA0408F356956Ae9BECa5Ac57040695012fa3CAAB'
  const query = (network: string, entity: string) => ({
    network,
    entity,
    body: JSON.stringify({ query: { term: { 'address.raw': HARBOR } }, size: -1, sort: { 'blockNumber.num': 'asc' } }),
  })
  interface Answer {
    hits: {
      total: number
      hits: { _id: string; _source: { event: string; probability: number; error: string | null } }[]
    }
  }
  const imported = async (name: string, ...added: string[][]) => {
    const data = join(folder, name)
    for (const args of added) await succeed(t, ['abi', 'add', ...args], { data })
    await succeed(t, ['import', '--network', 'ethereum/demo/local', demo], { data })
    const ask = async (entity: string) => {
      const { network, body } = query('ethereum/demo/local', entity)
      return (JSON.parse(await succeed(t, ['search', network, entity, body], { data })) as Answer).hits
    }
    const [logs, events] = await Promise.all([ask('log'), ask('event')])
    const named: Record<string, number> = {}
    for (const { _source } of events.hits)
      if (_source.event.startsWith('Harbor')) {
        named[_source.event] = (named[_source.event] ?? 0) + 1
        assert.deepEqual([_source.probability, _source.error], [1, null])
      }
    return { data, logs: logs.total, named }
  }
  const all = { HarborCargoLanded: 9, HarborLogbook: 7, HarborBerths: 7, HarborShipArrived: 4 }

  const [before, after, its, others] = await Promise.all([
    imported('before'),
    imported('after', [abi]),
    imported('its', ['--network', 'ethereum/demo/local', '--address', HARBOR.toLowerCase(), abi]),
    imported('others', ['--network', 'ethereum/demo/local', '--address', BIRDS, abi]),
  ])
  assert.deepEqual([before.logs, before.named], [51, {}])
  assert.deepEqual([after.logs, after.named], [51, all])
  assert.deepEqual([its.logs, its.named], [51, all])
  assert.deepEqual([others.logs, others.named], [51, {}])
  assert.deepEqual(JSON.parse(await succeed(t, ['abi', 'list', '--json'], { data: its.data })), [
    {
      name: 'demo-abi',
      address: HARBOR.toLowerCase(),
      codeHash: null,
      network: 'ethereum/demo/local',
      probability: 1,
      events: 5,
      functions: 7,
    },
  ])
})

const skip = anvilPath === undefined && 'there is no anvil for this platform'

test('a running server takes up ABIs that are added, and does without those that are removed', { skip }, async t => {
  const NETWORK = 'ethereum/anvil/local'
  const data = tempFolder(t)
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  // Whatever it is called by, it emits Landed with the ether that was sent.
  const code = `346000527f${toEventSelector('Landed(uint256)').slice(2)}60206000a100`
  const size = (code.length / 2).toString(16)
  const deploy = async () => (await anvil.send({ data: `0x60${size}600c60003960${size}6000f3${code}` })).contractAddress
  const [A, B] = [await deploy(), await deploy()]

  const server = await serve(t, data, ['--network', NETWORK, '--rpc', anvil.url, '--ws', anvil.wsUrl])
  const call = async (to: string, signature = 'land(uint256)') => {
    const { transactionHash: hash } = await anvil.send({
      to,
      value: '0x7',
      data: `${toFunctionSelector(signature)}${'9'.padStart(64, '0')}`,
    })
    const find = async (entity: string, query: object) =>
      (await server.search(NETWORK, entity, { query: { term: query } })).hits.hits[0]?._source
    const tx = await until(
      () => find('tx', { hash }),
      found => found !== undefined,
      server.err,
    )
    const event = await find('event', { transactionHash: hash })
    return `${tx!.method ?? 'unnamed'} ${event ? `${event.str} ${event.probability}` : 'no event'}`
  }
  const becomes = (to: string, want: string, signature?: string) =>
    until(
      () => call(to, signature),
      seen => seen === want,
      server.err,
    )
  assert.equal(await call(A), 'unnamed no event')

  const list = join(data, 'list.csv')
  const hashes = [toFunctionSelector('land(uint256)'), toEventSelector('Landed(uint256)')]
  writeFileSync(list, `${hashes[0]},land(uint256)\n${hashes[1]},Landed(uint256)\n`)
  await succeed(t, ['abi', 'add', list], { data })
  await becomes(A, 'land Landed(0=7) 0.6')

  const its = join(data, 'Harbor.txt')
  writeFileSync(its, '# The harbour\nevent Landed(uint256 berth)\nfunction many_msg_babbage(bytes1 b)\n')
  await succeed(t, ['abi', 'add', '--network', NETWORK, '--address', A, its], { data })
  await becomes(A, 'land Landed(berth=7) 1')
  assert.equal(await call(B), 'land Landed(0=7) 0.6')
  assert.equal(await call(A, 'transfer(address,uint256)'), 'many_msg_babbage Landed(berth=7) 1')
  assert.equal(await call(B, 'transfer(address,uint256)'), 'transfer Landed(0=7) 0.6')

  const before = await server.total(NETWORK, 'event')
  await succeed(t, ['abi', 'remove', 'list', 'Harbor'], { data })
  await becomes(A, 'unnamed no event')
  assert.equal(await succeed(t, ['abi', 'list', '--json'], { data }), '[]\n')
  assert.ok((await server.total(NETWORK, 'event')) >= before, 'what is stored stays decoded')
  assert.doesNotMatch(server.err(), /level=error/)
})
