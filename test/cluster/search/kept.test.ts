import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterRequest } from '../../../src/cluster/connection/cluster.ts'
import { createClusterStores } from '../../../src/cluster/stores.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { createPool, type Pool } from '../../../src/search/pool.ts'
import { openTestCluster, withoutOpenSearch } from '../../support/real-opensearch.ts'
import { createRandom, movedBlock, SHIPPED, startShipper } from '../../support/ship.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'
import { ask } from './support.ts'

/** A seed that ever failed is kept here. `SEEDS=50` tries so many. */
const SEEDS = process.env.SEEDS ? Array.from({ length: Number(process.env.SEEDS) }, (_, i) => i) : [1]
const STEPS = 8

for (const seed of SEEDS)
  test(`what is kept is what the cluster answers, whatever happens: seed ${seed}`, {
    skip: withoutOpenSearch,
  }, async t => {
    const random = createRandom(seed)
    const { cluster, options: naming } = await openTestCluster(t, { blocksPerIndex: 100 })
    const store = createTestStore()
    const shipper = startShipper(store, { ...cluster, close: async () => {} }, { prefix: naming.prefix })
    const asked: ClusterRequest[] = []
    /** Without the cluster. */
    let answered = 0
    const place = {
      cluster: {
        ...cluster,
        ask(request: ClusterRequest) {
          asked.push(request)
          return cluster.ask(request)
        },
      },
      ...{ naming, shelf: (db: typeof store.db) => createShippedReader(db).visible },
    }
    const poolOf = () =>
      createPool({
        ...{ stores: () => new Map([[SHIPPED, store.path]]), threads: 1, deadlineMs: 10_000, limits: DEFAULT_LIMITS },
        elsewhere: createClusterStores(() => place),
      })
    const keeping = poolOf()
    const close = async () => {
      await keeping.close()
      await shipper.close()
      store.close()
    }

    const recorded = demoBlocks()
    const chain: ReturnType<typeof demoBlocks> = []
    let next = 0
    const grow = (salt: number) => {
      const count = 1 + random(25)
      const fresh = recorded.slice(next, next + count).map(raw => {
        chain.push(movedBlock(raw, chain.length, chain.at(-1), salt))
        return chain.at(-1)!
      })
      next += count
      store.add(fresh)
      shipper.wrote(chain.length - fresh.length, random(2) === 0)
    }
    const cut = () => {
      const to = Math.max(0, chain.length - 2 - random(15))
      chain.length = to + 1
      store.rollback(to)
      shipper.removed(to)
    }
    const prune = () => {
      store.writer.prune({ below: Math.max(0, chain.length - 10 - random(50)) })
      shipper.wrote(chain.length, false)
    }
    const told = async (pool: Pool, one: Question) => ask(pool, one.entities, JSON.stringify(one.body))
    /** Both of one state, or nothing. */
    const compare = async (one: Question) => {
      const version = () => store.reader.db.pragma('data_version', { simple: true })
      const before = version()
      const { length } = asked
      const kept = await told(keeping, one)
      if (asked.length === length) answered++
      const other = poolOf()
      const fresh = await told(other, one)
      await other.close()
      if (version() === before) assert.equal(kept, fresh, JSON.stringify(one))
    }
    try {
      for (let step = 0; step < STEPS; step++) {
        const what = random(10)
        if (what < 5 || chain.length < 20) grow(step)
        else if (what < 8) cut()
        else prune()
        // Tokens, and what is pruned, may change before the store says so.
        if (random(2) === 0) for (let i = 0; i < 3; i++) await compare(QUESTIONS[random(LASTING)]!)
        await shipper.rested()
        for (let i = 0; i < 4; i++) {
          const one = QUESTIONS[random(QUESTIONS.length)]!
          for (let again = 0; again < 2; again++) await told(keeping, one)
          await compare(one)
        }
      }
      // A state ends after some seconds: a slow machine keeps fewer.
      assert.ok(answered > 0, 'none was kept')
    } finally {
      await close()
    }
  })

interface Question {
  entities: string
  body: object
}

const QUESTIONS: readonly Question[] = [
  { entities: 'tx', body: { size: -1, _source: false, query: { range: { 'blockNumber.num': { lte: 5 } } } } },
  { entities: 'tx', body: { track_total_hits: true } },
  { entities: 'block', body: { size: 3, sort: { 'number.num': 'desc' } } },
  { entities: 'event', body: { size: 2, query: { match: { event: 'transfer' } } } },
  {
    entities: 'event',
    body: { size: 2, query: { bool: { should: [{ term: { event: 'transfer' } }, { term: { event: 'sync' } }] } } },
  },
  { entities: 'tx,block', body: { size: 0, aggs: { each: { terms: { field: 'from.raw' } } } } },
  {
    entities: 'log',
    body: {
      query: { has_parent: { parent_type: 'tx', query: { range: { 'blockNumber.num': { gte: 12 } } } } },
      size: 1,
    },
  },
  { entities: 'token', body: { size: 20 } },
  { entities: 'contract', body: { size: 20 } },
]
/** Of which the first ones ask for what does not change within a state. */
const LASTING = 7
