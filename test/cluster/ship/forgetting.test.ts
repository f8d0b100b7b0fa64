import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rangesOf } from '../../../src/app/stores.ts'
import { DEFAULT_CLUSTER } from '../../../src/cluster/connection/cluster.ts'
import { openForWriting } from '../../../src/engine/open.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import type { IndexJob } from '../../../src/ingest/messages.ts'
import { startIndexing } from '../../../src/ingest/network.ts'
import { askToForget, isPruneAsked } from '../../../src/ingest/requests.ts'
import { silent } from '../../../src/lib/log.ts'
import { folderToIndex, NETWORK, serveContracts } from '../../support/indexing.ts'
import { memoryCluster, serveCluster } from '../../support/memory-cluster.ts'
import { startNode } from '../../support/node.ts'
import { random, unevenChain } from '../../support/scoped.ts'
import { documentsIn, visibleIn } from '../../support/ship.ts'
import { createTestStore } from '../../support/store.ts'

test('what an index lost is forgotten on request, and indexed like anything else that is missing', async t => {
  const chain = unevenChain(60, random(7), 0)
  const { data, store } = await folderToIndex(t)
  const node = await startNode(t, chain)
  serveContracts(node)
  const memory = memoryCluster()
  const cluster = { ...DEFAULT_CLUSTER, urls: [await serveCluster(t, memory, () => false)], blocksPerIndex: 20 }
  const run = (job: IndexJob) =>
    startIndexing({ data, network: NETWORK, storeBatch: 10, log: silent, remote: cluster, job }).ended
  const index = () =>
    run({
      ...{ type: 'index', node: { urls: [node.url] }, from: { block: 0 }, to: undefined },
      ...{ order: 'oldest', finality: 1 },
    })
  await index()
  const whole = createTestStore([], { path: store })
  const due = documentsIn(whole)
  whole.close()
  const db = openForWriting(store)
  t.after(() => void db.close())
  const shown = () => visibleIn(memory.documents(), createShippedReader(db).visible())
  assert.deepEqual(shown(), due)

  // Of the middle, the cluster alone has documents.
  db.exec('UPDATE segment SET emptied = 1 WHERE first >= 20 AND last < 40')
  assert.deepEqual(rangesOf(store), [{ from: 0, to: 59 }])
  memory.lose(memory.indices().find(name => name.includes('-log-000001'))!)
  askToForget(store)
  await run({ type: 'forget' })
  assert.equal(isPruneAsked(store), false)
  assert.deepEqual(rangesOf(store), [
    { from: 0, to: 19 },
    { from: 40, to: 59 },
  ])
  assert.deepEqual(shown(), new Map([...due].filter(([, { block }]) => block < 20 || block >= 40)))
  await index()
  assert.deepEqual(rangesOf(store), [{ from: 0, to: 59 }])
  assert.deepEqual(shown(), due)
})
