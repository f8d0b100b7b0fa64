import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, ClusterRequest } from '../../../src/cluster/connection/cluster.ts'
import { reachedBySearches } from '../../../src/cluster/indices/lost-indices.ts'
import { createBlocks } from '../../../src/engine/blocks.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { retry } from '../../../src/lib/errors.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import {
  closing,
  createRandom,
  documentsIn,
  movedBlock,
  SHIPPED,
  startShipper,
  visibleIn,
  withoutTokens,
} from '../../support/ship.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

const blocks = demoBlocks()
  .slice(0, 40)
  .map((raw, number) => movedBlock(raw, number, undefined, 0))

const storeOf = (t: TestContext) => {
  const [store, whole] = [createTestStore(blocks), createTestStore(blocks)]
  let shipper: ReturnType<typeof startShipper> | undefined
  closing(t, () => shipper, store, whole)
  const start = (cluster: Cluster) => {
    shipper = startShipper(store, cluster)
    return shipper
  }
  return { store, due: documentsIn(whole), start }
}

/** A cluster that refuses some requests. */
const refusing = (cluster: Cluster, status: number, refuses: (request: ClusterRequest) => boolean): Cluster => ({
  ask: async request => (refuses(request) ? { status, text: '{"error":{"reason":"busy"}}' } : cluster.ask(request)),
  close: cluster.close,
})

test('a cluster that has too much to do half the time gets all', async t => {
  const { store, due, start } = storeOf(t)
  const memory = memoryCluster()
  const random = createRandom(1)
  await start(refusing(memory, 429, () => random(2) === 0)).rested()
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), due)
})

test('a cluster that is red at the start is waited for', async t => {
  const { store, due, start } = storeOf(t)
  const memory = memoryCluster()
  let isRed = true
  const shipper = start(refusing(memory, 503, ({ path }) => isRed && path !== '/'))
  while (shipper.troubles.length === 0) await new Promise(setImmediate)
  assert.deepEqual([shipper.lag(), memory.documents().size], [40, 0])
  isRed = false
  await shipper.rested()
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), due)
})

test('what an index lost is shipped again at the next start, as far as the store has it', async t => {
  const { store, due, start } = storeOf(t)
  const memory = memoryCluster()
  const first = start(memory)
  await first.rested()
  await first.close()
  const index = memory.indices().find(name => name.includes('-log-'))!
  memory.lose(index)
  assert.notDeepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), due)
  const second = start(memory)
  await second.rested()
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), due)

  await second.close()
})

test('who could not renew its lease for a while ships on, and has nothing created or changed in the cluster first', async t => {
  const [store, memory] = [createTestStore(blocks.slice(0, 20)), memoryCluster()]
  const asked: string[] = []
  let isSilent = false
  const cluster: Cluster = {
    async ask(request) {
      asked.push(`${request.method} ${request.path}`)
      if (isSilent && request.path.includes('/_doc/')) throw retry('cluster_unreachable', 'it stands still')
      return memory.ask(request)
    },
    close: memory.close,
  }
  const shipper = startShipper(store, cluster, { ttlMs: 200, lookMs: 20 })
  closing(t, () => shipper, store)
  await shipper.rested()
  asked.length = 0
  isSilent = true
  while (shipper.troubles.length === 0) await sleep(10)
  isSilent = false
  store.add(blocks.slice(20))
  shipper.wrote(20, true)
  while (shipper.lag() > 0) await sleep(10)
  assert.deepEqual(
    asked.filter(request => request.startsWith('PUT') && !request.includes('/_doc/')),
    [],
  )
  assert.ok(asked.filter(request => request === 'POST /_bulk').length > 0)
})

test('a cluster that is too slow to renew the lease beside a large batch gets all of it by smaller ones', async t => {
  const { store, due } = storeOf(t)
  const memory = memoryCluster()
  let before = Promise.resolve()
  /** One after the other, as in the queue of a node. */
  const inTurn = async (ms: number) => {
    const mine = before.then(() => sleep(ms))
    before = mine
    await mine
  }
  let largest = 0
  const cluster: Cluster = {
    async ask(request) {
      if (request.path === '/_bulk') {
        largest = Math.max(largest, request.lines!.length)
        await inTurn(request.lines!.length / BYTES_IN_MS)
      } else if (request.path.endsWith('/_doc/lease') && request.method === 'PUT') await inTurn(0)
      request.signal?.throwIfAborted()
      return memory.ask(request)
    },
    close: memory.close,
  }
  const shipper = startShipper(store, cluster, { ttlMs: TTL_MS, lookMs: 20 })
  closing(t, () => shipper)
  while (shipper.lag() > 0) await sleep(20)
  await shipper.rested()
  assert.ok(largest > TTL_MS * BYTES_IN_MS, `${largest} bytes are too few to lose the lease by`)
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), due)
})

