import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Cluster, DEFAULT_CLUSTER } from '../../../src/cluster/connection/cluster.ts'
import { storeFile } from '../../../src/engine/files.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import type { Report } from '../../../src/ingest/messages.ts'
import { type IndexingOptions, startIndexing } from '../../../src/ingest/network.ts'
import { silent } from '../../../src/lib/log.ts'
import { dataFolder } from '../../support/delivery.ts'
import { readStore, reported } from '../../support/indexing.ts'
import { memoryCluster, serveCluster } from '../../support/memory-cluster.ts'
import { SHIPPED } from '../../support/ship.ts'

const FILE = fileURLToPath(new URL('../../../data/demo.ndjson.gz', import.meta.url))

const stored = <T>(data: string, read: Parameters<typeof readStore<T>>[1]): T =>
  readStore(storeFile(data, SHIPPED), read)

const optionsOf = (data: string, url: string) =>
  ({
    ...{ data, network: SHIPPED, storeBatch: 40, log: silent },
    job: { type: 'import', files: [FILE] },
    remote: { ...DEFAULT_CLUSTER, urls: [url] },
  }) satisfies IndexingOptions & { remote: unknown }

test('indexing waits for a cluster that is away when the journal is full, and ends when all is shipped', async t => {
  const data = await dataFolder(t)
  const memory = memoryCluster()
  let isAway = true
  const url = await serveCluster(t, memory, () => isAway)
  // Some 1,000 documents.
  const indexing = startIndexing({ ...optionsOf(data, url), journalMax: 300_000 })
  t.after(() => indexing.stop())
  const isWaiting = ({ waiting, shipping }: Report) => waiting?.kind === 'cluster' && (shipping?.blocksLeft ?? 0) > 0
  await reported(indexing, isWaiting)
  const { waiting, shipping, blocks } = indexing.report()
  assert.match(
    waiting!.for,
    /^the store holds 0 MB of documents that are not in the cluster, since the cluster cannot /,
  )
  assert.ok(shipping!.trouble !== null && blocks < 421, JSON.stringify(shipping))
  isAway = false
  const { blocks: all } = await indexing.ended
  assert.equal(all, 421)
  stored(data, db => {
    const { hidden, ranges } = createShippedReader(db).shared()
    assert.deepEqual({ hidden, ranges }, { hidden: [], ranges: [{ from: 0, to: 420 }] })
    assert.ok((db.prepare('SELECT count(*) FROM segment WHERE emptied = 1').pluck().get() as number) > 0)
  })
  assert.equal(memory.documents().size > 10_000, true)

  // What is in the cluster alone is not indexed on without it.
  const { remote: _, ...without } = optionsOf(data, url)
  await assert.rejects(startIndexing(without).ended, { code: 'store_in_cluster' })
})

test('a stop does not wait for a cluster that is away; the next start ships the rest', async t => {
  const data = await dataFolder(t)
  const memory = memoryCluster()
  let isAway = true
  const options = optionsOf(data, await serveCluster(t, memory, () => isAway))
  const indexing = startIndexing(options)
  for (let report = indexing.report(); report.blocks < 421; report = indexing.report()) await sleep(20)
  await indexing.stop()
  assert.deepEqual(
    stored(data, db => createShippedReader(db).visible().ranges),
    [],
  )
  isAway = false
  await startIndexing(options).ended
  assert.deepEqual(
    stored(data, db => createShippedReader(db).visible().ranges),
    [{ from: 0, to: 420 }],
  )
})

test('an import ends where the cluster refuses it for good', async t => {
  const data = await dataFolder(t)
  const forbidding: Cluster = { ask: async () => ({ status: 403, text: '{}' }), close: async () => {} }
  const indexing = startIndexing(optionsOf(data, await serveCluster(t, forbidding, () => false)))
  await assert.rejects(indexing.ended, { code: 'cluster_forbids', next: 'stop' })
})
