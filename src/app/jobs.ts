import { depthOfChain } from '../config/chains.ts'
import { type Config, type NetworkConfig, nodeOptions } from '../config/index.ts'
import { removeStore, storedNetworks, storeFile } from '../engine/files.ts'
import type { IndexJob, Report } from '../ingest/messages.ts'
import { startIndexing } from '../ingest/network.ts'
import type { Progress } from '../lib/progress.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'
import type { Run } from '../lib/shutdown.ts'
import { shippingOf } from './clusters.ts'
import { rangesOf } from './stores.ts'
import { takeDataFolder } from './upgrade.ts'

/** The result of a back-fill or an import. */
export interface Summary {
  blocks: number
  logs: number
  events: number
  /** Ranges that this run added, ascending. */
  added: Range[]
  /** All ranges that the network now stores, ascending. */
  held: Range[]
  /** Requested blocks that are not stored, ascending; empty if the back-fill is complete. */
  missing: Range[]
  /** Packs that the import has not finished. */
  unread: { file: string; begun: boolean }[]
  /** Cause of an early end. */
  failure?: Error | undefined
}

type RunWithProgress = Run & { progress: Progress }

/** Back-fills one network. */
export const backfill = (config: Config, network: NetworkConfig, run: RunWithProgress): Promise<Summary> => {
  const { from, to, order, finality, storeBatch, scoping } = network
  const depth = depthOfChain(network.network, finality)
  const job: IndexJob = { type: 'index', node: nodeOptions(network), from, to, order, ...depth, scoping }
  return runToEnd(config, network.network, job, storeBatch, run)
}

export const importBlocks = (
  config: Config,
  network: string,
  files: string[],
  run: RunWithProgress,
): Promise<Summary> => {
  const storeBatch = config.networks.find(it => it.network === network)?.storeBatch ?? DEFAULT_BATCH
  return runToEnd(config, network, { type: 'import', files }, storeBatch, run)
}

const DEFAULT_BATCH = 200

/** Runs a finite job and shows its progress. */
const runToEnd = async (
  config: Config,
  network: string,
  job: Extract<IndexJob, { type: 'index' | 'import' }>,
  storeBatch: number,
  { log, shutdown, progress }: RunWithProgress,
): Promise<Summary> => {
  const { data, indexers, limits } = config
  const lock = takeDataFolder(data, job.type, log)
  const isNew = !storedNetworks(data).includes(network)
  const onReport = ({ blocks, logs, events, done, total, shipping }: Report) =>
    progress.update({ blocks, logs, events, done, total, toShip: shipping?.blocksLeft })
  const shipping = shippingOf(config, network)
  const indexing = startIndexing({ data, network, job, storeBatch, indexers, limits, log, ...shipping, onReport })
  const end = () => void indexing.stop()
  shutdown.signal.addEventListener('abort', end, { once: true })
  if (shutdown.signal.aborted) end()
  try {
    const failure = await indexing.ended.then(
      () => undefined,
      (error: Error) => error,
    )
    const { blocks, logs, events, added, asked, reading } = indexing.report()
    const held = rangesOf(storeFile(data, network))
    if (isNew && held.length === 0 && !('scoping' in job && job.scoping)) removeStore(data, network)
    const missing = asked ? gapsIn(held, asked.from, asked.to) : []
    const isBroken = failure !== undefined || shutdown.signal.aborted
    const unread = job.type === 'import' && isBroken ? unreadOf(job.files, reading) : []
    // An error before any work is reported alone.
    if (failure && blocks === 0 && missing.length === 0 && reading === null) throw failure
    return { blocks, logs, events, added, held, missing, unread, failure }
  } finally {
    shutdown.signal.removeEventListener('abort', end)
    lock.release()
  }
}

/** Packs not yet read to their end. */
const unreadOf = (files: readonly string[], reading: string | null): Summary['unread'] =>
  files.slice(reading === null ? 0 : files.indexOf(reading)).map(file => ({ file, begun: file === reading }))
