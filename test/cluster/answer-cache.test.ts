import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createClusterStates, STATE_MS } from '../../src/cluster/cluster-answer-cache.ts'
import { type ClusterRequest, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { aliasIn } from '../../src/cluster/indices/lost-indices.ts'
import { indexNameOf } from '../../src/cluster/indices/names.ts'
import { type ClusterPlace, createClusterStores } from '../../src/cluster/stores.ts'
import { createShippedReader } from '../../src/engine/shipping/shipped-ranges.ts'
import { createShippingState } from '../../src/engine/shipping/shipping-state.ts'
import { retry } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { createPool } from '../../src/search/pool.ts'
import type { SearchParams } from '../../src/search/service.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'

/** A network in a stand-in for a cluster, in which as many documents are found as `there` says. */
const setUp = (t: TestContext) => {
  const store = createTestStore(generatedBlocks(6))
  t.after(() => store.close())
  const there = {
    documents: 1,
    fault: undefined as Error | undefined,
    asked: [] as ClusterRequest[],
    ready: Promise.resolve(),
  }
  const cluster = {
    async ask(request: ClusterRequest) {
      if (request.method === 'GET') return { status: 200, text: JSON.stringify(INDICES) }
      there.asked.push(request)
      await there.ready
      await nextTurn()
      if (there.fault) throw there.fault
      const { aggs = {} } = JSON.parse(request.body as string) as { aggs?: object }
      const counts = Object.keys(aggs).map(name => [name, { doc_count: there.documents }])
      const text = JSON.stringify({
        ...{ took: 1, timed_out: false, _shards: { total: 1, successful: 1, skipped: 0, failed: 0 } },
        hits: { total: { value: there.documents, relation: 'eq' }, max_score: null, hits: [] },
        ...(counts.length > 0 && { aggregations: Object.fromEntries(counts) }),
      })
      return { status: 200, text }
    },
    close: async () => {},
  }
  const place: ClusterPlace = { cluster, naming: DEFAULT_CLUSTER, shelf: db => createShippedReader(db).visible }
  const pool = createPool({
    ...{ stores: () => new Map([[NETWORK, store.path]]), threads: 1, deadlineMs: 5_000, limits: DEFAULT_LIMITS },
    elsewhere: createClusterStores(() => place),
  })
  t.after(pool.close)
  const ask = async (body: object, { signal, ...more }: Partial<SearchParams & { signal: AbortSignal }> = {}) => {
    // A request comes in a turn of its own, and so does an answer.
    await nextTurn()
    const answer = await pool.search({
      ...{ network: NETWORK, entities: 'tx', account: 1, signal: signal ?? new AbortController().signal },
      ...{ body: Buffer.from(JSON.stringify(body)), ...more },
    })
    return JSON.parse(await new Response(answer.body as Uint8Array<ArrayBuffer>).text()) as {
      hits: { total: number }
      count: number
    }
  }
  const total = async (body: object) => (await ask(body)).hits.total
  const shelf = createShippingState(store.db)
  const within = (change: () => unknown) => store.db.transaction(change).immediate()
  return { store, there, ask, total, shelf, within }
}

/** Those that its documents lie in, as the cluster lists them. */
const INDICES = Object.fromEntries(
  KINDS.map(kind => {
    const index = indexNameOf(DEFAULT_CLUSTER, NETWORK, kind, 0)
    return [index, { aliases: { [aliasIn(index)]: {} } }]
  }),
)

const PLAIN = { query: { bool: { filter: { term: { 'blockNumber.num': 3 } } } } }
const times = async <T>(count: number, ask: () => Promise<T>): Promise<T[]> => {
  const all: T[] = []
  for (let i = 0; i < count; i++) all.push(await ask())
  return all
}

test('an answer is kept until what is seen changes, and the next one is right', async t => {
  const { there, total, shelf, within } = setUp(t)
  assert.deepEqual(await times(5, () => total(PLAIN)), [1, 1, 1, 1, 1])
  assert.equal(there.asked.length, 2)
  const steps = {
    begun: () => shelf.begin({ from: 0, to: 3 }),
    'on the shelf': () => shelf.commit({ number: shelf.batches() - 1, tokens: shelf.batches() }, { from: 0, to: 3 }, 0),
    'rolled back': () => shelf.rollback(2),
    pruned: () => shelf.prune(1),
    swept: () => shelf.swept(shelf.sweeps()[0]!, Date.now()),
    'lost and to be shipped again': () => shelf.lose([{ from: 2, to: 2 }]),
    abandoned: () => {
      shelf.begin(undefined)
      shelf.abandon()
    },
  }
  for (const [name, step] of Object.entries(steps)) {
    within(step)
    there.documents++
    const { length } = there.asked
    assert.deepEqual(await times(4, () => total(PLAIN)), Array(4).fill(there.documents), name)
    assert.equal(there.asked.length - length, 2, name)
  }
})

test('whatever else is written to the store begins a new state', async t => {
  const { store, there, total } = setUp(t)
  await times(3, () => total(PLAIN))
  there.documents = 7
  assert.equal(await total(PLAIN), 1)
  store.rollback(4)
  assert.equal(await total(PLAIN), 7)
})

test('what changes while the cluster answers is not kept as the answer of the new state', async t => {
  const { there, total, shelf, within } = setUp(t)
  await times(3, () => total(PLAIN))
  for (const _ of [1, 2, 3]) {
    within(() => shelf.lose(undefined))
    const before = total(PLAIN)
    await nextTurn()
    within(() => shelf.begin(undefined))
    there.documents++
    await before
    assert.equal(await total(PLAIN), there.documents)
  }
})

test('a late answer of an older state takes nothing away from those of the newer one', async t => {
  const { there, total, shelf, within } = setUp(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  there.ready = promise
  const late = total({ ...PLAIN, size: 1 })
  await nextTurn()
  there.ready = Promise.resolve()
  within(() => shelf.lose(undefined))
  await times(2, () => total(PLAIN))
  resolve()
  await late
  const { length } = there.asked
  await total(PLAIN)
  assert.equal(there.asked.length, length)
})

test('a state ends after some seconds: a store does not know what happens to a cluster', async t => {
  const { store } = setUp(t)
  let time = 0
  let looks = 0
  const look = () => ({ hidden: [], ranges: [{ from: 0, to: ++looks }] })
  const state = createClusterStates(store.reader.db, look, () => time)
  const first = state()
  time = STATE_MS - 1
  assert.equal(state(), first)
  time = STATE_MS
  const second = state()
  assert.notEqual(second.number, first.number)
  assert.deepEqual(
    [first, second].map(({ visible }) => visible.ranges[0]!.to),
    [1, 2],
  )
  store.rollback(4)
  assert.equal(state().number, second.number, 'looked for once a turn')
  await nextTurn()
  assert.notEqual(state().number, second.number)
})

test('what tells the time, faults and scrolls are not kept', async t => {
  const { there, ask, total } = setUp(t)
  const recent = { query: { range: { timestamp: { lte: 'now' } } } }
  await times(4, () => total(recent))
  assert.equal(there.asked.length, 4)
  await times(4, () => ask(PLAIN, { scroll: '1m' }))
  assert.equal(there.asked.length, 8)
  there.fault = retry('cluster_unavailable', 'it is red')
  for (const _ of [1, 2, 3]) await assert.rejects(total(PLAIN), /it is red/)
  assert.equal(there.asked.length, 11)
  there.fault = undefined
  assert.equal(await total(PLAIN), 1)
})

test('the same question at the same time is asked once', async t => {
  const { there, ask, total, shelf, within } = setUp(t)
  const same = { ...PLAIN, size: 3 }
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => total(same))), [1, 1, 1, 1])
  assert.equal(there.asked.length, 1)
  const counts = await Promise.all([1, 2].map(() => ask({ query: PLAIN.query }, { form: { tell: 'count' } })))
  assert.deepEqual(
    counts.map(({ count }) => count),
    [1, 1],
  )
  assert.equal(there.asked.length, 2)
  // Those of another state wait for another answer.
  const older = total({ ...PLAIN, size: 4 })
  await nextTurn()
  within(() => shelf.lose(undefined))
  there.documents = 5
  assert.equal(await total({ ...PLAIN, size: 4 }), 5)
  await older
  assert.equal(there.asked.length, 4)
  // Who leaves takes nothing away.
  const leaving = new AbortController()
  const left = ask({ ...PLAIN, size: 5 }, { signal: leaving.signal })
  const stays = total({ ...PLAIN, size: 5 })
  await nextTurn()
  leaving.abort(new Error('left'))
  await assert.rejects(left, /left/)
  assert.equal(await stays, 5)
  assert.equal(there.asked.length, 5)
})
