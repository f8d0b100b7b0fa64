import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SearchService } from '../../src/search/service.ts'
import { ALICE, appOf, COUNTS, callerOf, echo, MAINNET, TOKEN } from './support.ts'

const ES = `/${MAINNET}/es`
const NAME = 'ethereum-ethereum-mainnet'
const DISK = { free: 25 * 2 ** 30, size: 100 * 2 ** 30 }
const search: SearchService = {
  ...echo,
  holdings: async asking => ({ ...(await echo.holdings(asking)), disk: DISK }),
}
const call = (path: string, method = 'GET', services = { search }) =>
  callerOf(appOf(services), TOKEN)(method, path.startsWith('/') ? path : `${ES}/${path}`)
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
const bodyOf = async (path: string): Promise<any> => (await call(path)).body

describe('answers are listed by the name that was asked for', () => {
  const answers: [path: string, keysOf: (name: string) => Promise<string[]>][] = (
    [
      ['', body => Object.keys(body)],
      ['_mapping', body => Object.keys(body)],
      ['_mapping/field/timestamp', body => Object.keys(body)],
      ['_settings', body => Object.keys(body)],
      ['_alias', body => Object.keys(body)],
      ['_field_caps?fields=timestamp', body => body.indices as string[]],
      ['_stats', body => Object.keys(body.indices as object)],
      ['_search_shards', body => Object.keys(body.indices as object)],
    ] as [string, (body: Record<string, unknown>) => string[]][]
  ).map(([path, keys]) => [path, async name => keys(await bodyOf(`${name}/${path}`))])
  for (const [path, keysOf] of answers)
    test(path === '' ? 'the index itself' : path, async () => {
      assert.deepEqual(await keysOf('tx'), ['tx'])
      for (const name of [`${NAME}-tx`, 'tx,tx', 't*,-t*e*,-to*']) assert.deepEqual(await keysOf(name), [`${NAME}-tx`])
      assert.deepEqual(await keysOf('log,tx'), [`${NAME}-tx`, `${NAME}-log`])
    })

  test('the other names are its aliases', async () => {
    assert.deepEqual(await bodyOf('tx/_alias'), { tx: { aliases: { [NAME]: {}, [`${NAME}-tx`]: {} } } })
    assert.equal((await call('tx/_alias/tx')).status, 404)
    assert.deepEqual(await bodyOf(`${NAME}-tx/_alias/tx`), { [`${NAME}-tx`]: { aliases: { tx: {} } } })
  })

  test('of several networks, each index has its whole name', async () => {
    const networks = ['ethereum/ethereum/mainnet', 'ethereum/gnosis/mainnet']
    const several = { search: { ...search, networks: () => networks } }
    const { body } = await call(`/${networks.join()}/es/tx/_mapping`, 'GET', several)
    assert.deepEqual(Object.keys(body), [`${NAME}-tx`, 'ethereum-gnosis-mainnet-tx'])
  })

  test('a hit still has its whole name, and so have tables', async () => {
    const [line] = await bodyOf('_cat/indices/tx?format=json')
    assert.equal(line.index, `${NAME}-tx`)
  })
})

test('settings have no block on writes, which a copy would take along', async () => {
  const { settings } = (await bodyOf('tx/_settings')).tx
  assert.deepEqual(Object.keys(settings.index).sort(), [
    ...['creation_date', 'max_result_window', 'number_of_replicas', 'number_of_shards', 'provided_name'],
    ...['uuid', 'version'],
  ])
})

