import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatStatus } from '../../../src/app/cli/format.ts'
import type { ClusterHealth } from '../../../src/cluster/indices/cluster-health.ts'
import type { NetworkState } from '../../../src/ingest/status/status.ts'

const since = '2026-03-01T00:00:00Z'
const HEALTH: ClusterHealth = {
  ...{ state: 'yellow', since, error: null, version: 'OpenSearch 3.3.2', nodes: 3, unassignedShards: 2 },
  ...{ pendingTasks: 0, diskFree: 1, watermark: 'high', rejected: null, lost: [] },
}
const NETWORK: NetworkState = {
  ...{ network: 'a/b/c', state: 'serving', ranges: [], head: null, lag: null, lastBlock: null, headAge: null },
  ...{ blockTime: null, blocksPerSecond: null, eventsPerSecond: null, secondsLeft: null, error: null },
  ...{ endpoints: [], alerts: {} },
}
const lineOf = (cluster: ClusterHealth) =>
  formatStatus({ version: '1', networks: [{ ...NETWORK, cluster: { ...cluster, indices: 'a-b-*' } }] })
    .split('\n')
    .find(line => line.includes('cluster'))
    ?.trim()

test('the status of a network tells its cluster in one line, without what could move the cursor', () => {
  assert.equal(
    lineOf(HEALTH),
    `cluster yellow since ${since}, OpenSearch 3.3.2, 3 nodes, a disk over the watermark high`,
  )
  const log = 'p-a-b-c-log-000000'
  assert.match(lineOf({ ...HEALTH, watermark: null, lost: [log] })!, /3 nodes, 1 index lost: p-a-b-c-log-000000$/)
  const away = { ...HEALTH, state: 'unreachable' as const, error: 'no \u001b[2Janswer', nodes: null, watermark: null }
  assert.equal(lineOf(away), `cluster unreachable since ${since}, no [2Janswer`)
})
