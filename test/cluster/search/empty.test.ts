import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClusterPlace, createClusterStores } from '../../../src/cluster/stores.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { createPool } from '../../../src/search/pool.ts'
import { openTestCluster, withoutOpenSearch } from '../../support/real-opensearch.ts'
import { createTestStore } from '../../support/store.ts'
import { ask, NETWORK } from './support.ts'

const SEARCHES: [entities: string, body: object][] = [
  ['event', { query: { match: { event: 'transfer' } } }],
  ['event', { query: { fuzzy: { event: 'transfer' } } }],
  ['tx', { query: { has_child: { type: 'log', query: { match_all: {} } } } }],
  ['log', { query: { has_parent: { parent_type: 'tx', query: { match_all: {} } } } }],
  ['tx', { size: 0, aggs: { some: { filter: { has_child: { type: 'log', query: { match_all: {} } } } } } }],
  ['tx', { size: 0, aggs: { each: { terms: { field: 'from.raw' } }, sum: { sum: { field: 'gas.num' } } } }],
  ['tx', { terminate_after: 3 }],
  ['tx', { size: -1 }],
  ['tx', { size: -1, track_total_hits: false }],
  ['tx,block', { sort: '_score' }],
]

test('before its first document a network in a cluster answers as an empty store does', {
  skip: withoutOpenSearch,
}, async t => {
  const { cluster, options: naming } = await openTestCluster(t)
  const store = createTestStore()
  const place: ClusterPlace = { cluster, naming, shelf: db => createShippedReader(db).visible }
  const given = {
    ...{ stores: () => new Map([[NETWORK, store.path]]), threads: 1, deadlineMs: 10_000 },
    limits: DEFAULT_LIMITS,
  }
  const pools = [createPool({ ...given, elsewhere: createClusterStores(() => place) }), createPool(given)] as const
  t.after(async () => {
    for (const pool of pools) await pool.close()
    store.close()
  })
  for (const [entities, body] of SEARCHES) {
    const [found, expected] = await Promise.all(pools.map(pool => ask(pool, entities, JSON.stringify(body))))
    assert.equal(found, expected, JSON.stringify(body))
  }
})
