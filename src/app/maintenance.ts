import { copyFileSync, existsSync, linkSync } from 'node:fs'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { compactAccounts } from '../accounts/file.ts'
import { createAlertPruning } from '../alerts/marks.ts'
import type { MovingReport } from '../cluster/ship/context.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import type { Scoping } from '../config/scopes.ts'
import { compactDeliveries } from '../delivery/ledger/file.ts'
import { createStoreLookups } from '../engine/dictionary-reader.ts'
import { openForWriting, readStore } from '../engine/open.ts'
import type { Lookups } from '../engine/port.ts'
import { removeStoreFiles, salvageStore } from '../engine/salvage.ts'
import { createLocationWriter } from '../engine/shipping/document-location.ts'
import { readStats } from '../engine/stats.ts'
import { createWriter } from '../engine/writer.ts'
import { countOutside, type Outside, scopesIn } from '../ingest/jobs/narrow.ts'
import { startIndexing } from '../ingest/network.ts'
import {
  askToForget,
  askToNarrow,
  askToPrune,
  isPruneAsked,
  type PruneRequestKind,
  withdraw,
} from '../ingest/requests.ts'
import { openStoredBlocks } from '../ingest/scoped/partial-blocks.ts'
import { readStatus } from '../ingest/status/live.ts'
import { pruneAsAsked } from '../ingest/writer/work-queue.ts'
import { refuse, stop } from '../lib/errors.ts'
import type { Progress } from '../lib/progress.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'
import { nativeBinding } from '../lib/runtime.ts'
import type { Run } from '../lib/shutdown.ts'
import { compactStore, replaceStore } from '../sqlite/compact.ts'
import { asDamage } from '../sqlite/damage.ts'
import { lockDataFolder } from '../sqlite/lock.ts'
import { findDamaged, refuseDamaged, sizeOnDisk } from '../sqlite/verify-pages.ts'
import { shippingOf } from './clusters.ts'
import { requestOf } from './retention.ts'
import { isInCluster, rangesOf, storeOf, storesOf } from './stores.ts'
import { takeDataFolder, tryToTakeDataFolder } from './upgrade.ts'

type DocumentPlace = 'opensearch' | 'sqlite'
const documentPlace = (store: string): DocumentPlace => (isInCluster(store) ? 'opensearch' : 'sqlite')

/** Maximum wait for the process that writes the store. */
const PRUNE_TIMEOUT_MS = 60_000
const PRUNE_POLL_MS = 100

export const pruneNetwork = async (
  config: Config,
  settings: NetworkConfig,
  before: number | undefined,
  { shutdown, log }: Run,
) => {
  const { network } = settings
  const store = storeOf(config.data, network)
  const lock = tryToTakeDataFolder(config.data, 'prune', log)
  if (lock) shutdown.add('lock', lock.release)
  // Removes only what this command asks for, regardless of the retention in the config file.
  const kept = before === undefined ? requestOf(config, network, settings) : requestOf(config, network)
  // Fails here on a broken store, before a request is left for a server.
  rangesOf(store)
  askToPrune(store, 'hand', { ...kept, ...(before !== undefined && { below: before, floor: before }) })
  if (lock)
    await withdrawOnFailure(store, 'hand', shutdown.signal, () =>
      pruneHere(store, log.with({ network }), shutdown.signal),
    )
  else await waitFor(() => !isPruneAsked(store, 'hand'), shutdown.signal)
  return { network, held: rangesOf(store), waiting: isPruneAsked(store, 'hand') }
}

