import { createCoverageReader } from '../../src/engine/coverage.ts'
import { openForReading } from '../../src/engine/open.ts'
import type { Job } from '../../src/ingest/messages.ts'
import { startIndexing } from '../../src/ingest/network.ts'
import { silent } from '../../src/lib/log.ts'
import { NETWORK, readStore, reported } from './indexing.ts'
import type { FakeNode } from './node.ts'

interface Followed {
  data: string
  store: string
  node: Pick<FakeNode, 'blocks'>
}

/** Follows a chain while `work` lasts; what that is given resolves when a block was looked at, and nothing is left to be looked for. */
export const followScopes = async (
  { data, store, node }: Followed,
  job: Extract<Job, { type: 'follow' }>,
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

/** What a store was looked through for. */
export const coveredIn = (store: string) => readStore(store, db => createCoverageReader(db).covered())
