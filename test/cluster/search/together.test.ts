import assert from 'node:assert/strict'
import { it } from 'node:test'
import { bundling } from '../../../src/cluster/bundled.ts'
import type { ClusterRequest } from '../../../src/cluster/cluster.ts'
import { aliasOf } from '../../../src/cluster/names.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { createPool } from '../../../src/search/pool.ts'
import { fillCluster, withoutCluster } from '../../support/cluster-fill.ts'
import { ask, NETWORK } from './support.ts'

const QUESTIONS: readonly [entities: string, body: object][] = [
  ['tx', { size: 3, sort: { 'value.num': 'desc' } }],
  ['log', { query: { exists: { field: 'topics' } }, track_total_hits: true }],
  ['event,log', { size: 5, query: { bool: { must_not: [{ term: { 'blockNumber.num': 1 } }] } } }],
  ['block', { size: 0, aggs: { most: { max: { field: 'gasUsed.num' } } } }],
  ['event', { query: { match: { event: 'Transfer' } } }],
  ['tx', { query: { wildcard: { from: { value: '0x*1' } } }, from: 1, size: 2 }],
  ['tx', { query: { regexp: { from: `(0x[0-9a-f]{20}.*){20}` } } }],
  ['tx', { query: { term: { nothing: 1 } } }],
]

it('searches that go to the cluster together are answered as a store answers them alone', {
  skip: withoutCluster,
}, async t => {
  const filled = await fillCluster(undefined, { prefix: 'together' })
  const asked: ClusterRequest[] = []
  const recorded = {
    ...filled.cluster,
    ask(request: ClusterRequest) {
      asked.push(request)
      return filled.cluster.ask(request)
    },
  }
  const all = { atOnce: 0, waitMs: 50, quick: { is: () => true, saw() {} } }
  const place = { cluster: bundling(recorded, all), naming: filled.naming, shelf: () => () => filled.visible }
  const given = {
    ...{ stores: () => new Map([[NETWORK, filled.store.path]]), threads: 1, deadlineMs: 30_000 },
    limits: DEFAULT_LIMITS,
  }
  const [cluster, store] = [createPool({ ...given, clusters: () => place }), createPool(given)]
  t.after(async () => {
    await cluster.close()
    await store.close()
    await filled.close()
  })
  const answers = (pool: typeof store) =>
    Promise.all(QUESTIONS.map(([entities, body]) => ask(pool, entities, JSON.stringify(body))))
  const expected = await answers(store)
  const told = await answers(cluster)
  for (const [i, [, body]] of QUESTIONS.entries()) assert.equal(told[i], expected[i], JSON.stringify(body))
  assert.ok(asked.some(({ searches }) => searches && searches.length > 3))

  const direct = async (path: string, body: object): Promise<number> => {
    const request = { method: 'POST', path, body: JSON.stringify(body), raw: true } as const
    return (await place.cluster.ask(request)).status
  }
  const alias = aliasOf(filled.naming, NETWORK, 'tx')
  const good = () => direct(`/${alias}/_search`, {})
  assert.deepEqual(await Promise.all([good(), direct('/none/_search', {}), good()]), [200, 404, 200])
  asked.length = 0
  const wrong = direct(`/${alias}/_search`, { query: { nothing: {} } })
  assert.deepEqual(await Promise.all([good(), wrong, good()]), [200, 400, 200])
  assert.equal(asked.length, 4)
})
