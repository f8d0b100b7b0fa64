import type { TestContext } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { Scoping } from '../../src/config/scopes.ts'
import { createCoverageReader } from '../../src/engine/coverage.ts'
import { openForReading } from '../../src/engine/open.ts'
import type { BackfillOrder, IndexJob } from '../../src/ingest/messages.ts'
import { startIndexing } from '../../src/ingest/network.ts'
import { silent } from '../../src/lib/log.ts'
import {
  folderToIndex,
  followJob,
  indexIn,
  indexJob,
  NETWORK,
  readStore,
  reported,
  serveContracts,
} from './indexing.ts'
import { type FakeNode, startNode } from './node.ts'
import { serveLogs } from './scoped.ts'

interface Followed {
  data: string
  store: string
  node: Pick<FakeNode, 'blocks'>
}

/** Follows a chain while `work` lasts; what that is given resolves when a block was looked at, and nothing is left to be looked for. */
const followScopes = async (
  { data, store, node }: Followed,
  job: Extract<IndexJob, { type: 'follow' }>,
  work: (reaches: (number: number) => Promise<void>) => Promise<void>,
) => {
  const indexing = startIndexing({ data, network: NETWORK, storeBatch: 20, log: silent, job })
  const db = openForReading(store)
  const coverage = createCoverageReader(db)
  try {
    await work(number => {
      const { hash } = node.blocks.get(number)!.block
      return reported(indexing, ({ done, total }) => coverage.looked(number)?.hash === hash && done === total)
    })
  } finally {
    db.close()
    await indexing.stop()
  }
}

const coveredIn = (store: string) => readStore(store, db => createCoverageReader(db).covered())

interface IndexedRange {
  from?: number
  to?: number
  order?: BackfillOrder
  traces?: 'all'
}

/** A node of a chain, and a store that is filled and follows with what scopes want of it. */
export const setUpScopes = async (t: TestContext, chain: readonly RawBlock[], finality = 4) => {
  const { data, store } = await folderToIndex(t)
  const node = await startNode(t, chain)
  serveContracts(node)
  const asked = serveLogs(node)
  const index = (scoping: Scoping | undefined, range: IndexedRange = {}) => {
    const { order = 'oldest', traces = 'off' } = range
    const [from, to] = [range.from, range.to].map(block => (block === undefined ? undefined : { block }))
    const job = indexJob(node, { node: { pollMs: 5, traces }, from, to, order, finality: 1, scoping })
    return indexIn(t, data, job, { storeBatch: 20 }).ended
  }
  const follow = (scoping: Scoping, work: Parameters<typeof followScopes>[2]) =>
    followScopes(
      { data, store, node },
      followJob(node, { node: { pollMs: 5 }, order: 'oldest', finality, scoping }),
      work,
    )
  return { node, store, asked, index, follow, covered: () => coveredIn(store) }
}
