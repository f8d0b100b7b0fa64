import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RpcLog } from '../../../src/chain/wire.ts'
import { DEFAULT_CLUSTER } from '../../../src/cluster/connection/cluster.ts'
import type { Scoping } from '../../../src/config/scopes.ts'
import { openForReading } from '../../../src/engine/open.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { scopesAt } from '../../../src/ingest/jobs/scopes.ts'
import type { IndexJob } from '../../../src/ingest/messages.ts'
import { startIndexing } from '../../../src/ingest/network.ts'
import { askToNarrow } from '../../../src/ingest/requests.ts'
import { silent } from '../../../src/lib/log.ts'
import { folderToIndex, NETWORK, serveContracts } from '../../support/indexing.ts'
import { memoryCluster, serveCluster } from '../../support/memory-cluster.ts'
import { startNode } from '../../support/node.ts'
import { expectedOf, fits, holdingsIn, random, scoping, serveLogs, unevenChain } from '../../support/scoped.ts'
import { documentsIn, visibleIn } from '../../support/ship.ts'
import { createTestStore } from '../../support/store.ts'

test('scopes that are widened and narrowed in any order: a cluster shows what the store holds', async t => {
  const below = random(11)
  const chain = unevenChain(50, below)
  const { data, store } = await folderToIndex(t)
  const node = await startNode(t, chain)
  serveContracts(node)
  serveLogs(node)
  const memory = memoryCluster()
  const cluster = { ...DEFAULT_CLUSTER, urls: [await serveCluster(t, memory, () => false)], blocksPerIndex: 17 }
  const run = (job: IndexJob) =>
    startIndexing({ data, network: NETWORK, storeBatch: 20, log: silent, remote: cluster, job }).ended
  const index = (wanted: Scoping | undefined, range: { from?: number; to?: number } = {}) => {
    const [from, to] = [range.from, range.to].map(block => (block === undefined ? undefined : { block }))
    const order = below(2) === 0 ? 'newest' : 'oldest'
    return run({ type: 'index', node: { urls: [node.url] }, from, to, order, finality: 1, scoping: wanted })
  }
  const check = (step: string) => {
    const db = openForReading(store)
    const whole = createTestStore([], { path: store })
    try {
      const shelf = createShippedReader(db).visible()
      const [found, wanted] = [visibleIn(memory.documents(), shelf), documentsIn(whole)]
      for (const [key, document] of wanted) assert.deepEqual(found.get(key), document, `${step}: ${key}`)
      for (const key of found.keys()) assert.ok(wanted.has(key), `${step}: ${key} is too much`)
      return found.size
    } finally {
      db.close()
      whole.close()
    }
  }

  const first = Number(chain[0]!.block.number)
  const settled = chain.slice(0, -1)
  const addresses = [
    ...new Set(chain.flatMap(({ receipts }) => receipts.flatMap(it => it.logs.map(log => log.address)))),
  ]
  const [one, two, ...others] = addresses.sort()
  const of = (...addresses: string[]) => scoping([{ addresses, from: { block: first } }])
  const isOf = (some: readonly string[]) => (log: RpcLog) => fits(log, { addresses: [...some], topics: [] })

  await index(of(one!))
  const few = check('one scope')
  assert.deepEqual(holdingsIn(store), expectedOf(settled, isOf([one!])))
  await index(of(one!, two!, ...others))
  assert.ok(check('widened') > few)
  await index(undefined, { from: first + 20, to: first + 30 })
  check('some blocks whole')
  askToNarrow(store, { scopes: scopesAt(of(two!).scopes, 0) })
  await run({ type: 'narrow' })
  check('narrowed')
  assert.deepEqual(
    holdingsIn(store),
    expectedOf(settled, isOf([two!]), number => number >= first + 20 && number <= first + 30),
  )
  askToNarrow(store, { scopes: [] })
  await run({ type: 'narrow' })
  check('narrowed to nothing')
  await index(of(one!))
  check('widened again')
})
