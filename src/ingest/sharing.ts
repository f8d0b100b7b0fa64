import { type Builders, createBuilders } from './builders/pool.ts'
import type { IndexerData } from './messages.ts'
import type { Work } from './work.ts'

/** Whether other threads build documents for the one that indexes. */
export const sharesWork = ({ job, indexers }: Pick<IndexerData, 'job' | 'indexers'>): boolean =>
  indexers > 1 && (job.type === 'import' || job.type === 'index')

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
  })
}

/** Empties the dictionaries that threads share, once all that is in them is stored. Nobody must begin to build meanwhile. */
export const makeRoom = async ({ pipeline, dictionaries }: Work, builders: Builders) => {
  await builders.idle()
  await pipeline.flush()
  // What another lane has added since is not stored yet: then it is tried again.
  if (pipeline.isSettled()) dictionaries?.reset()
}