describe('the node', () => {
  test('has figures', async () => {
    const all = await bodyOf('_nodes/stats')
    const [node] = Object.values<Record<string, never>>(all.nodes)
    const parts = ['indices', 'os', 'process', 'jvm', 'thread_pool', 'fs', 'breakers']
    assert.deepEqual(Object.keys(node!).slice(-parts.length), parts)
    const { indices, os, process: own, jvm, fs } = node as Record<string, Record<string, Record<string, number>>>
    const documents = Object.values(COUNTS).reduce((sum, count) => sum + count, 0)
    assert.deepEqual([indices!.docs!.count, indices!.store!.size_in_bytes], [documents, documents * 1_000])
    assert.equal(fs!.total!.available_in_bytes, DISK.free)
    for (const number of [
      ...[os!.mem!.total_in_bytes, os!.mem!.used_in_bytes, own!.mem!.total_virtual_in_bytes],
      ...[own!.cpu!.total_in_millis, jvm!.mem!.heap_used_in_bytes, jvm!.mem!.heap_max_in_bytes],
    ])
      assert.ok(number! > 0 && Number.isInteger(number))
    assert.ok(jvm!.mem!.heap_used_percent! <= 100)
  })

  test('has the figures that are asked for, of the node that is asked for', async () => {
    const partsOf = async (path: string) => {
      const { nodes } = await bodyOf(path)
      return Object.values<object>(nodes).map(node => Object.keys(node).slice(7))
    }
    assert.deepEqual(await partsOf('_nodes/stats/jvm,fs'), [['jvm', 'fs']])
    assert.deepEqual(await partsOf('_nodes/_local/stats/indices/docs'), [['indices']])
    assert.deepEqual(await partsOf('_nodes/chainsieve/stats/http'), [[]])
    assert.deepEqual(await partsOf('_nodes/other/stats'), [])
    const { status, body } = await call('_nodes/stats/jmv')
    assert.equal(status, 400)
    assert.match(body.error.reason, /unrecognized metric: \[jmv\].*jvm/)
  })

  test('has tables', async () => {
    const [node] = await bodyOf('_cat/nodes?format=json')
    assert.deepEqual(Object.keys(node), [
      ...['ip', 'heap.percent', 'ram.percent', 'cpu', 'load_1m', 'load_5m', 'load_15m', 'node.role', 'master', 'name'],
    ])
    assert.match(node['ram.percent'], /^\d{1,3}$/)
    const shards = await bodyOf('_cat/shards/tx,log?format=json&s=docs:desc')
    assert.deepEqual(
      shards.map((row: Record<string, string>) => [row.index, row.prirep, row.state, row.docs]),
      [
        [`${NAME}-log`, 'p', 'STARTED', String(COUNTS.log)],
        [`${NAME}-tx`, 'p', 'STARTED', String(COUNTS.tx)],
      ],
    )
    const [disk] = await bodyOf('_cat/allocation?format=json&h=shards,disk.*')
    assert.deepEqual(disk, {
      ...{ shards: '8', 'disk.indices': '35.1kb', 'disk.used': '75gb', 'disk.avail': '25gb', 'disk.total': '100gb' },
      'disk.percent': '75',
    })
    assert.deepEqual(await bodyOf('_cat/allocation/other?format=json'), [])
  })

  test('tells of the machine with the scope admin alone', async () => {
    const accounts = { verify: () => ({ ...ALICE, scopes: new Set(['search' as const]) }) }
    const bodyFor = async (path: string) =>
      (await callerOf(appOf({ search, accounts }), TOKEN)('GET', `${ES}/${path}`)).body
    const [node] = Object.values<Record<string, Record<string, unknown>>>((await bodyFor('_nodes/stats')).nodes)
    assert.deepEqual(Object.keys(node!.os!), ['timestamp'])
    assert.deepEqual([node!.fs!.total, node!.fs!.data], [{}, []])
    assert.ok(node!.jvm!.mem && node!.process!.mem && node!.indices!.store)
    const [row] = await bodyFor('_cat/nodes?format=json&h=ram.percent,load_1m,load_5m,load_15m')
    assert.deepEqual(Object.values(row), [null, null, null, null])
    const [disk] = await bodyFor('_cat/allocation?format=json&h=disk.*')
    assert.deepEqual(Object.values(disk), ['35.1kb', null, null, null, null])
  })

  test('has no disk where documents are in a cluster', async () => {
    const inCluster = { search: echo }
    const { body } = await call('_cat/allocation?format=json&h=disk.avail,disk.percent', 'GET', inCluster)
    assert.deepEqual(body, [{ 'disk.avail': null, 'disk.percent': null }])
    const { nodes } = (await call('_nodes/stats/fs', 'GET', inCluster)).body
    assert.deepEqual(Object.values<{ fs: { data: unknown } }>(nodes)[0]!.fs.data, [])
  })

  test('has no tasks', async () => {
    assert.deepEqual(await bodyOf('_tasks?detailed=true'), { nodes: {} })
    assert.deepEqual(await bodyOf('_tasks?group_by=none'), { tasks: [] })
    assert.deepEqual(await bodyOf('_tasks?group_by=parents'), { tasks: {} })
    assert.equal((await call('_tasks?group_by=colour')).status, 400)
    const { status, body } = await call('_tasks/chainsieve:1')
    assert.deepEqual([status, body.error.type], [404, 'resource_not_found_exception'])
    assert.equal((await call('_tasks/_cancel', 'POST')).status, 405)
  })
})

test('the state of the cluster has the parts and indices that are asked for', async () => {
  const all = await bodyOf('_cluster/state')
  assert.deepEqual(Object.keys(all), [
    ...['cluster_name', 'cluster_uuid', 'version', 'state_uuid', 'master_node', 'blocks', 'nodes', 'metadata'],
    ...['routing_table', 'routing_nodes'],
  ])
  assert.equal(Object.keys(all.metadata.indices).length, 8)
  assert.equal(all.routing_nodes.nodes[all.master_node].length, 8)
  const { metadata, ...rest } = await bodyOf('_cluster/state/metadata/tx')
  assert.deepEqual(Object.keys(rest), ['cluster_name', 'cluster_uuid'])
  const { tx } = metadata.indices
  assert.deepEqual(tx.mappings._doc, (await bodyOf('tx/_mapping')).tx.mappings)
  assert.deepEqual(tx.settings, (await bodyOf('tx/_settings')).tx.settings)
  assert.deepEqual(tx.aliases, [NAME, `${NAME}-tx`])
  assert.equal((await call('_cluster/state/metadata/nope')).status, 404)
  assert.match((await call('_cluster/state/metdata')).body.error.reason, /unrecognized metric: \[metdata\].*metadata/)
})

test('there are no templates, and a copy of them is empty', async () => {
  for (const [path, none] of [
    ['_template', {}],
    ['_component_template', { component_templates: [] }],
    ['_index_template', { index_templates: [] }],
  ] as const) {
    assert.deepEqual(await bodyOf(path), none)
    assert.deepEqual([(await call(`${path}/a*`)).status, (await call(`${path}/a`)).status], [404, 404])
    assert.equal((await call(`${path}/a`, 'PUT')).status, 405)
  }
})
