import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { type ClusterPlace, createClusterStores } from '../../../src/cluster/stores.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { createPool, type Pool, type PoolOptions } from '../../../src/search/pool.ts'
import type { SearchParams } from '../../../src/search/service.ts'
import { type FilledCluster, fillCluster, shelve, withoutCluster } from '../../support/cluster-fill.ts'
import { oddBlocks } from '../../support/odd.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { stringifyLossless } from '../../support/scenarios.ts'
import { arbitrarySort } from '../../support/sorts.ts'
import { createTestStore, excerptOf, generatedBlocks, type TestStore } from '../../support/store.ts'
import { assertPromised } from '../promised.ts'
import { never, REFUSED, told } from './support.ts'

// Two networks that hold every other block of a chain. Their stores are the oracle of both in clusters, and of one of them.
const NETWORKS = ['made/up/even', 'made/up/odd']
const BOTH = NETWORKS.join(',')

describe('several networks of which some lie in clusters answer as their stores do', { skip: withoutCluster }, () => {
  let stores: TestStore[]
  let filled: FilledCluster[]
  let oracle: Pool
  /** One network in a cluster, the other one, and both. */
  let pools: Pool[]

  before(async () => {
    const blocks = [
      ...generatedBlocks(3).map((raw, i) => excerptOf(raw, index => index % 2 === i % 2)),
      ...oddBlocks(8),
    ]
    stores = [0, 1].map(odd => createTestStore(blocks.filter((_, i) => i % 2 === odd)))
    filled = await Promise.all(
      stores.map((store, i) => fillCluster(store, { prefix: 'several', network: NETWORKS[i]! })),
    )
    for (const one of filled) shelve(one)
    const given: PoolOptions = {
      stores: () => new Map(NETWORKS.map((network, i) => [network, stores[i]!.path])),
      ...{ threads: 1, deadlineMs: 60_000, limits: DEFAULT_LIMITS },
    }
    const placeOf = (network: string): ClusterPlace => {
      const { cluster, naming, visible } = filled[NETWORKS.indexOf(network)]!
      return { cluster, naming, shelf: () => () => visible }
    }
    oracle = createPool(given)
    pools = [[NETWORKS[0]], [NETWORKS[1]], NETWORKS].map(some =>
      createPool({
        ...given,
        elsewhere: createClusterStores(network => (some.includes(network) ? placeOf(network) : undefined)),
      }),
    )
  })
  after(async () => {
    for (const pool of [oracle, ...(pools ?? [])]) await pool?.close()
    for (const one of filled ?? []) await one.close()
  })

  const ask = (pool: Pool, entities: string, body: object | undefined, more: Partial<SearchParams> = {}) =>
    told(() =>
      pool.search({
        ...{ network: BOTH, entities, account: 1, signal: never },
        body: body && Buffer.from(stringifyLossless(body)),
        ...more,
      }),
    )

  /** The answer, where none of them refuses. */
  const same = async (entities: string, body: object | undefined, more: Partial<SearchParams> = {}) => {
    const expected = await ask(oracle, entities, body, more)
    for (const [i, pool] of pools.entries()) {
      const answer = await ask(pool, entities, body, more)
      if (answer.includes(REFUSED)) return undefined
      assertPromised(answer, expected, `${i} ${entities} ${stringifyLossless(body)}`)
    }
    return expected
  }

  for (const kind of ['block', 'tx', 'log', 'event', 'call'] as const)
    it(`random searches of ${kind}`, async () => {
      const body = fc.record(
        {
          query: arbitraryQuery(
            kind,
            stores.flatMap(store => store.all(kind)),
            { depth: 2 },
          ).map(filter => ({
            bool: { filter },
          })),
          sort: arbitrarySort([kind]),
          size: fc.constantFrom(0, 1, 3, 10, 50, -1),
          from: fc.constantFrom(0, 0, 1, 7),
          track_total_hits: fc.constantFrom(true, false, 3),
        },
        { requiredKeys: ['size'] },
      )
      let answered = 0
      await fc.assert(
        fc.asyncProperty(body, async body => {
          if (await same(kind, body.size < 0 ? { ...body, from: 0 } : body)) answered++
        }),
        { numRuns: RUNS, seed: SEED, endOnFailure: true },
      )
      assert.ok(answered >= RUNS / 2, `${answered} of ${RUNS}`)
    })

  it('scores are of each network, and the best come first of all', async () => {
    for (const body of [
      { query: { match: { event: 'transfer bare' } }, size: 100 },
      { query: { match: { event: 'transfer bare' } }, size: -1 },
      { query: { bool: { should: [{ match_all: {} }, { exists: { field: 'args.name' } }] } }, size: -1 },
      { query: { term: { 'address.raw': { value: '0x', boost: 2 } } }, size: 5, track_scores: true, sort: 'timestamp' },
      { query: { bool: { should: [{ match_all: {} }, { exists: { field: 'args.name' } }] } }, size: 30, from: 20 },
    ])
      assert.ok(await same('event', body))
  })

  it('in lines, counted, page by page, and told apart by their indices', async () => {
    for (const size of [0, 7, -1]) assert.ok(await same('tx,log', { size, sort: 'timestamp' }, { format: 'ndjson' }))
    for (const index of ['made-up-even-log', 'made-up-odd-log', 'nothing'])
      assert.ok(await same('log', { query: { term: { _index: index } } }, { form: { tell: 'count' } }))
    const sort = [{ timestamp: 'desc' }, { 'logIndex.num': 'asc' }]
    let search_after: unknown
    for (let page = 0; page < 8; page++) {
      const body = { size: 50, sort, _source: ['topics'], ...(page > 0 && { search_after }) }
      const { hits } = JSON.parse((await same('log', body))!.slice(4)).hits
      search_after = hits.at(-1)?.sort
    }
    assert.ok(search_after)
    const rich = { fields: ['timestamp', 'from'], highlight: { fields: { '*': {} } }, explain: true, version: true }
    assert.ok(await same('tx', { ...rich, size: 30, query: { exists: { field: 'from' } } }))
    assert.ok(
      await same('tx,log', {
        size: 3,
        post_filter: { exists: { field: 'to' } },
      }),
    )
  })

  it('long answers come in parts', async () => {
    const long = (await same('tx,log,event,call,trace', { size: -1, _source: false }))!
    const { hits, total } = JSON.parse(long.slice(4)).hits
    assert.equal(hits.length, total)
    assert.ok(total > 1400, `${total}`)
    assert.ok(await same('tx,log,event,call', { size: -1, sort: [{ 'blockNumber.num': 'asc' }], _source: false }))
  })

  it('refuses by name what clusters do not tell enough of', async () => {
    const refused: [body: object, says: RegExp][] = [
      [{ aggs: { a: { max: { field: 'blockNumber.num' } } } }, /Aggregations of several networks does not work/],
      [{ size: -1, from: 3 }, /\[from\] with "size": -1/],
      [{ collapse: { field: 'from.raw' } }, /\[collapse\] works on one network at a time/],
    ]
    for (const [body, says] of refused) for (const pool of pools) assert.match(await ask(pool, 'tx', body), says)
  })
})

/** Cases of each kind; `RUNS=500 npm test -- cluster/search/several` looks further. */
const RUNS = Number(process.env.RUNS ?? 12)
const SEED = Number(process.env.SEED ?? 1)
