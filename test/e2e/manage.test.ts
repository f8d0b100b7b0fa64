import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SCOPES } from '../../src/accounts/index.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'
import { serve, tempFolder, until } from './program.ts'

const HARBOR = '0x96413f97b68fa79d0be52a7edc327d283faaa5a8'
const DEMO = 'ethereum/demo/local'
const demoAbi = JSON.parse(readFileSync(new URL('../../data/demo-abi.json', import.meta.url), 'utf8')) as unknown

interface Info {
  id: string
  [more: string]: unknown
}

test('a server is managed over HTTP: ABIs, decoding again, deliveries across rules, series, storage', async t => {
  const { ask } = await serve(t, tempFolder(t), ['--allow-target', '127.0.0.1'], { scopes: SCOPES })
  const call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => ask<T>(path, body, method)
  const get = async <T>(path: string) => (await call<T>('GET', path)).body
  const harbors = async () => {
    const query = { bool: { filter: [{ term: { address: HARBOR } }, { prefix: { 'event.raw': 'Harbor' } }] } }
    const { body } = await call<{ hits: { total: number } }>('POST', `/${DEMO}/es/event/search/`, { query, size: 0 })
    return body.hits.total
  }

  const { account, server } = await get<{ account: string; server: Record<string, unknown> }>('/account')
  assert.deepEqual(
    [account, server.features, server.networks],
    ['test', ['search', 'abis', 'rules', 'metrics'], [{ network: DEMO, indexed: false, traces: null }]],
  )

  assert.equal(await harbors(), 0)
  const before = await get<Record<string, unknown>>(`/${DEMO}/abi/${HARBOR}`)
  assert.deepEqual([before.abis, ['signatures', null].includes(before.source as string | null)], [[], true])
  const added = await call<{ abis: Info[]; redecodings: Info[] }>(
    ...(['POST', `/abis?network=${DEMO}&address=${HARBOR}&name=Harbor&redecode=true`, demoAbi] as const),
  )
  assert.equal(added.status, 201, JSON.stringify(added.body))
  const [abi] = added.body.abis
  assert.deepEqual([added.body.redecodings[0]!.network, added.body.redecodings[0]!.name], [DEMO, 'Harbor'])
  const idle = () => get<{ redecodings: Info[] }>('/redecodings')
  await until(idle, ({ redecodings }) => redecodings.length === 0)
  assert.equal(await harbors(), 27)
  const known = await get<{ abis: Info[]; implementations: { through: string }[] }>(`/${DEMO}/abi/${HARBOR}`)
  const { abis, implementations, ...told } = known
  assert.deepEqual(told, {
    ...{ network: DEMO, address: HARBOR, source: 'address', name: 'Harbor', probability: 1 },
    ...{ codeHash: before.codeHash as string },
  })
  // It runs the code of another contract.
  assert.deepEqual(
    implementations.map(({ through }) => through),
    [HARBOR],
  )
  assert.deepEqual(abis, [{ ...abi!, source: 'address', of: HARBOR }])

  const receiver = await startReceiver(t, () => ({ status: 500, body: 'Not today' }))
  const [technology, blockchain, network] = DEMO.split('/')
  const condition = { name: 'event', operator: 'Equals', value: 'HarborCargoLanded' }
  const alerts = [{ type: 'Webhook (POST)', parameters: { url: `${receiver.url}/in` } }]
  const config = ruleConfig({ targetType: 'Event', targetMap: [condition], alerts })
  const rule = ruleBody({ technology, blockchain, network, config, maxConfirmationCount: 0 })

  const simulated = await call<{
    total: number
    series: { intervalMs: number; buckets: { from: string; count: number }[] }
  }>(...(['POST', '/alerting/rules/simulate', { ...rule, lastBlocks: 421, buckets: 60, size: 5 }] as const))
  assert.equal(simulated.status, 200, JSON.stringify(simulated.body))
  const { buckets } = simulated.body.series
  assert.deepEqual([simulated.body.total, buckets.reduce((sum, { count }) => sum + count, 0)], [9, 9])
  assert.ok(buckets.length > 10 && buckets.length <= 60)
  const few = await call<{ fromBlock: number; series: unknown }>(
    ...(['POST', '/alerting/rules/simulate', { ...rule, lastBlocks: 1, buckets: 3 }] as const),
  )
  assert.equal(few.body.fromBlock, 420)

  const made = await call<{ id: number }>('POST', '/alerting/rules/', { ...rule, startBlock: 0 })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  interface Page {
    deliveries: { id: number; state: string; tries: number; target: string; lastStatus: number }[]
    next: string | null
  }
  const retried = () => get<Page>('/alerting/deliveries?state=retried&size=100')
  await until(retried, ({ deliveries }) => deliveries.length > 0)
  const all = await get<Page>(`/alerting/deliveries?rule=${made.body.id}&size=100`)
  assert.deepEqual([all.deliveries.length, all.next], [9, null])
  const [first] = (await retried()).deliveries
  const one = await get<{ attempts: { head: string; status: number }[] }>(`/alerting/deliveries/${first!.id}`)
  assert.deepEqual([one.attempts[0]!.head, one.attempts[0]!.status], ['Not today', 500])
  const { destinations } = await get<{ destinations: Record<string, unknown>[] }>('/alerting/destinations')
  const [destination] = destinations
  assert.deepEqual(
    [destinations.length, (destination!.waiting as number) + (destination!.retried as number), destination!.target],
    [1, 9, first!.target],
  )

  const series = await get<{ rules: Record<string, unknown>[] }>('/alerting/series')
  const { id, last24h, total, idle: why, lastAlert } = series.rules[0]!
  assert.deepEqual([id, last24h, total, why], [made.body.id, 9, 9, null])
  assert.equal((lastAlert as { state: string }).state, 'confirmed')

  receiver.behave = () => ({ status: 200 })
  const again = await call('POST', '/alerting/deliveries/redeliver', { target: first!.target })
  assert.deepEqual(again.body, { redelivered: 9 })
  await until(
    () => get<Page>('/alerting/deliveries?state=delivered&size=100'),
    ({ deliveries }) => deliveries.length === 9,
  )
  assert.deepEqual((await get<Page>('/alerting/deliveries?state=queued')).deliveries, [])

  const storage = await until(
    () => get<{ state: string; storage: { bytes: number; parts: unknown[] } }>(`/status/storage?network=${DEMO}`),
    ({ state }) => state === 'measured',
  )
  assert.ok(storage.storage.bytes > 1e6 && storage.storage.parts.length > 10)
  const rates = await get<{ networks: { samples: { top: number }[] }[] }>('/status/rates')
  assert.ok(rates.networks.length <= 1)

  assert.equal((await call('DELETE', `/abis/${abi!.id}`)).status, 204)
  assert.deepEqual(await get('/abis'), { abis: [] })
  assert.equal(await harbors(), 27)
})
