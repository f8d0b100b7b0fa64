import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterHealth } from '../../src/cluster/indices/health.ts'
import { createReadinessLog, type Reason, reasonsOf } from '../../src/ingest/status/readiness.ts'
import type { NetworkState } from '../../src/ingest/status/status.ts'
import { createLog } from '../../src/lib/log.ts'
import type { ThreadsState } from '../../src/search/threads.ts'

const NETWORK: NetworkState = {
  ...{ network: 'a/b/c', state: 'following', ranges: [], head: 9, lag: 0, lastBlock: null, headAge: 1, blockTime: 12 },
  ...{ blocksPerSecond: 0, eventsPerSecond: 0, secondsLeft: null, error: null, endpoints: [], alerts: {} },
}
const since = '2026-03-01T00:00:00Z'
const restarts = { count: 1, error: 'a secret fault', endedAt: since, nextAt: since }
const CLUSTER: ClusterHealth = {
  ...{ state: 'green', since, error: 'a secret fault', version: null, nodes: 1, unassignedShards: 0, pendingTasks: 0 },
  ...{ diskFree: null, watermark: null, rejected: null, lost: [] },
}
const READERS: ThreadsState = { most: 2, started: 1, busy: 0, waiting: 0, lost: 0, error: null }

const typesOf = (network: Partial<NetworkState>) =>
  reasonsOf({ version: '1', networks: [{ ...NETWORK, ...network }] }).map(({ type, since }) => [type, since])

test('each of the things that can be wrong is a reason, and no other is', () => {
  for (const state of ['following', 'filling', 'serving'] as const) assert.deepEqual(typesOf({ state }), [])
  const kinds = {
    node: 'nodes_failing',
    chain: 'wrong_chain',
    block: 'no_new_block',
    disk: 'disk_full',
    store: 'store_not_written',
  } as const
  for (const [kind, type] of Object.entries(kinds))
    assert.deepEqual(
      typesOf({ state: 'waiting', waiting: { kind: kind as keyof typeof kinds, for: 'http://node/secret', since } }),
      [[type, since]],
    )
  assert.deepEqual(typesOf({ state: 'waiting', waiting: { kind: 'rules', for: '', since } }), [
    ['rules_waiting', since],
  ])
  assert.deepEqual(typesOf({ state: 'waiting', waiting: { kind: 'thread', for: '', since } }), [
    ['network_stuck', since],
  ])
  // A back-fill that waits for its budget takes nothing from those who ask; a head that does, does.
  assert.deepEqual(typesOf({ state: 'waiting', waiting: { kind: 'fill', for: '', since, until: since } }), [])
  assert.deepEqual(typesOf({ state: 'waiting', waiting: { kind: 'budget', for: '', since, until: since } }), [
    ['budget_used', since],
  ])
  assert.deepEqual(typesOf({ state: 'restarting', restarts }), [['network_restarting', since]])
  assert.deepEqual(typesOf({ state: 'stopped', error: 'wrong chain' }), [['network_stopped', undefined]])
  assert.deepEqual(typesOf({ state: 'serving', store: 'damaged' }), [['store_damaged', undefined]])
  assert.deepEqual(typesOf({ state: 'serving', store: 'unreadable' }), [['store_unreadable', undefined]])
  const cluster = (state: ClusterHealth['state'], watermark: ClusterHealth['watermark'] = null) =>
    typesOf({ cluster: { ...CLUSTER, state, watermark, indices: 'a-*' } })
  assert.deepEqual([...cluster('green'), ...cluster('yellow', 'high')], [])
  assert.deepEqual(cluster('red', 'flood_stage'), [
    ['cluster_red', since],
    ['cluster_disk_full', undefined],
  ])
  assert.deepEqual(cluster('unreachable'), [['cluster_unreachable', since]])
})

test('deliveries and threads have their reasons, and none tells a secret', () => {
  const reasons = reasonsOf({
    version: '1',
    networks: [{ ...NETWORK, state: 'waiting', waiting: { kind: 'node', for: 'http://node/secret', since } }],
    deliveries: { state: 'restarting', error: 'a secret fault', restarts, failing: [] },
    readers: { ...READERS, error: 'a secret fault' },
  })
  assert.deepEqual(
    reasons.map(({ type }) => type),
    ['nodes_failing', 'deliveries_stuck', 'readers_lost'],
  )
  assert.doesNotMatch(JSON.stringify(reasons), /secret/)
  const failing = [
    {
      account: 1,
      rule: 2,
      channel: 'Chat',
      receiver: 'x',
      target: 'x',
      error: 'HTTP 500',
      status: 500,
      since,
      at: since,
    },
  ]
  const well = { state: 'delivering' as const, error: null, restarts: { ...restarts, nextAt: null }, failing }
  // A receiver that is down is its account's affair.
  assert.deepEqual(reasonsOf({ version: '1', networks: [NETWORK], deliveries: well, readers: READERS }), [])
  const stuck = { state: 'stuck' as const, error: 'full', failing: [] }
  assert.equal(reasonsOf({ version: '1', networks: [], deliveries: stuck })[0]?.type, 'deliveries_stuck')
})

test('a reason is logged as it comes and as it goes, once', () => {
  const lines: string[] = []
  const tell = createReadinessLog(createLog({ write: line => void lines.push(line.slice(25)), json: false }))
  const reason: Reason = { type: 'no_new_block', network: 'a/b/c', since, reason: 'why' }
  for (const reasons of [[], [reason], [{ ...reason, since: 'later' }], [reason], [], []]) tell(reasons)
  assert.deepEqual(
    lines.map(line => line.replace(/seconds=\d+/, 'seconds=0')),
    [
      'warn  Is not ready type=no_new_block network=a/b/c reason=why since=2026-03-01T00:00:00Z',
      'info  Is ready again type=no_new_block network=a/b/c seconds=0',
    ],
  )
})
