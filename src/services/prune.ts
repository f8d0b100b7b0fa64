import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createAlertPruning } from '../alerts/prune.ts'
import type { PruneDone, Run } from '../cli/index.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import { openForWriting } from '../engine/open.ts'
import { createWriter } from '../engine/writer.ts'
import { askToPrune, isPruneAsked } from '../ingest/prune-requests.ts'
import { createPruner } from '../ingest/pruner.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { lockDataFolder } from '../sqlite/lock.ts'
import { requestOf } from './retention.ts'
import { rangesOf, storeOf } from './stores.ts'

/** How long is waited for the program that writes the store. */
const PATIENCE_MS = 60_000
const LOOK_MS = 100

export const prune = async (
  config: Config,
  settings: NetworkConfig,
  before: number | undefined,
  { shutdown }: Run,
): Promise<PruneDone> => {
  const { network } = settings
  const store = storeOf(config.data, network)
  // What is asked for here is all that is removed, whatever else the config file does not keep.
  const kept = before === undefined ? requestOf(config, network, settings) : requestOf(config, network)
  askToPrune(store, 'hand', { ...kept, ...(before !== undefined && { below: before, floor: before }) })
  const lock = tryToLock(config.data)
  if (lock) {
    shutdown.add('lock', lock.release)
    await pruneHere(store, shutdown.signal)
  } else await waitFor(() => !isPruneAsked(store, 'hand'), shutdown.signal)
  return { network, held: rangesOf(store), waiting: isPruneAsked(store, 'hand') }
}

/** Undefined where another program writes to the folder. */
const tryToLock = (data: string) => {
  try {
    return lockDataFolder(data, 'prune', nativeBinding(data))
  } catch (error) {
    if (error instanceof ChainsieveError && error.code === 'data_folder_locked') return undefined
    throw error
  }
}

const pruneHere = async (store: string, signal: AbortSignal) => {
  const db = openForWriting(store, nativeBinding())
  try {
    const pruner = createPruner({ store, writer: createWriter(db), alerts: createAlertPruning(db) })
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
