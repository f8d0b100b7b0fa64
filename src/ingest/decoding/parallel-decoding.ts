import type { Work } from '../job-context.ts'
import { type IndexerData, YOUNG_MB } from '../messages.ts'
import { type Builders, createBuilders } from './builders/pool.ts'
import type { Room } from './shared/dictionaries.ts'

/** Whether other threads build documents for the one that indexes. */
export const sharesWork = ({ job, indexers }: Pick<IndexerData, 'job' | 'indexers'>): boolean =>
  indexers > 1 && !WITHOUT_BLOCKS.has(job.type)

/** Jobs that bring no blocks. */
const WITHOUT_BLOCKS: ReadonlySet<IndexerData['job']['type']> = new Set(['watch', 'narrow', 'forget', 'move'])

/** Addresses of which a thread of a server remembers the ids: it has no memory to spare, and the store tells the others. */
export const FEW_ADDRESSES = 50_000

/** A server makes room more often. */
export const roomOf = ({ job, sharing }: Pick<IndexerData, 'job' | 'sharing'>): Room =>
  sharing.room ?? (job.type === 'follow' ? { addresses: 1 << 18 } : {})

export const startBuilders = (work: Work): Builders | undefined => {
  const { job, indexers, network, store, abis, chainId, limits, dictionaries } = work
  if (!dictionaries) return undefined
  const node = 'node' in job ? job.node : undefined
  return createBuilders(indexers, {
    network,
    store,
    abis,
    chainId,
    limits,
    memory: dictionaries.memory,
    bloom: node?.bloom !== false,
    traces: node?.traces === 'calls' ? 'calls' : 'all',
    youngMb: YOUNG_MB[job.type],
  })
}

/** Empties the dictionaries that threads share, once all that is in them is stored. Nobody must begin to build meanwhile. */
export const makeRoom = async ({ pipeline, dictionaries }: Work, builders?: Builders) => {
  await builders?.idle()
  await pipeline.rest(() => {
    // Decoding again may have added something that is not stored yet: then this is tried again.
    if (pipeline.isSettled()) dictionaries?.reset()
  })
}
