import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Cluster, ClusterRequest } from '../../../src/cluster/cluster.ts'
import { createShelfReader } from '../../../src/engine/shelf.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import {
  closing,
  createRandom,
  documentsIn,
  movedBlock,
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
  assert.deepEqual(visibleIn(memory.documents(), createShelfReader(store.db).visible()), due)
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
  assert.deepEqual(visibleIn(memory.documents(), createShelfReader(store.db).visible()), due)
})

test('what an index lost is shipped again at the next start, as far as the store has it', async t => {
  const { store, due, start } = storeOf(t)
  const memory = memoryCluster()
  const first = start(memory)
  await first.rested()
  await first.close()
  const index = memory.indices().find(name => name.includes('-log-'))!
  memory.lose(index)
  assert.notDeepEqual(visibleIn(memory.documents(), createShelfReader(store.db).visible()), due)
  const second = start(memory)
  await second.rested()
  assert.deepEqual(visibleIn(memory.documents(), createShelfReader(store.db).visible()), due)

  await second.close()
  store.db.exec('UPDATE segment SET emptied = 1')
  memory.lose(index)
  await assert.rejects(start(memory).rested(), { code: 'cluster_lost', message: new RegExp(index) })
})

test('what is lost and in no store any more is pruned, and then indexed again', async t => {
  const chain = demoBlocks().slice(0, 200)
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
  await assert.rejects(restart(), { code: 'cluster_lost', message: /chainsieve prune --before 100/ })
  while (store.writer.prune({ below: 100, floor: 100 }));
  await restart()
  const shown = () => visibleIn(memory.documents(), createShelfReader(store.db).visible())
  const all = documentsIn(whole)
  assert.deepEqual(shown(), new Map([...all].filter(([, { block }]) => block >= 100)))
  while (store.writer.prune({ below: 0, floor: 0 }));
  add(store, 0, 100)
  await restart()
  assert.deepEqual(withoutTokens(shown()), withoutTokens(all))
})
