import { setTimeout as sleep } from 'node:timers/promises'
import { withReserve } from '../accounts/file.ts'
import { openAccounts, SCOPES } from '../accounts/index.ts'
import type { AbiFile, AbiPlace, Run, Services, Summary, Unread } from '../cli/index.ts'
import { depthOfChain } from '../config/chains.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import { createBlocks } from '../engine/blocks.ts'
import { removeStore, storedNetworks, storeFile } from '../engine/files.ts'
import { openForReading } from '../engine/open.ts'
import { abiFolder, addAbis, listAbis, removeAbis, type StoredAbi, type Where } from '../ingest/decoding/abis.ts'
import { keepIndexing } from '../ingest/keep-indexing.ts'
import type { Job, Report } from '../ingest/messages.ts'
import { type Indexing, prepareStore, startIndexing } from '../ingest/network.ts'
import { askToRedecode, redecodeFolder } from '../ingest/requests/redecode-requests.ts'
import { offlineStatus } from '../ingest/status/live.ts'
import type { LogLoss } from '../ingest/status/log-loss.ts'
import { readStatus } from '../ingest/status/published.ts'
import type { Status } from '../ingest/status/status.ts'
import { stop, systemFault } from '../lib/errors.ts'
import { surviveFaults } from '../lib/last-resort.ts'
import { lazy } from '../lib/lazy.ts'
import type { Progress } from '../lib/progress.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'
import { nativeBinding, nativeOption } from '../lib/runtime.ts'
import { aborted } from '../lib/shutdown.ts'
import { isDamage } from '../sqlite/damage.ts'
import { lockedFor } from '../sqlite/lock.ts'
import { DEMO, DEMO_TOKEN_MS, importDemo, placeDemo, welcome } from './demo.ts'
import { networksOf, nodeOptions, openParts, openPool, startServer } from './parts.ts'
import { receive } from './receive.ts'
import { startRetention } from './retention.ts'
import { createRulesService } from './rules.ts'
import { shippingOf } from './shipping.ts'
import { takeDataFolder } from './upgrade.ts'
import { watchStored } from './watch.ts'

/** What the commands set to work, in the order in which it starts; `shutdown` stops it in reverse. */
export const services: Services = {
  async serve(config, { log, shutdown }) {
    if (config.role === 'search') return (await import('./search-role.ts')).serveSearch(config, { log, shutdown })
    const lock = takeDataFolder(config.data, 'serve', log)
    shutdown.add('lock', lock.release)
    shutdown.add('last resort', surviveFaults(log))
    checkSources(config, log)
    const demo = config.networks.length === 0 && storedNetworks(config.data).every(network => network === DEMO)
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
      // After a power cut, the next start makes another one.
      const token = withReserve(config.data, () =>
        accounts.createToken('demo', { expiresIn: DEMO_TOKEN_MS, scopes: SCOPES, lasting: false }),
      )
      process.stdout.write(welcome(server.url, token, !config.noConsole))
    }
    await aborted(shutdown.signal)
  },

  dev: async (...asked) => (await import('./dev.ts')).serveDev(...asked),

  replay: async (...asked) => (await import('./replay.ts')).replay(...asked),

  async index(config, network, run) {
    const node = nodeOptions(network)
    const { from, to, order, finality, storeBatch, scoping } = network
    const job: Job = { type: 'index', node, from, to, order, ...depthOfChain(network.network, finality), scoping }
    return runToEnd(config, network.network, job, storeBatch, 'index', run)
  },

  async importPacks(config, network, files, run) {
    const storeBatch = config.networks.find(it => it.network === network)?.storeBatch ?? DEFAULT_BATCH
    return runToEnd(config, network, { type: 'import', files }, storeBatch, 'import', run)
  },

  openSearch: async (config, { shutdown }) => openPool(config, shutdown),

  exportHits: async (...asked) => (await import('./export.ts')).exportHits(...asked),

  openRules: (config, { shutdown }) =>
    createRulesService({
      config,
      native: nativeOption(config.data),
      networks: () => networksOf(config),
      openPool: lazy(() => openPool(config, shutdown)),
      shutdown,
    }),

  receive,

  openAccounts: folder => openAccounts(folder, nativeOption(folder)),

  async *diagnose(config, { shutdown }) {
    const { diagnose } = await import('../doctor/index.ts')
    yield* diagnose(config, shutdown.signal)
  },

  async status(config, { shutdown }): Promise<Status> {
    const isServed = () => lockedFor(config.data, nativeBinding(config.data)) === 'serve'
    let published = readStatus(config.data)
    const isSilent = !published && isServed()
    for (let waited = 0; isSilent && !published && waited < FIRST_STATUS_MS; waited += LOOK_MS) {
      await sleep(LOOK_MS, undefined, { signal: shutdown.signal })
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
  },

  verify: async (...asked) => (await import('./verify.ts')).verify(...asked),

  backup: async (...asked) => (await import('./backup.ts')).backup(...asked),
  restore: async (...asked) => (await import('./backup.ts')).restore(...asked),

  prune: async (...asked) => (await import('./maintenance.ts')).prune(...asked),
  forget: async (...asked) => (await import('./maintenance.ts')).forget(...asked),
  narrow: async (...asked) => (await import('./maintenance.ts')).narrow(...asked),
  move: async (...asked) => (await import('./maintenance.ts')).move(...asked),
  compact: async (...asked) => (await import('./maintenance.ts')).compact(...asked),
  stats: async (...asked) => (await import('./maintenance.ts')).stats(...asked),
  salvage: async (...asked) => (await import('./maintenance.ts')).salvage(...asked),

  async addAbis(config, files, place, redecode, log) {
    const abis = addAbis(abiFolder(config.data), files, toWhere(place), config.limits, log)
    if (!redecode) return abis.map(toAbiFile)
    const networks = storedNetworks(config.data).filter(
      stored => place.network === undefined || stored === place.network,
    )
    for (const abi of abis) askToRedecode(redecodeFolder(config.data), abi, networks)
    const now = readStatus(config.data) !== undefined
    return abis.map(abi => ({ ...toAbiFile(abi), redecoding: { networks, now } }))
  },

  removeAbis: async (config, names, place) => removeAbis(abiFolder(config.data), names, toWhere(place)).map(toAbiFile),

  listAbis: async config => listAbis(abiFolder(config.data)).map(toAbiFile),
}

