import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scoping } from '../../../src/config/scopes.ts'
import { createCoverageReader } from '../../../src/engine/coverage.ts'
import { storeFile } from '../../../src/engine/files.ts'
import { openForWriting } from '../../../src/engine/open.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import type { IndexJob } from '../../../src/ingest/messages.ts'
import { startIndexing } from '../../../src/ingest/network.ts'
import { silent } from '../../../src/lib/log.ts'
import { dataFolder } from '../../support/delivery.ts'
import { serveContracts } from '../../support/indexing.ts'
import { startNode } from '../../support/node.ts'
import { openTestCluster, withoutOpenSearch } from '../../support/real-opensearch.ts'
import { random, scoping, serveLogs, unevenChain } from '../../support/scoped.ts'
import { SHIPPED } from '../../support/ship.ts'
import { documentsOf, documentsThere, emptiedIn, isInCluster, stored } from '../../support/shipped.ts'

/** Blocks that are indexed whole; of the others, what scopes want. */
const WHOLE = 60

test('a store with scopes moves to a cluster and back, and its scopes change there', {
  skip: withoutOpenSearch,
}, async t => {
  const { cluster, options } = await openTestCluster(t, { blocksPerIndex: 100 })
  const chain = unevenChain(330, random(3), 0)
  const node = await startNode(t, chain)
  serveContracts(node)
  serveLogs(node)
  const [one, two] = [
    ...new Set(chain.flatMap(({ receipts }) => receipts.flatMap(it => it.logs.map(log => log.address)))),
  ]
  const [data, plain] = [await dataFolder(t), await dataFolder(t)]
  const run = (data: string, job: IndexJob, place?: typeof options, returning = false) =>
    startIndexing({ data, network: SHIPPED, storeBatch: 20, log: silent, remote: place, returning, job }).ended
  const index = (data: string, addresses: (string | undefined)[], place?: typeof options) => {
    const wanted: Scoping | undefined =
      addresses.length > 0 ? scoping([{ addresses: addresses.map(it => it!), from: { block: 0 } }]) : undefined
    const range = wanted ? { from: undefined, to: undefined } : { from: { block: 0 }, to: { block: WHOLE - 1 } }
    return run(
      data,
      { type: 'index', node: { urls: [node.url] }, ...range, order: 'oldest', finality: 1, scoping: wanted },
      place,
    )
  }
  const isThere = async () => {
    const { hidden } = stored(data, db => createShippedReader(db).visible())
    assert.deepEqual(await documentsThere(cluster, options, hidden), documentsOf(data))
  }

  await index(data, [])
  await index(data, [one])
  const move = { type: 'move' } as const
  await run(data, move, options)
  assert.equal(isInCluster(data), true)
  await isThere()

  // Ten minutes later whole blocks leave the file.
  const db = openForWriting(storeFile(data, SHIPPED))
  db.exec("UPDATE meta SET value = 0 WHERE key = 'in_cluster'")
  db.close()
  await index(data, [one, two], options)
  assert.equal(emptiedIn(data), WHOLE)
  await index(plain, [])
  await index(plain, [one])
  await index(plain, [one, two])
  const due = documentsOf(plain)
  const { hidden } = stored(data, db => createShippedReader(db).visible())
  assert.deepEqual(await documentsThere(cluster, options, hidden), due)

  await run(data, move, options, true)
  assert.deepEqual([isInCluster(data), emptiedIn(data)], [false, 0])
  assert.deepEqual(documentsOf(data), due)
  assert.deepEqual(coverageOf(data), coverageOf(plain))
})

const coverageOf = (data: string) => stored(data, db => createCoverageReader(db).covered())
