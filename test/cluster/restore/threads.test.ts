import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ClusterOptions } from '../../../src/cluster/connection/cluster.ts'
import { startIndexing } from '../../../src/ingest/network.ts'
import { silent } from '../../../src/lib/log.ts'
import { dataFolder } from '../../support/delivery.ts'
import { openTestCluster, withoutOpenSearch } from '../../support/real-opensearch.ts'
import { SHIPPED } from '../../support/ship.ts'
import { documentsOf, emptiedIn, isInCluster } from '../../support/shipped.ts'

const FILE = fileURLToPath(new URL('../../../data/demo.ndjson.gz', import.meta.url))

test('documents that lie in a cluster alone come back, also after a kill, and can be shipped again', {
  skip: withoutOpenSearch,
}, async t => {
  const { options } = await openTestCluster(t, { blocksPerIndex: 300 })
  const [data, whole] = [await dataFolder(t), await dataFolder(t)]
  await importInto(whole)
  const expected = documentsOf(whole)
  await importInto(data, options)
  assert.ok(emptiedIn(data) > 100)

  const back = { data, network: SHIPPED, job: { type: 'move' as const }, storeBatch: 50, log: silent, remote: options }
  const first = startIndexing({ ...back, returning: true })
  while ((first.report().shipping?.moving?.shipped ?? 0) === 0) await new Promise(setImmediate)
  await first.stop()
  assert.deepEqual(first.report().shipping?.moving?.to, 'sqlite')
  await startIndexing({ ...back, returning: true }).ended
  assert.equal(emptiedIn(data), 0)
  assert.equal(isInCluster(data), false)
  assert.deepEqual(documentsOf(data), expected)
  // Nothing is left to ask the cluster for.
  await startIndexing({ ...back, remote: { ...options, urls: ['http://127.0.0.1:9'] }, returning: true }).ended

  await startIndexing(back).ended
  assert.equal(isInCluster(data), true)
})

const importInto = (data: string, cluster?: ClusterOptions) =>
  startIndexing({
    ...{ data, network: SHIPPED, job: { type: 'import', files: [FILE] }, storeBatch: 50, remote: cluster, log: silent },
  }).ended
