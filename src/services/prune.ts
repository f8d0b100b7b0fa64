import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createAlertPruning } from '../alerts/prune.ts'
import type { ForgetDone, NarrowDone, PruneDone, Run } from '../cli/index.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import type { Scoping } from '../config/scopes.ts'
import { createLookups } from '../engine/lookups/index.ts'
import { openForReading, openForWriting } from '../engine/open.ts'
import type { Lookups } from '../engine/port.ts'
import { createWriter } from '../engine/writer.ts'
import { startIndexing } from '../ingest/network.ts'
import { askToForget, askToNarrow, askToPrune, isPruneAsked } from '../ingest/prune-requests.ts'
import { createPruner } from '../ingest/pruner.ts'
import { countOutside, type Outside, scopesIn } from '../ingest/scoped/narrowing.ts'
import { openStoredBlocks } from '../ingest/scoped/stored.ts'
import { gapsIn } from '../lib/ranges.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { tryToLockDataFolder } from '../sqlite/lock.ts'
import { requestOf } from './retention.ts'
import { shippingOf } from './shipping.ts'
import { rangesOf, storeOf } from './stores.ts'

/** How long is waited for the program that writes the store. */
const PATIENCE_MS = 60_000
const LOOK_MS = 100

export const prune = async (
  config: Config,
  settings: NetworkConfig,
  before: number | undefined,
  { shutdown, log }: Run,
): Promise<PruneDone> => {
  const { network } = settings
  const store = storeOf(config.data, network)
  // What is asked for here is all that is removed, whatever else the config file does not keep.
  const kept = before === undefined ? requestOf(config, network, settings) : requestOf(config, network)
  askToPrune(store, 'hand', { ...kept, ...(before !== undefined && { below: before, floor: before }) })
  const lock = tryToLockDataFolder(config.data, 'prune', nativeBinding(config.data))
  if (lock) {
    shutdown.add('lock', lock.release)
    await pruneHere(store, log.with({ network }), shutdown.signal)
  } else await waitFor(() => !isPruneAsked(store, 'hand'), shutdown.signal)
  return { network, held: rangesOf(store), waiting: isPruneAsked(store, 'hand') }
}

/** What indices of the cluster lost. Beside a running server, that does it. */
export const forget = async (config: Config, one: NetworkConfig, run: Run): Promise<ForgetDone> => {
  const { network } = one
  const store = storeOf(config.data, network)
  const before = rangesOf(store)
  askToForget(store)
  await doWhatIsAsked(config, one, run, { type: 'forget', asked: 'lost' })
  const held = rangesOf(store)
  const forgotten = before.flatMap(({ from, to }) => gapsIn(held, from, to))
  return { network, forgotten, waiting: isPruneAsked(store, 'lost') }
}

/** What a narrowed scope left. Beside a running server, that does it. */
export const narrow = async (config: Config, one: NetworkConfig, dryRun: boolean, run: Run): Promise<NarrowDone> => {
  const { network, scoping } = one
  const store = storeOf(config.data, network)
  if (dryRun) return { network, outside: outsideOf(store, scoping!), waiting: false }
  askToNarrow(store, { scopes: reading(store, lookups => scopesIn(lookups, scoping!)) })
  await doWhatIsAsked(config, one, run, { type: 'narrow', asked: 'scopes' })
  return { network, outside: null, waiting: isPruneAsked(store, 'scopes') }
}

/** By a thread that decodes, or by the program that uses the data folder, which is waited for a while. */
const doWhatIsAsked = async (
  config: Config,
  { network, storeBatch }: NetworkConfig,
  { shutdown, log }: Run,
  { type, asked }: { type: 'forget' | 'narrow'; asked: 'lost' | 'scopes' },
): Promise<void> => {
  const { data, limits } = config
  const lock = tryToLockDataFolder(data, 'prune', nativeBinding(data))
  if (!lock) return waitFor(() => !isPruneAsked(storeOf(data, network), asked), shutdown.signal)
  shutdown.add('lock', lock.release)
  const job = { type }
  const indexing = startIndexing({ data, network, job, storeBatch, limits, log, ...shippingOf(config, network) })
  shutdown.add(type, indexing.stop)
  await indexing.ended
  shutdown.signal.throwIfAborted()
}

const reading = <T>(store: string, read: (lookups: Lookups) => T): T => {
  const db = openForReading(store, nativeBinding())
  try {
    return read(createLookups(db))
  } finally {
    db.close()
  }
}

const outsideOf = (store: string, scoping: Scoping): Outside =>
  reading(store, lookups => {
    const stored = openStoredBlocks(store, lookups.chainId())
    try {
      return countOutside(lookups, stored, scopesIn(lookups, scoping))
    } finally {
      stored.close()
    }
  })

const pruneHere = async (store: string, log: Run['log'], signal: AbortSignal) => {
  const db = openForWriting(store, nativeBinding())
  try {
    const pruner = createPruner({ store, writer: createWriter(db), alerts: createAlertPruning(db), log })
    while (pruner.step()) {
      await setImmediate()
      signal.throwIfAborted()
    }
  } finally {
    db.close()
  }
}

const waitFor = async (isDone: () => boolean, signal: AbortSignal) => {
  const end = performance.now() + PATIENCE_MS
  while (!isDone() && performance.now() < end) {
    await sleep(LOOK_MS)
    signal.throwIfAborted()
  }
}
