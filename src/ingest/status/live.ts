import { promises, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemFault } from '../../lib/errors.ts'
import { PRIVATE_FILE } from '../../lib/files.ts'
import type { Log } from '../../lib/log.ts'
import { countIntegers, gapsIn, type Range } from '../../lib/ranges.ts'
import { version } from '../../lib/runtime.ts'
import { coalesceFor } from '../../lib/scheduling/coalesce.ts'
import { repeatEvery } from '../../lib/scheduling/interval.ts'
import type { ThreadsState } from '../../search/thread-pool.ts'
import { isDamage } from '../../sqlite/damage.ts'
import { sizeOnDisk } from '../../sqlite/verify-pages.ts'
import { countDropped } from '../../sqlite/wal.ts'
import type { Report } from '../messages.ts'
import type { Indexing } from '../network.ts'
import { createReadinessLog, type Reason, reasonsOf } from './readiness.ts'
import {
  type DeliveryHealth,
  type NetworkState,
  networkStateOf,
  type ServerStatus,
  type StatusOptions,
  type StoreContent,
} from './status.ts'

interface LiveStatusOptions extends StatusOptions {
  deliveries?(): DeliveryHealth
  readers?(): ThreadsState
  warnings?(): Reason[]
  log: Log
}

const SPEED_WINDOW_MS = 10_000

/** The status of a running server, cached for `STATUS_CACHE_MS`; nothing else invalidates it. */
export const createStatus = (options: LiveStatusOptions) => {
  const samples = new Map<Indexing, { at: number; report: Report }[]>()
  const sample = () => {
    for (const indexing of options.indexings) {
      const list = samples.get(indexing) ?? []
      list.push({ at: performance.now(), report: indexing.report() })
      while (list.length > 2 && list[1]!.at < performance.now() - SPEED_WINDOW_MS) list.shift()
      samples.set(indexing, list)
    }
  }
  repeatEvery(1000, sample, { log: options.log, doing: 'measure the speed of indexing' })
  const live = { ...options, held: promptly(options.held) }
  const withCluster = (status: NetworkState): NetworkState => {
    const cluster = options.cluster?.(status.network)
    return cluster ? { ...status, cluster } : status
  }
  const look = async (): Promise<ServerStatus> => {
    sample()
    const status: ServerStatus = {
      version,
      networks: (await Promise.all(options.networks().map(network => networkStateOf(network, live, samples)))).map(
        withCluster,
      ),
      ...(options.deliveries && { deliveries: options.deliveries() }),
      ...(options.readers && { readers: options.readers() }),
    }
    return { ...status, reasons: reasonsOf(status), warnings: options.warnings?.() ?? [] }
  }
  // Cached, since some callers need no token.
  return coalesceFor(look, STATUS_CACHE_MS)
}

const STATUS_CACHE_MS = 100

const CONTENT_PATIENCE_MS = 200

/** Reports the last content while readers are busy, and asks once at a time. */
const promptly = (ask: StatusOptions['held']): StatusOptions['held'] => {
  const told = new Map<string, StoreContent>()
  const asked = new Map<string, Promise<StoreContent>>()
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
      if (isDamage(error)) throw error
      return known
    })
    return Promise.race([lasting, sleep(CONTENT_PATIENCE_MS, known, { ref: false })])
  }
}

export const offlineStatus = async (options: StatusOptions): Promise<ServerStatus> => {
  const networks = await Promise.all(options.networks().map(network => networkStateOf(network, options, new Map())))
  return { version, networks: networks.map(one => ({ ...one, state: 'stored' })) }
}

const STATUS_FILE = 'status.json'
const PUBLISH_MS = 1000
/** An older file is of a server that has ended. */
const FRESH_STATUS_MS = 5000
/** Publishes a running server's status for `chainsieve status`; returns a function to stop. */
export const publishStatus = (data: string, status: () => Promise<ServerStatus>, log: Log) => {
  const path = join(data, STATUS_FILE)
  const tellReasons = createReadinessLog(log)
  const publish = async () => {
    const now = await status()
    tellReasons(now.reasons ?? [])
    const text = JSON.stringify(now)
    try {
      await promises.writeFile(`${path}.new`, text, { mode: PRIVATE_FILE })
      await promises.rename(`${path}.new`, path)
    } catch (error) {
      if (systemFault(error)?.code !== 'disk_full') throw error
      // Overwrites the previous status in place.
      await promises.writeFile(path, text, { flag: 'r+' })
      await promises.truncate(path, Buffer.byteLength(text))
    }
  }
  const end = repeatEvery(PUBLISH_MS, publish, { log, doing: 'write the status for "chainsieve status"', atOnce: true })
  return async () => {
    end()
    await promises.rm(path, { force: true })
  }
}

export const readStatus = (data: string): ServerStatus | undefined => {
  try {
    return Date.now() - statSync(join(data, STATUS_FILE)).mtimeMs > FRESH_STATUS_MS ? undefined : lastPublished(data)
  } catch {
    return undefined
  }
}

/** Status published by a running or killed server; undefined after a clean end. */
const lastPublished = (data: string): ServerStatus | undefined => {
  try {
    return JSON.parse(readFileSync(join(data, STATUS_FILE), 'utf8')) as ServerStatus
  } catch {
    return undefined
  }
}

/** Blocks stored before a crash and lost with the log; they are indexed again. */
export interface LogLoss {
  /** Transactions after the damage; 0 if the log is gone. */
  transactions: number
  /** Null if unknown. */
  blocks: number | null
}

/** Runs before the store is opened, which cuts its log; the result compares blocks afterwards. */
export const watchLog = (
  data: string,
  network: string,
  store: string,
): ((held: readonly Range[]) => LogLoss | undefined) => {
  const transactions = countDropped(store)
  // A new or cleanly closed store has no log.
  if (transactions === 0 && (sizeOnDisk(store) === 0 || sizeOnDisk(`${store}-wal`) > 0)) return () => undefined
  const before = lastPublished(data)?.networks.find(one => one.network === network)?.ranges
  return held => {
    const gaps = before?.flatMap(({ from, to }) => gapsIn(held, from, to))
    if (transactions > 0) return { transactions, blocks: gaps ? countIntegers(gaps) : null }
    // Older blocks may have been removed on purpose.
    const blocks = countIntegers((gaps ?? []).filter(({ from }) => from > (held.at(-1)?.to ?? -1)))
    return blocks > 0 ? { transactions, blocks } : undefined
  }
}
