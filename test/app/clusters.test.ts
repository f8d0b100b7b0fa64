import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { watchClusters } from '../../src/app/clusters.ts'
import { clusterMetrics } from '../../src/app/metrics.ts'
import type { ClusterHealth } from '../../src/cluster/indices/cluster-health.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/lib/log.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'

const HEALTH: ClusterHealth = {
  ...{ state: 'yellow', since: '2026-03-01T00:00:00Z', error: null, version: 'OpenSearch 3.3.2', nodes: 3 },
  ...{ unassignedShards: 0, pendingTasks: 1, diskFree: 5, watermark: 'low', rejected: { writes: 2, searches: 0 } },
  lost: [],
}

test('the metrics of a cluster are those that docs/opensearch.md lists', () => {
  const page = readFileSync(new URL('../../docs/opensearch.md', import.meta.url), 'utf8')
  const rows = clusterMetrics(HEALTH).map(({ name, type, help, series }) => {
    const labels = ['network', ...Object.keys(series[0]!.labels)].map(label => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`
  })
  for (const row of rows) assert.ok(page.includes(row), `the page should have:\n${rows.join('\n')}`)
  const unknown = { nodes: null, unassignedShards: null, pendingTasks: null, diskFree: null, watermark: null }
  assert.deepEqual(
    clusterMetrics({ ...HEALTH, ...unknown, state: 'unreachable', rejected: null }).map(({ name }) => name),
    ['chainsieve_cluster_state', 'chainsieve_cluster_lost_indices'],
  )
})

test('clusters of networks are looked at from the start, and what is wrong is logged', async () => {
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line.slice(25)), json: false })
  const shutdown = createShutdown({ signals: new EventEmitter() as unknown as NodeJS.Process })
  const flags = { network: 'a/b/c', store: 'opensearch', opensearchUrl: ['http://127.0.0.1:1'] }
  const of = await watchClusters(loadConfig({ env: {}, flags }), { log, shutdown })
  assert.equal(of('x/y/z'), undefined)
  while (!of('a/b/c')) await new Promise(resolve => setTimeout(resolve, 5))
  assert.equal(of('a/b/c')!.state, 'unreachable')
  assert.match(lines.join(), /warn {2}The state of the cluster changed network=a\/b\/c state=unreachable error=/)
  await shutdown.close()
})
