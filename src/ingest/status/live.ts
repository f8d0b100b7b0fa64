import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import { version } from '../../lib/runtime.ts'
import { coalesceFor } from '../../lib/scheduling/coalesce.ts'
import { every } from '../../lib/scheduling/interval.ts'
import type { ThreadsState } from '../../search/threads.ts'
import { isDamage } from '../../sqlite/damage.ts'
import type { Report } from '../messages.ts'
import type { Indexing } from '../network.ts'
import { type Held, type StatusOptions, statusOf } from './network.ts'
import { type Reason, reasonsOf } from './readiness.ts'
import type { DeliveryState, NetworkStatus, Status } from './status.ts'

export interface LiveStatusOptions extends StatusOptions {
  deliveries?(): DeliveryState
  readers?(): ThreadsState
  warnings?(): Reason[]
  log: Log
}

/** Time over which speeds are measured. */
const WINDOW_MS = 10_000

/** The status of a running server; speeds are those of the last seconds. */
export const createStatus = (options: LiveStatusOptions) => {
  const samples = new Map<Indexing, { at: number; report: Report }[]>()
  const sample = () => {
    for (const indexing of options.indexings) {
      const list = samples.get(indexing) ?? []
      list.push({ at: performance.now(), report: indexing.report() })
      while (list.length > 2 && list[1]!.at < performance.now() - WINDOW_MS) list.shift()
      samples.set(indexing, list)
    }
  }
  every(1000, sample, { log: options.log, doing: 'measure the speed of indexing' })
  const live = { ...options, held: promptly(options.held) }
  const withCluster = (status: NetworkStatus): NetworkStatus => {
    const cluster = options.cluster?.(status.network)
    return cluster ? { ...status, cluster } : status
  }
  const look = async (): Promise<Status> => {
    sample()
    const status: Status = {
      version,
      networks: (await Promise.all(options.networks().map(network => statusOf(network, live, samples)))).map(
        withCluster,
      ),
      ...(options.deliveries && { deliveries: options.deliveries() }),
      ...(options.readers && { readers: options.readers() }),
    }
    return { ...status, reasons: reasonsOf(status), warnings: options.warnings?.() ?? [] }
  }
  // Some of those who ask need no token.
  return coalesceFor(look, SAME_MS)
}

/** So long the same is told. */
const SAME_MS = 100

/** Longest time that a status waits for what is newer than what it told last. */
const PATIENCE_MS = 200

/** Where readers are busy, the blocks of the last time are told: they need not be asked more than once at a time either. */
const promptly = (ask: StatusOptions['held']): StatusOptions['held'] => {
  const told = new Map<string, Held>()
  const asked = new Map<string, Promise<Held>>()
  const askOnce = (network: string) => {
    const now = asked.get(network) ?? ask(network).finally(() => asked.delete(network))
    asked.set(network, now)
    return now.then(held => {
      told.set(network, held)
      return held
    })
  }
  return network => {
    const fresh = askOnce(network)
    const known = told.get(network)
    if (!known) return fresh
    const lasting = fresh.catch((error: unknown) => {
      // What was searched before is not any more.
      if (isDamage(error)) throw error
      return known
    })
    return Promise.race([lasting, sleep(PATIENCE_MS, known, { ref: false })])
  }
}

/** The status of what is stored, without a server. */
export const offlineStatus = async (options: StatusOptions): Promise<Status> => {
  const networks = await Promise.all(options.networks().map(network => statusOf(network, options, new Map())))
  return { version, networks: networks.map(one => ({ ...one, state: 'stored' })) }
}