/**
 * False where it is damaged. That must not keep the others from being served: searches of the network and the status say so. On a full
 * disk, what is stored is searched as it is.
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

/** Stored blocks are served without a node, but no new ones come; without both there is nothing to serve. */
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

/** How long the first status of a server that has just started is waited for. */
const FIRST_STATUS_MS = 3_000
const LOOK_MS = 50
const DEFAULT_BATCH = 200

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
  const job: Job = { type: 'follow', node, from, order, ...depthOfChain(name, finality), keep, staleMs, scoping }
  const { data, indexers, limits } = config
  const networks = config.networks.filter(({ rpc }) => rpc.length > 0).length
  const onOwn = () => onAlerts(name)
  return keepIndexing({
    data,
    network: name,
    job,
    storeBatch,
    indexers,
    networks,
    limits,
    log,
    ...shippingOf(config, name),
    onAlerts: onOwn,
  })
}

/** Runs a job that has an end, showing how far it is. */
const runToEnd = async (
  config: Config,
  network: string,
  job: Job,
  storeBatch: number,
  doing: string,
  { log, shutdown, progress }: Run & { progress?: Progress },
): Promise<Summary> => {
  const lock = takeDataFolder(config.data, doing, log)
  const isNew = !storedNetworks(config.data).includes(network)
  const onReport = ({ blocks, logs, events, done, total, shipping }: Report) =>
    progress?.update({ blocks, logs, events, done, total, toShip: shipping?.blocksLeft })
  const { data, indexers, limits } = config
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
    const held = heldOf(config, network)
    if (isNew && held.length === 0 && !('scoping' in job && job.scoping)) removeStore(data, network)
    const missing = asked ? gapsIn(held, asked.from, asked.to) : []
    const unread =
      job.type === 'import' ? unreadOf(job.files, reading, failure !== undefined || shutdown.signal.aborted) : []
    // An error before any work is reported alone.
    if (failure && blocks === 0 && missing.length === 0 && reading === null) throw failure
    return { blocks, logs, events, added, held, missing, unread, failure }
  } finally {
    shutdown.signal.removeEventListener('abort', end)
    lock.release()
  }
}

/** Packs that are to be read to their end yet. */
const unreadOf = (files: readonly string[], reading: string | null, isBroken: boolean): Unread[] => {
  if (!isBroken) return []
  const at = reading === null ? 0 : files.indexOf(reading)
  return files.slice(at).map(file => ({ file, begun: file === reading }))
}

const heldOf = (config: Config, network: string): Range[] => {
  const db = openForReading(storeFile(config.data, network), nativeBinding(config.data))
  try {
    return createBlocks(db).ranges()
  } finally {
    db.close()
  }
}

const toWhere = ({ network, address, codeHash }: AbiPlace): Where => ({
  network: network ?? null,
  address: address ?? null,
  codeHash: codeHash ?? null,
})

const toAbiFile = ({ name, address, codeHash, network, probability, events, functions }: StoredAbi): AbiFile => ({
  name,
  address,
  codeHash,
  network,
  probability,
  events: events.length,
  functions: functions.length,
})
