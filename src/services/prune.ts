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
import { type Asked, askToForget, askToNarrow, askToPrune, isPruneAsked, withdraw } from '../ingest/prune-requests.ts'
import { createPruner } from '../ingest/pruner.ts'
import { countOutside, type Outside, scopesIn } from '../ingest/scoped/narrowing.ts'
import { openStoredBlocks } from '../ingest/scoped/stored.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { readDamage } from '../sqlite/damage.ts'
import { requestOf } from './retention.ts'
import { shippingOf } from './shipping.ts'
import { rangesOf, storeOf } from './stores.ts'
import { tryToTakeDataFolder } from './upgrade.ts'

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
  const lock = tryToTakeDataFolder(config.data, 'prune', log)
  if (lock) shutdown.add('lock', lock.release)
  // What is asked for here is all that is removed, whatever else the config file does not keep.
  const kept = before === undefined ? requestOf(config, network, settings) : requestOf(config, network)
  // Before anything is asked of it: whoever asks is told what is wrong, not a log.
  rangesOf(store)
  askToPrune(store, 'hand', { ...kept, ...(before !== undefined && { below: before, floor: before }) })
  if (lock)
    await orWithdraw(store, 'hand', shutdown.signal, () => pruneHere(store, log.with({ network }), shutdown.signal))
  else await waitFor(() => !isPruneAsked(store, 'hand'), shutdown.signal)
  return { network, held: rangesOf(store), waiting: isPruneAsked(store, 'hand') }
}

/** What indices of the cluster lost. Beside a running server, that does it. */
export const forget = async (config: Config, one: NetworkConfig, run: Run): Promise<ForgetDone> => {
  const { network } = one
  const store = storeOf(config.data, network)
  let before: Range[] = []
  await doWhatIsAsked(config, one, run, {
    ...{ type: 'forget', asked: 'lost' },
    ask() {
      before = rangesOf(store)
      askToForget(store)
    },
  })
  const held = rangesOf(store)
  const forgotten = before.flatMap(({ from, to }) => gapsIn(held, from, to))
  return { network, forgotten, waiting: isPruneAsked(store, 'lost') }
}

/** What a narrowed scope left. Beside a running server, that does it. */
export const narrow = async (config: Config, one: NetworkConfig, dryRun: boolean, run: Run): Promise<NarrowDone> => {
  const { network, scoping } = one
  const store = storeOf(config.data, network)
  if (dryRun) return { network, outside: outsideOf(store, scoping!), waiting: false }
  const ask = () => askToNarrow(store, { scopes: reading(store, lookups => scopesIn(lookups, scoping!)) })
  await doWhatIsAsked(config, one, run, { type: 'narrow', asked: 'scopes', ask })
  return { network, outside: null, waiting: isPruneAsked(store, 'scopes') }
}

/** By a thread that decodes, or by the program that uses the data folder, which is waited for a while. */
const doWhatIsAsked = async (
  config: Config,
  { network, storeBatch }: NetworkConfig,
  { shutdown, log }: Run,
  { type, asked, ask }: { type: 'forget' | 'narrow'; asked: 'lost' | 'scopes'; ask(): void },
): Promise<void> => {
  const { data, limits } = config
  const store = storeOf(data, network)
  const lock = tryToTakeDataFolder(data, 'prune', log)
  if (lock) shutdown.add('lock', lock.release)
  ask()
  if (!lock) return waitFor(() => !isPruneAsked(store, asked), shutdown.signal)
  const job = { type }
  const work = async () => {
    const indexing = startIndexing({ data, network, job, storeBatch, limits, log, ...shippingOf(config, network) })
    shutdown.add(type, indexing.stop)
    await indexing.ended
  }
  await orWithdraw(store, asked, shutdown.signal, work)
  shutdown.signal.throwIfAborted()
}

/** What failed is not done by a later start, of which nobody would know why. What was interrupted is. */
const orWithdraw = async (store: string, asked: Asked, signal: AbortSignal, work: () => Promise<void>) => {
  try {
    await work()
  } catch (error) {
    if (!signal.aborted) withdraw(store, asked)
    throw error
  }
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
  } catch (error) {
    throw readDamage(error, store)
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
