import { setTimeout as sleep } from 'node:timers/promises'
import { withReserve } from '../accounts/file.ts'
import { openAccounts, SCOPES } from '../accounts/index.ts'
import { depthOfChain } from '../config/chains.ts'
import { type Config, type NetworkConfig, nodeOptions } from '../config/index.ts'
import type { DevOptions } from '../dev/chain-news.ts'
import { DEMO_CHAIN, DEMO_TOKEN_MS, importDemo, placeDemo, welcome } from '../dev/demo.ts'
import { storedNetworks } from '../engine/files.ts'
import type { IndexJob } from '../ingest/messages.ts'
import { type Indexing, keepIndexing, prepareStore } from '../ingest/network.ts'
import { type LogLoss, offlineStatus, readStatus } from '../ingest/status/live.ts'
import type { ServerStatus } from '../ingest/status/status.ts'
import { stop, systemFault } from '../lib/errors.ts'
import { nativeBinding, nativeOption } from '../lib/runtime.ts'
import { aborted, type Run, surviveFaults } from '../lib/shutdown.ts'
import type { SearchService } from '../search/service.ts'
import { isDamage } from '../sqlite/damage.ts'
import { lockedFor } from '../sqlite/lock.ts'
import { shippingOf } from './clusters.ts'
import { networksOf, openParts, openPool, startServer } from './compose.ts'
import { backfill, importBlocks } from './jobs.ts'
import { receiveWebhooks } from './receive.ts'
import { startRetention, watchStored } from './retention.ts'
import { createRulesService } from './rules.ts'
import { takeDataFolder } from './upgrade.ts'

/** Loads the code of a command when it runs, which keeps the start of others fast. */
const late =
  <A extends unknown[], R>(load: () => Promise<(...args: A) => R>) =>
  async (...args: A): Promise<Awaited<R>> =>
    await (await load())(...args)

/** Serves until `shutdown`, which stops all parts in reverse order. */
const runServer = async (config: Config, { log, shutdown }: Run): Promise<void> => {
  if (config.role === 'search') return (await import('./search-role.ts')).serveSearch(config, { log, shutdown })
  const lock = takeDataFolder(config.data, 'serve', log)
  shutdown.add('lock', lock.release)
  shutdown.add('last resort', surviveFaults(log))
  checkSources(config, log)
  const demo = config.networks.length === 0 && storedNetworks(config.data).every(network => network === DEMO_CHAIN)
  if (demo) placeDemo(config.data)
  const stored = storedNetworks(config.data)
  const losses = new Map<string, LogLoss>()
  const isWhole = new Set(stored.filter(network => prepareUndamaged(config.data, network, { log, losses })))
  const parts = openParts(config, { log, shutdown })
  const { accounts, rules, delivery } = parts

  const indexings = config.networks
    .filter(({ rpc }) => rpc.length > 0)
    .map(network => startFollowing(config, network, log, delivery.wake))
  for (const indexing of indexings) shutdown.add(`indexing of ${indexing.network}`, indexing.stop)
  for (const indexing of indexings)
    indexing.ended.catch(error => log.error('Stopped indexing', { network: indexing.network, error }))
  if (demo && isWhole.size === stored.length) await importDemo(config, { log, shutdown })

  const indexed = new Set(indexings.map(({ network }) => network))
  shutdown.add('retention', startRetention(config, log))
  const watching = watchStored({ config, rules, indexed, log, onAlerts: delivery.wake })
  shutdown.add('watching', watching.stop)

  const server = await startServer(config, { ...parts, indexings, losses, watching: watching.of }, { log, shutdown })
  if (demo) {
    // If a power cut loses it, the next start creates another one.
    const token = withReserve(config.data, () =>
      accounts.createToken('demo', { expiresIn: DEMO_TOKEN_MS, scopes: SCOPES, lasting: false }),
    )
    process.stdout.write(welcome(server.url, token, !config.noConsole))
  }
  await aborted(shutdown.signal)
}

const serveIndexed = async (config: Config, indexings: readonly Indexing[], run: Run) => {
  const parts = openParts(config, run)
  run.shutdown.add('indexing', () => Promise.all(indexings.map(({ stop }) => stop())))
  const { url } = await startServer(config, { ...parts, indexings }, run)
  return { ...parts, url }
}

/** The status of the running server, or else of the stored data. */
const readOrComputeStatus = async (config: Config, { shutdown }: Run): Promise<ServerStatus> => {
  const isServed = () => lockedFor(config.data, nativeBinding(config.data)) === 'serve'
  let published = readStatus(config.data)
  const isSilent = !published && isServed()
  for (let waited = 0; isSilent && !published && waited < FIRST_STATUS_MS; waited += STATUS_POLL_MS) {
    await sleep(STATUS_POLL_MS, undefined, { signal: shutdown.signal })
    published = readStatus(config.data)
  }
  if (published) return published
  if (!isSilent && storedNetworks(config.data).length === 0)
    throw stop(
      'no_data',
      `there is no data in ${config.data}, and no server runs on it: name the folder with --data, or create one with chainsieve serve, index or import`,
    )
  const pool = openPool(config, shutdown)
  const status = await offlineStatus({ networks: () => networksOf(config), indexings: [], held: pool.held })
  return { ...status, ...(isSilent && isServed() && { silent: true as const }) }
}

