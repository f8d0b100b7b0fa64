import { thisUser } from '../accounts/audit.ts'
import { withReserve } from '../accounts/file.ts'
import type { Accounts } from '../accounts/index.ts'
import { openOutbox } from '../alerts/outbox.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import { takenOver } from '../delivery/ledger/file.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { type Indexing, keepIndexing } from '../ingest/network.ts'
import { askToPrune, isPruneAsked, openRedecodings, type PruneRequest, redecodeFolder } from '../ingest/requests.ts'
import { systemFault } from '../lib/errors.ts'
import { ageClock } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { nativeBinding, version } from '../lib/runtime.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'
import { covers } from '../rules/rule.ts'
import type { Rules } from '../rules/store.ts'
import { isDamage } from '../sqlite/damage.ts'
import { shippingOf } from './clusters.ts'

const RETENTION_INTERVAL_MS = 60_000
/** Interval between steps that prune the audit trail. */
const TRAIL_STEP_MS = 50
/** Interval of scans over all alerts. */
const ALERTS_MS = 3_600_000

/** Removes data beyond the retention settings until the returned function is called. */
export const startRetention = (config: Config, log: Log): (() => void) => {
  let alertsAt = 0
  const look = () => {
    const withAlerts = config.keepAlerts !== undefined && performance.now() >= alertsAt
    if (withAlerts) alertsAt = performance.now() + ALERTS_MS
    for (const network of storedNetworks(config.data)) {
      const settings = config.networks.find(one => one.network === network)
      const store = storeFile(config.data, network)
      try {
        const request = requestOf(config, network, settings, withAlerts)
        if (request && !isPruneAsked(store, 'settings')) askToPrune(store, 'settings', request)
      } catch (error) {
        // The status reports it.
        if (!isDamage(error)) throw error
      }
    }
  }
  return repeatEvery(RETENTION_INTERVAL_MS, look, { log, doing: 'remove what is no longer kept', atOnce: true })
}

/** Undefined if everything is kept. */
export const requestOf = (
  { data, keepAlerts }: Pick<Config, 'data' | 'keepAlerts'>,
  network: string,
  { keepBlocks, keepFor }: Partial<Pick<NetworkConfig, 'keepBlocks' | 'keepFor'>> = {},
  withAlerts = true,
): PruneRequest | undefined => {
  const alerts = withAlerts && keepAlerts !== undefined
  if (keepBlocks === undefined && keepFor === undefined && !alerts) return undefined
  return {
    keepBlocks,
    keepSeconds: keepFor === undefined ? undefined : keepFor / 1_000,
    alerts: alerts ? { before: ageClock(data) - keepAlerts, taken: takenOf(data, network) } : undefined,
  }
}

const takenOf = (data: string, network: string): number => {
  const outbox = openOutbox(storeFile(data, network), nativeBinding())
  try {
    return takenOver(data, outbox.identity, nativeBinding())
  } finally {
    outbox.close()
  }
}

/** Notes the server start in the audit trail, and prunes old entries until it is stopped. */
export const keepTrail = (
  { trail, note }: Pick<Accounts, 'trail' | 'note'>,
  { data, keepAudit, limits }: Config,
  log: Log,
): (() => void) => {
  try {
    withReserve(data, () => note(thisUser(), { action: 'serve', detail: { version } }))
  } catch (error) {
    log.warn('Failed to note the start in the audit trail', { error: systemFault(error) ?? error })
  }
  let timer: NodeJS.Timeout
  const removed = { old: 0, surplus: 0 }
  const look = () => {
    let wait = RETENTION_INTERVAL_MS
    try {
      const now = ageClock(data)
      const { old, surplus, more } = trail.prune({ keepMs: keepAudit, now, most: limits.auditEntries })
      removed.old += old
      removed.surplus += surplus
      if (more) wait = TRAIL_STEP_MS
      else if (removed.old + removed.surplus > 0) {
        const before = new Date(now - keepAudit).toISOString()
        log.info('Removed entries of the audit trail', { old: removed.old, before, aboveAuditEntries: removed.surplus })
        Object.assign(removed, { old: 0, surplus: 0 })
      }
    } catch (error) {
      log.warn('Failed to remove old entries of the audit trail', { error })
    }
    timer = setTimeout(look, wait).unref()
  }
  timer = setTimeout(look, TRAIL_STEP_MS).unref()
  return () => clearTimeout(timer)
}

interface WatchOptions {
  config: Config
  rules: Pick<Rules, 'version' | 'networks'>
  /** Networks being indexed, whose rules the indexing evaluates. */
  indexed: ReadonlySet<string>
  log: Log
  onAlerts(network: string): void
}

interface Watching {
  of(network: string): Indexing | undefined
  stop(): Promise<void>
}

/** Interval of checks for work of networks without a source. */
const WATCH_INTERVAL_MS = 500

/** Starts threads for networks without a source once they have rules or blocks to decode again. */
export const watchStored = ({ config, rules, indexed, log, onAlerts }: WatchOptions): Watching => {
  const watched = new Map<string, Indexing>()
  let version = -1
  let ruled: string[] = []
  const look = () => {
    const redecoded = openRedecodings(redecodeFolder(config.data)).map(({ network }) => network)
    const stores = storedNetworks(config.data)
    const pruned = stores.filter(network => isPruneAsked(storeFile(config.data, network)))
    if (rules.version() === version && redecoded.length === 0 && pruned.length === 0) return
    if (rules.version() !== version) ruled = rules.networks()
    version = rules.version()
    const stored = new Set(stores)
    // Ships documents that the cluster lacks.
    const shipped = config.networks.flatMap(({ network, cluster }) => (cluster ? [network] : []))
    const ofRules = stores.filter(it => ruled.some(rule => covers(rule, it)))
    for (const network of [...ofRules, ...redecoded, ...pruned, ...shipped]) {
      if (!indexed.has(network) && !watched.has(network) && stored.has(network)) watch(network)
    }
  }
  const watch = (network: string) => {
    const watching = keepIndexing({
      data: config.data,
      network,
      job: { type: 'watch' },
      storeBatch: 1,
      limits: config.limits,
      ...shippingOf(config, network),
      log,
      onAlerts: () => onAlerts(network),
      // One damaged store must not keep the others from being watched.
      patient: true,
    })
    watching.ended.catch(error => log.error('Stopped watching a store', { network, error }))
    watched.set(network, watching)
  }
  look()
  const stopLooking = repeatEvery(WATCH_INTERVAL_MS, look, { log, doing: 'read what rules ask of stored networks' })
  return {
    of: network => watched.get(network),
    async stop() {
      stopLooking()
      await Promise.all([...watched.values()].map(({ stop }) => stop()))
    },
  }
}
