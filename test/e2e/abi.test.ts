import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { succeed, tempFolder } from './program.ts'

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
      network: 'ethereum/demo/local',
      probability: 1,
      events: 5,
      functions: 7,
    },
  ])
})