const TTL_MS = 1_500
const BYTES_IN_MS = 400

/** Two hundred blocks, by tens; documents of the first hundred lie in the cluster alone, which has lost those of logs. */
const lostLogs = async (t: TestContext) => {
  const chain = demoBlocks().slice(0, 220)
  const [store, whole] = [createTestStore([], { run: 10 }), createTestStore([], { run: 10 })]
  let shipper: ReturnType<typeof startShipper> | undefined
  closing(t, () => shipper, store, whole)
  const add = (to: TestStore, first: number, last: number) => {
    for (let at = first; at < last; at += 10) {
      const batch = to.prepare(chain.slice(at, at + 10))
      to.writer.apply(batch)
      to.preparer.committed(batch.added)
    }
  }
  const memory = memoryCluster()
  const restart = async () => {
    await shipper?.close()
    shipper = startShipper(store, memory)
    return shipper.rested()
  }
  for (const one of [store, whole]) add(one, 0, 200)
  await restart()
  store.db.exec('UPDATE segment SET emptied = 1 WHERE last < 100')
  const index = memory.indices().find(name => name.includes('-log-000000'))!
  memory.lose(index)
  await restart()
  const shelf = () => createShippedReader(store.db).visible()
  const shown = () => visibleIn(memory.documents(), shelf())
  const lost = async () =>
    (await reachedBySearches(memory, { prefix: 'test', blocksPerIndex: 100 }, SHIPPED, shelf().ranges)).lost
  const wrote = async (first: number) => {
    shipper!.wrote(first, false)
    await shipper!.rested()
  }
  return { memory, store, whole, index, add, restart, shown, lost, wrote }
}

test('an index that is lost at the start, and in no store any more, goes on to count as lost; other blocks are shipped', async t => {
  const { memory, store, whole, index, add, restart, shown, lost, wrote } = await lostLogs(t)
  const logs = [{ index, blocks: [{ from: 0, to: 99 }] }]
  assert.deepEqual(await lost(), logs)
  for (const one of [store, whole]) add(one, 200, 220)
  await wrote(200)
  const all = documentsIn(whole)
  const rest = new Map([...all].filter(([, { kind, block }]) => kind !== 'log' || block >= 100))
  assert.deepEqual(shown(), rest)
  // The cluster, or the next start, creates it again.
  await restart()
  assert.deepEqual([await lost(), shown()], [logs, rest])
  memory.bring(index)
  await restart()
  assert.deepEqual([await lost(), shown()], [[], all])
})

test('what an index lost and no store has any more is forgotten, and indexed again', async t => {
  const { store, whole, index, add, restart, shown, lost, wrote } = await lostLogs(t)
  const all = documentsIn(whole)
  assert.equal(store.writer.forget([{ from: 0, to: 99 }], [index]), true)
  while (store.writer.forget([], []));
  assert.deepEqual(createBlocks(store.db).ranges(), [{ from: 100, to: 199 }])
  assert.equal(createBlocks(store.db).hash(99), undefined)
  await wrote(Number.POSITIVE_INFINITY)
  assert.deepEqual([await lost(), shown()], [[], new Map([...all].filter(([, { block }]) => block >= 100))])
  add(store, 0, 100)
  await wrote(0)
  assert.deepEqual([await lost(), withoutTokens(shown())], [[], withoutTokens(all)])
  await restart()
  assert.deepEqual([await lost(), withoutTokens(shown())], [[], withoutTokens(all)])
})

test('of an index that is lost in part, what the store has is shipped again when the rest is forgotten', async t => {
  const { store, whole, index, add, shown, lost, wrote } = await lostLogs(t)
  store.db.exec('UPDATE segment SET emptied = 0 WHERE first >= 50 AND emptied = 1')
  assert.equal((await lost()).length, 1)
  while (store.writer.forget([{ from: 0, to: 99 }], [index]));
  await wrote(Number.POSITIVE_INFINITY)
  const all = documentsIn(whole)
  assert.deepEqual([await lost(), shown()], [[], new Map([...all].filter(([, { block }]) => block >= 50))])
  add(store, 0, 50)
  await wrote(0)
  assert.deepEqual([await lost(), withoutTokens(shown())], [[], withoutTokens(all)])
})
