import { openOutbox } from '../alerts/outbox.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import { takenOver } from '../delivery/ledger/file.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { askToPrune, isPruneAsked, type PruneRequest } from '../ingest/requests/prune-requests.ts'
import { ageClock } from '../lib/last-clock.ts'
import type { Log } from '../lib/log.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { every } from '../lib/scheduling/interval.ts'
import { isDamage } from '../sqlite/damage.ts'

const LOOK_MS = 60_000
/** All alerts are gone through each time. */
const ALERTS_MS = 3_600_000

/** Has what the settings do not keep removed, for as long as the server runs. Returns what ends it. */
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
        // The status says so.
        if (!isDamage(error)) throw error
      }
    }
  }
  return every(LOOK_MS, look, { log, doing: 'remove what is no longer kept', atOnce: true })
}

/** Undefined where everything is kept. */
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
