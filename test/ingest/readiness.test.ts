import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import type { ClusterHealth } from '../../src/cluster/indices/cluster-health.ts'
import { createChainPace } from '../../src/ingest/status/chain-pace.ts'
import { createReadinessLog, type Reason, reasonsOf } from '../../src/ingest/status/readiness.ts'
import type { NetworkState } from '../../src/ingest/status/status.ts'
import { createLog } from '../../src/lib/log.ts'
import type { ThreadsState } from '../../src/search/thread-pool.ts'

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

const START = Date.parse('2026-03-01T00:00:00Z')
const setUp = (options: { stored?: { number: number; time: number }[]; staleMs?: number } = {}) => {
  let now = START
  let off = 0
  const pace = createChainPace({ stored: [], clock: { now: () => now + off, elapsed: () => now - START }, ...options })
  return {
    pace,
    step(seconds: number) {
      off += seconds * 1_000
    },
    at(seconds: number) {
      now = START + seconds * 1_000
    },
  }
}
const chain = (count: number, seconds: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ number: from + i, time: (from + i) * seconds }))
describe('the pace of a chain', () => {
  it('is that of its own blocks, and three of them are waited for', () => {
    const { pace, at } = setUp({ stored: chain(10, 12) })
    assert.equal(pace.blockTime(), 12)
    // What is stored came before.
    assert.equal(pace.newest(), null)
    at(1)
    pace.came({ number: 10, time: 120 })
    assert.deepEqual(pace.newest(), { number: 10, time: 120, at: START + 1_000 })
    at(37)
    assert.equal(pace.stale(), undefined)
    at(37.1)
    assert.deepEqual(pace.stale(), {
      kind: 'block',
      for: 'a new block (the last one was 10; the chain makes one every 12 s)',
      since: '2026-03-01T00:00:01.000Z',
    })
    pace.came({ number: 11, time: 132 })
    assert.equal(pace.stale(), undefined)
  })

  it('is waited for as long however the clock is set meanwhile', () => {
    const { pace, at, step } = setUp({ stored: chain(10, 12) })
    pace.came({ number: 10, time: 120 })
    step(86_400)
    at(30)
    assert.equal(pace.stale(), undefined)
    step(-2 * 86_400)
    at(37)
    assert.equal(pace.stale()?.since, '2026-02-28T00:00:00.000Z')
  })

  it('is not that of the one in ten blocks that takes longer', () => {
    const { pace } = setUp()
    let time = 0
    for (let number = 0; number < 60; number++) {
      time += number % 12 === 5 ? 96 : 12
      pace.came({ number, time })
    }
    assert.equal(pace.blockTime(), 12)
  })

  it('is the mean where several blocks have one timestamp', () => {
    const stored = Array.from({ length: 61 }, (_, number) => ({ number, time: Math.floor(number / 5) }))
    assert.equal(setUp({ stored }).pace.blockTime(), 0.2)
  })

  it('of a fast chain has a floor, and while it is not known, two minutes are waited', () => {
    const fast = setUp({ stored: chain(20, 0.25) })
    fast.at(10)
    assert.equal(fast.pace.stale(), undefined)
    fast.at(10.1)
    assert.equal(fast.pace.stale()?.kind, 'block')
    const unknown = setUp()
    unknown.at(120)
    assert.equal(unknown.pace.stale(), undefined)
    unknown.at(121)
    assert.equal(unknown.pace.stale()?.for, 'a new block (none has come yet)')
  })

  it('goes by what the operator says, where they do', () => {
    const said = setUp({ stored: chain(20, 12), staleMs: 2_000 })
    said.at(3)
    assert.equal(said.pace.stale()?.kind, 'block')
    const never = setUp({ stored: chain(20, 12), staleMs: 0 })
    never.at(1e9)
    assert.equal(never.pace.stale(), undefined)
  })

  it('is that of the chain while nodes have blocks that are not stored, also where none is due', () => {
    const { pace, at } = setUp({ stored: chain(20, 12), staleMs: 0 })
    at(37)
    assert.equal(pace.stale(19), undefined)
    assert.equal(
      pace.stale(22)?.for,
      'a new block in a usable form: nodes are at 22 (the last one was 19; the chain makes one every 12 s)',
    )
  })

  it('follows a reorganisation', () => {
    const { pace, at } = setUp()
    for (const block of chain(10, 12)) pace.came(block)
    at(5)
    pace.lost(7)
    pace.came({ number: 8, time: 97 })
    assert.deepEqual(pace.newest(), { number: 8, time: 97, at: START + 5_000 })
    // A block in the place of others takes them away, too.
    pace.came({ number: 6, time: 73 })
    assert.equal(pace.newest()?.number, 6)
    assert.equal(pace.blockTime(), 13)
  })
})