/**
 * False if the store is damaged; other networks are served nevertheless. On a full disk, stored
 * blocks are searched as they are.
 */
const prepareUndamaged = (
  data: string,
  network: string,
  { log, losses }: Pick<Run, 'log'> & { losses: Map<string, LogLoss> },
): boolean => {
  try {
    const { loss } = withReserve(data, () => prepareStore(data, network, log))
    if (loss) losses.set(network, loss)
    return true
  } catch (error) {
    if (systemFault(error)?.code === 'disk_full') {
      log.warn('The disk is full: searches what is stored, and indexes again when there is room', { network, error })
      return true
    }
    if (!isDamage(error)) throw error
    log.error('Does not search or index a network, whose store is damaged', { network, error })
    return false
  }
}

/** Without a node, stored blocks are served but no new ones come. Fails if there are neither. */
const checkSources = ({ data, networks }: Config, log: Run['log']) => {
  const stored = new Set(storedNetworks(data))
  for (const { network } of networks.filter(({ rpc }) => rpc.length === 0)) {
    if (!stored.has(network))
      throw stop(
        'network_without_node',
        `${network} has no node, and ${data} stores none of its blocks: add --rpc URL (rpc = ["…"] under [[networks]] in the config file), or import blocks first`,
      )
    log.warn('A network has no node: serves its stored blocks, and no new blocks come', { network })
  }
}

/** Maximum wait for the first status of a starting server. */
const FIRST_STATUS_MS = 3_000
const STATUS_POLL_MS = 50

const startFollowing = (
  config: Config,
  network: NetworkConfig,
  log: Run['log'],
  onAlerts: (network: string) => void,
): Indexing => {
  const {
    network: name,
    from,
    order,
    finality,
    staleAfter: staleMs,
    storeBatch,
    keepBlocks,
    keepFor,
    scoping,
  } = network
  const keep = { blocks: keepBlocks, forMs: keepFor }
  const node = nodeOptions(network)
  const following = config.networks.filter(({ rpc }) => rpc.length > 0)
  const followed = following.filter(it => it.scoping === undefined).map(it => it.network)
  const depth = depthOfChain(name, finality)
  const job: IndexJob = { type: 'follow', node, from, order, ...depth, keep, staleMs, scoping, followed }
  const { data, indexers, limits } = config
  const onOwn = () => onAlerts(name)
  return keepIndexing({
    data,
    network: name,
    job,
    storeBatch,
    indexers,
    networks: following.length,
    limits,
    log,
    ...shippingOf(config, name),
    onAlerts: onOwn,
  })
}

/** Implementations behind the commands; tests replace single members. */
export const services = {
  serve: runServer,
  status: readOrComputeStatus,
  index: backfill,
  importPacks: importBlocks,
  receive: receiveWebhooks,
  openAccounts: (folder: string) => openAccounts(folder, nativeOption(folder)),
  openRules: createRulesService,
  openSearch: async (config: Config, { shutdown }: Run): Promise<SearchService> => openPool(config, shutdown),
  async *diagnose(config: Config, { shutdown }: Run) {
    const { diagnose } = await import('../doctor/index.ts')
    yield* diagnose(config, shutdown.signal)
  },
  async dev(config: Config, network: NetworkConfig, run: Run & Omit<DevOptions, 'serve'>) {
    const { serveDev } = await import('../dev/serve.ts')
    await serveDev(config, network, { ...run, serve: serveIndexed })
  },
  replay: late(async () => (await import('../dev/replay.ts')).replayForDev),
  agent: late(async () => (await import('./agents.ts')).serveAgent),
  exportHits: late(async () => (await import('./export.ts')).exportToFile),
  verify: late(async () => (await import('./verify.ts')).verifyDataFolder),
  backup: late(async () => (await import('./backup.ts')).backupDataFolder),
  restore: late(async () => (await import('./backup.ts')).restoreDataFolder),
  prune: late(async () => (await import('./maintenance.ts')).pruneNetwork),
  forget: late(async () => (await import('./maintenance.ts')).pruneLost),
  narrow: late(async () => (await import('./maintenance.ts')).pruneOutsideScopes),
  move: late(async () => (await import('./maintenance.ts')).moveDocuments),
  compact: late(async () => (await import('./maintenance.ts')).compactStores),
  stats: late(async () => (await import('./maintenance.ts')).readStoreStats),
  salvage: late(async () => (await import('./maintenance.ts')).salvageNetwork),
}

export type Services = typeof services
