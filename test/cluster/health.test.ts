import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster, ClusterAnswer } from '../../src/cluster/connection/cluster.ts'
import { createClusterHealth, watermarkOf } from '../../src/cluster/indices/cluster-health.ts'
import { retry } from '../../src/lib/errors.ts'
import { until } from '../e2e/program.ts'
import { openTestCluster, withoutOpenSearch } from '../support/real-opensearch.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const GREEN = { status: 'green', number_of_nodes: 3, unassigned_shards: 0, number_of_pending_tasks: 0 }
const OTHERS: Record<string, object> = {
  '/': { version: { distribution: 'opensearch', number: '3.3.2' } },
  '/_nodes/stats/fs,thread_pool': {
    nodes: {
      a: {
        fs: { total: { total_in_bytes: 100e9, available_in_bytes: 40e9 } },
        thread_pool: { write: { rejected: 2 }, search: { rejected: 1 } },
      },
      b: {
        fs: { total: { total_in_bytes: 100e9, available_in_bytes: 9e9 } },
        thread_pool: { write: { rejected: 3 } },
      },
      manager: {},
    },
  },
  '/_cluster/settings': {
    defaults: { cluster: { routing: { allocation: { disk: { watermark: { low: '85%', high: '90%' } } } } } },
  },
}

/** A cluster whose health can be set, and that may forbid the rest. */
const fake = (state: { health?: object; forbids?: boolean }) => {
  const asked: string[] = []
  const cluster: Pick<Cluster, 'ask'> = {
    async ask({ path }): Promise<ClusterAnswer> {
      asked.push(path)
      if (path.startsWith('/_cluster/health')) {
        if (!state.health) throw retry('cluster_unreachable', 'the cluster http://a does not answer')
        return { status: 200, text: JSON.stringify(state.health) }
      }
      return state.forbids ? { status: 403, text: '{}' } : { status: 200, text: JSON.stringify(OTHERS[path]) }
    },
  }
  return { asked, look: createClusterHealth(cluster, { prefix: 'p', blocksPerIndex: 100 }, NETWORK) }
}

test('a cluster is told as it is, with since when, and what its nodes tell once in a while', async () => {
  const state: { health?: object } = { health: GREEN }
  const { look, asked } = fake(state)
  const first = await look()
  const { since, ...rest } = first
  assert.ok(Date.now() - Date.parse(since) < 60_000)
  assert.deepEqual(rest, {
    ...{ state: 'green', error: null, version: 'OpenSearch 3.3.2', nodes: 3, unassignedShards: 0, pendingTasks: 0 },
    ...{ diskFree: 9e9, watermark: 'high', rejected: { writes: 5, searches: 1 }, lost: [] },
  })
  assert.deepEqual(asked[0], '/_cluster/health/p-ethereum-made-up-mainnet-*')
  for (let i = 0; i < 5; i++) assert.equal((await look()).since, since)
  assert.equal(asked.length, 9)
  await look()
  assert.equal(asked.length, 13)

  state.health = { ...GREEN, status: 'red', unassigned_shards: 2 }
  await new Promise(resolve => setTimeout(resolve, 2))
  const red = await look()
  assert.deepEqual([red.state, red.unassignedShards, red.since > since], ['red', 2, true])
  delete state.health
  const away = await look()
  assert.deepEqual(
    [away.state, away.error, away.nodes, away.version],
    [...['unreachable', 'the cluster http://a does not answer', null, 'OpenSearch 3.3.2']],
  )
})

test('a user that may see the health alone sees it', async () => {
  const { state, version, rejected, watermark, diskFree } = await fake({ health: GREEN, forbids: true }).look()
  assert.deepEqual([state, version, rejected, watermark, diskFree], ['green', null, null, null, null])
})

test('watermarks are shares of a disk or bytes that are free, and those that are set last count', () => {
  const disk = { total_in_bytes: 1000 * 2 ** 30, available_in_bytes: 60 * 2 ** 30 }
  const settings = (marks: object, more: object = {}) =>
    JSON.stringify({ persistent: { cluster: { routing: { allocation: { disk: { watermark: marks, ...more } } } } } })
  assert.equal(watermarkOf(disk, '{}'), 'high')
  assert.equal(watermarkOf({ ...disk, available_in_bytes: 2 ** 30 }, '{}'), 'flood_stage')
  assert.equal(watermarkOf({ ...disk, available_in_bytes: 200 * 2 ** 30 }, '{}'), null)
  assert.equal(watermarkOf(disk, settings({ high: '0.95', flood_stage: '50gb' })), 'low')
  assert.equal(watermarkOf(disk, settings({ low: '50gb', high: '30gb', flood_stage: '10gb' })), null)
  assert.equal(watermarkOf(disk, settings({ flood_stage: '61gb' })), 'flood_stage')
  const all = (marks: Record<string, string>) =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(marks).map(([from, low]) => [
          from,
          { cluster: { routing: { allocation: { disk: { watermark: { low, high: '1b', flood_stage: '1b' } } } } } },
        ]),
      ),
    )
  assert.equal(watermarkOf(disk, all({ defaults: '1b' })), null)
  assert.equal(watermarkOf(disk, all({ defaults: '1b', persistent: '61gb' })), 'low')
  assert.equal(watermarkOf(disk, all({ transient: '1b', persistent: '61gb' })), null)
  assert.equal(watermarkOf(disk, settings({}, { threshold_enabled: 'false' })), null)
})

test('a share of a large disk counts up to the bytes that Elasticsearch wants free at most', () => {
  const terabytes = (total: number, free: number) => ({
    ...{ total_in_bytes: total * 2 ** 40, available_in_bytes: free * 2 ** 40 },
  })
  const shares = { low: '85%', high: '90%', flood_stage: '95%' }
  const usual = { 'low.max_headroom': '200GB', 'high.max_headroom': '150GB', 'flood_stage.max_headroom': '100GB' }
  const settings = (sources: Record<string, object>) =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(sources).map(([source, watermark]) => [
          source,
          { cluster: { routing: { allocation: { disk: { watermark } } } } },
        ]),
      ),
    )
  const defaults = { ...shares, ...usual }
  assert.equal(watermarkOf(terabytes(8, 0.3), settings({ defaults: shares })), 'flood_stage')
  assert.equal(watermarkOf(terabytes(8, 0.3), settings({ defaults })), null)
  assert.equal(watermarkOf(terabytes(8, 0.19), settings({ defaults })), 'low')
  assert.equal(watermarkOf(terabytes(8, 0.09), settings({ defaults })), 'flood_stage')
  // A small disk has its share free before that.
  assert.equal(watermarkOf(terabytes(1, 0.14), settings({ defaults })), 'low')
  // What is set without its share.
  const persistent = { low: { max_headroom: '400GB' } }
  assert.equal(watermarkOf(terabytes(8, 0.3), settings({ defaults, persistent })), 'low')
  assert.equal(watermarkOf(terabytes(8, 0.9), settings({ defaults, persistent: { 'low.max_headroom': '-1' } })), 'low')
})

test('a real cluster tells its health', { skip: withoutOpenSearch }, async t => {
  const { cluster, options } = await openTestCluster(t)
  // A cluster that has just started may tell its version later.
  const health = await until(createClusterHealth(cluster, options, NETWORK), ({ version }) => version !== null)
  assert.deepEqual([health.state, health.nodes, health.error], ['green', 1, null])
  assert.match(health.version!, /^(OpenSearch|Elasticsearch) \d/)
  assert.ok(health.diskFree! > 0 && health.rejected !== null)
})