/** Removes blocks whose documents the cluster lost. A running server does it itself. */
export const pruneLost = async (config: Config, one: NetworkConfig, run: Run) => {
  const { network } = one
  const store = storeOf(config.data, network)
  let before: Range[] = []
  await runOrRequest(config, one, run, {
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

/** Removes blocks outside of narrowed scopes. A running server does it itself. */
export const pruneOutsideScopes = async (config: Config, one: NetworkConfig, dryRun: boolean, run: Run) => {
  const { network, scoping } = one
  const store = storeOf(config.data, network)
  if (dryRun) return { network, outside: countOutsideScopes(store, scoping!), waiting: false }
  const ask = () => askToNarrow(store, { scopes: reading(store, lookups => scopesIn(lookups, scoping!)) })
  await runOrRequest(config, one, run, { type: 'narrow', asked: 'scopes', ask })
  return { network, outside: null, waiting: isPruneAsked(store, 'scopes') }
}

/** Runs on a decode thread, or requests it from the running server and waits for a while. */
const runOrRequest = async (
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
  await withdrawOnFailure(store, asked, shutdown.signal, work)
  shutdown.signal.throwIfAborted()
}

/** Withdraws a failed request: a later start must not repeat it. An aborted one stays. */
const withdrawOnFailure = async (
  store: string,
  asked: PruneRequestKind,
  signal: AbortSignal,
  work: () => Promise<void>,
) => {
  try {
    await work()
  } catch (error) {
    if (!signal.aborted) withdraw(store, asked)
    throw error
  }
}

const reading = <T>(store: string, read: (lookups: Lookups) => T): T =>
  readStore(store, db => read(createStoreLookups(db)))

const countOutsideScopes = (store: string, scoping: Scoping): Outside =>
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
    for (const _ of pruneAsAsked({ store, writer: createWriter(db), alerts: createAlertPruning(db), log })) {
      await setImmediate()
      signal.throwIfAborted()
    }
  } catch (error) {
    throw asDamage(error, store)
  } finally {
    db.close()
  }
}

const waitFor = async (isDone: () => boolean, signal: AbortSignal) => {
  const end = performance.now() + PRUNE_TIMEOUT_MS
  while (!isDone() && performance.now() < end) {
    await sleep(PRUNE_POLL_MS)
    signal.throwIfAborted()
  }
}

const MOVE_LOOK_MS = 500
/** A server that moves nothing by then has no cluster configured. */
const MOVE_PATIENCE_MS = 15_000

/** Moves documents to the cluster or back, or waits for a running server to do so. */
export const moveDocuments = async (
  config: Config,
  { network, cluster, storeBatch }: NetworkConfig,
  to: DocumentPlace,
  { log, shutdown, progress }: Run & { progress: Progress },
) => {
  const store = storeOf(config.data, network)
  const returning = to === 'sqlite'
  const show = (moving: MovingReport | null | undefined) => {
    if (moving) progress.update(stepOf(moving))
  }
  const lock = tryToTakeDataFolder(config.data, 'move', log)
  if (lock) {
    shutdown.add('lock', lock.release)
    refuseDamaged(store)
    if (!cluster) answerAgain(network, store)
    else {
      const { data, limits } = config
      const indexing = startIndexing({
        ...{ data, network, job: { type: 'move' }, storeBatch, limits, log, ...shippingOf(config, network), returning },
        onReport: ({ shipping }) => show(shipping?.moving),
      })
      shutdown.add('moving', indexing.stop)
      await indexing.ended
      shutdown.signal.throwIfAborted()
    }
  } else await waitForServer(config.data, { network, store, to }, show, shutdown.signal)
  return { network, store: documentPlace(store) }
}

/** Each block counts twice: shipped and verified. */
const stepOf = ({ blocks, shipped, verified }: MovingReport) => ({
  ...{ blocks: shipped, logs: 0, events: 0 },
  ...{ done: shipped + Math.min(verified, blocks), total: 2 * blocks },
})

const waitForServer = async (
  data: string,
  { network, store, to }: { network: string; store: string; to: DocumentPlace },
  show: (moving: MovingReport | undefined) => void,
  signal: AbortSignal,
) => {
  let end = performance.now() + MOVE_PATIENCE_MS
  while (documentPlace(store) !== to) {
    const moving = readStatus(data)?.networks.find(one => one.network === network)?.moving
    if (moving?.to === to) {
      show(moving)
      end = performance.now() + MOVE_PATIENCE_MS
    } else if (performance.now() > end)
      throw stop(
        'move_waits',
        `another program uses ${data}, and does not move ${network} to ${to}: restart the server with the config file that has store = "${to}" and opensearch-url, or stop it and run this command again`,
      )
    await sleep(MOVE_LOOK_MS, undefined, { signal })
  }
}

/** Without a cluster, only if the store has all documents. */
const answerAgain = (network: string, store: string) => {
  const db = openForWriting(store, nativeBinding())
  try {
    const { back } = createLocationWriter(db)
    if (!db.transaction(back).immediate())
      throw stop(
        'move_back',
        `the cluster alone has documents of ${network}: name the config file that has store = "sqlite" and opensearch-url for the network. See docs/opensearch.md`,
      )
  } finally {
    db.close()
  }
}

export const compactStores = async ({ data }: Config, network: string | undefined, { shutdown, log }: Run) => {
  const native = nativeBinding(data)
  const stores = storesOf(data, network)
  const lock = takeDataFolder(data, 'compact', log)
  shutdown.add('lock', lock.release)
  const done: { file: string; before: number; after: number }[] = []
  for (const [, file] of stores) {
    shutdown.signal.throwIfAborted()
    const before = sizeOnDisk(file)
    // Opening and closing the file copies its log into it.
    openForWriting(file, native).close()
    compactStore(file, native)
    done.push({ file, before, after: sizeOnDisk(file) })
  }
  if (network !== undefined) return done
  for (const compactFile of [compactAccounts, compactDeliveries]) done.push(...compactFile(data, native))
  return done
}

export const readStoreStats = async ({ data }: Config, network: string | undefined) =>
  storesOf(data, network).map(([name, store]) => ({
    ...{ network: name, store: documentPlace(store) },
    ...readStats(store, nativeBinding(data)),
  }))

export const salvageNetwork = async ({ data }: Config, network: string, { shutdown }: Run) => {
  const native = nativeBinding(data)
  const store = storeOf(data, network)
  const lock = lockDataFolder(data, 'salvage', native)
  shutdown.add('lock', lock.release)
  const pages = damagedPages(store)
  if (pages.length === 0) throw refuse('store_whole', `${store} is not damaged: there is nothing to salvage.`)
  const made = `${store}-salvage`
  try {
    const { lost, lostAlerts } = salvageStore(store, made, pages, native)
    const aside = keepAside(store)
    replaceStore(store, made)
    return { network, held: rangesOf(store), lost, lostAlerts, aside }
  } finally {
    removeStoreFiles(made)
  }
}

const damagedPages = (store: string): readonly number[] => {
  const pages = findDamaged(store)
  if (!pages) throw refuse('store_unchecked', `${store} has no checksums, so its damaged pages are unknown.`)
  return pages
}

/** Renames the damaged store; the new one replaces it in one step. */
const keepAside = (store: string): string => {
  const aside = `${store}-damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  for (const suffix of ['-wal', '-sums']) if (existsSync(store + suffix)) copyFileSync(store + suffix, aside + suffix)
  try {
    linkSync(store, aside)
  } catch {
    // Not every file system supports hard links.
    copyFileSync(store, aside)
  }
  return aside
}
