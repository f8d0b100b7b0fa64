import type { Config } from '../config/index.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { type Indexing, keepIndexing } from '../ingest/network.ts'
import { isPruneAsked, openRedecodings, redecodeFolder } from '../ingest/requests.ts'
import type { Log } from '../lib/log.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'
import { covers } from '../rules/rule.ts'
import type { Rules } from '../rules/store.ts'
import { shippingOf } from './clusters.ts'

interface WatchOptions {
  config: Config
  rules: Pick<Rules, 'version' | 'networks'>
  /** Networks that are indexed have their rules attended to by that. */
  indexed: ReadonlySet<string>
  log: Log
  onAlerts(network: string): void
}

interface Watching {
  of(network: string): Indexing | undefined
  stop(): Promise<void>
}

/** Time between two looks at whether a network without a source has got something to do. */
const WATCH_INTERVAL_MS = 500

/**
 * A network without a source may still have rules to evaluate or blocks to decode again: it gets its own threads as
 * soon as one of both is so.
 */
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
    // Ships what a cluster does not have yet.
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
