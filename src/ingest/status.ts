import { promises, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AlertCounts } from '../alerts/alert-store.ts'
import type { EndpointStatus } from '../chain/source.ts'
import type { ClusterHealth } from '../cluster/health.ts'
import { ChainsieveError, messageOf } from '../lib/errors.ts'
import { every } from '../lib/every.ts'
import type { Log } from '../lib/log.ts'
import { PRIVATE_FILE } from '../lib/private.ts'
import type { Range } from '../lib/ranges.ts'
import type { RestartStatus } from '../lib/restarts.ts'
import { version } from '../lib/runtime.ts'
import { shortly } from '../lib/shortly.ts'
import type { ScopeCoverage } from '../search/coverage.ts'
import type { FinalityReport } from './finality.ts'
import type { MovingReport, RedecodingReport, Report, ScopeFilling, ShippingReport, Waiting } from './messages.ts'
import type { Indexing } from './network.ts'
import { createReadinessLog, type Reason, reasonsOf } from './readiness.ts'

/** What `GET /status` and `chainsieve status` tell. */
export interface Status {
  version: string
  networks: NetworkStatus[]
  /** Set where a server keeps the data folder, but does not tell its status: it has just started, or is too busy. */
  silent?: true
  /** Absent where no server runs, and so are the next two. */
  deliveries?: DeliveryState
  /** The threads that answer what takes longer. */
  readers?: ReaderState
  /** Why the server is not ready; none where it is. */
  reasons?: Reason[]
}

/** Threads that answer queries: how many there may be, how many are at work, and what waits for one. */
export interface ReaderState {
  most: number
  started: number
  busy: number
  waiting: number
  /** How many were given up. */
  lost: number
  /** Why none can be started now. */
  error: string | null
}

/** How what sends alerts is. */
export interface DeliveryState {
  state: 'delivering' | 'restarting' | 'stuck'
  /** Why it does not deliver now. */
  error: string | null
  restarts?: RestartStatus
  /** Receivers that take nothing now, those that have failed longest first. */
  failing: FailingState[]
}

export interface FailingState {
  account: number
  rule: number
  channel: string
  /** Without its secrets. */
  target: string
  error: string
  status: number | null
  /** ISO-8601 UTC. */
  since: string
  at: string
}

export interface NetworkStatus {
  network: string
  /**
   * `following` the head, `filling` older blocks, both being `filling`; `waiting` for something, such as an answer of a node; `serving` what
   * is stored where there is no source; `stored` where no server runs; `restarting` after `error`, `stopped` by it.
   */
  state: 'following' | 'filling' | 'waiting' | 'serving' | 'stored' | 'restarting' | 'stopped'
  /** The reason for waiting, and since when. */
  waiting?: Waiting
  /** That its threads ended by a fault, and were started again. */
  restarts?: RestartStatus
  /** Blocks that are held whole, ascending and inclusive; between two ranges is a hole. */
  ranges: Range[]
  /** What was looked for in other blocks; absent where the network has no scopes. */
  coverage?: ScopeCoverage[]
  /** What is looked for below the head for scopes; absent where nothing is. */
  filling?: ScopeFilling
  /** Newest block of the source; null where it is not known. */
  head: number | null
  /** Blocks between the newest stored block and the head. */
  lag: number | null
  /** The newest block of the chain that was taken, with its own time; null where there is none. Times are ISO-8601 UTC. */
  lastBlock: LastBlock | null
  /** Seconds since the chain's newest known block. */
  headAge: number | null
  /** Seconds that the chain takes for a block; null where it is not followed, or not known. */
  blockTime: number | null
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  /** Until a back-fill is done. */
  secondsLeft: number | null
  error: string | null
  /** Why its store cannot be searched; absent where it can. */
  store?: 'damaged' | 'unreadable'
  endpoints: EndpointStatus[]
  /** Alerts that came into each state since the server started, by target type. */
  alerts: AlertCounts
  /** What nodes tell of finality; absent where that is not known, or nothing is followed. */
  finality?: FinalityReport
  /** How the cluster is that its documents lie in; absent where they lie in its store, and until it was looked at. */
  cluster?: ClusterStatus
  /** What of the stored blocks is not in the cluster yet, and why; absent where no cluster is. */
  shipping?: Omit<ShippingReport, 'moving'>
  /** Set while documents move to the cluster, and the store answers searches, or back, and the cluster does. */
  moving?: MovingReport
  /** Set while stored data is decoded again: by which ABI, and how much is left. */
  redecoding?: RedecodingReport
}

export interface ClusterStatus extends ClusterHealth {
  /** What the names of its indices have in common. */
  indices: string
}

export interface LastBlock {
  number: number
  time: string
  /** When it came; null of a block that was stored before. */
  receivedAt: string | null
}

/** The content of a store: ranges of blocks, and its newest block with its time in seconds. */
export interface Held {
  ranges: Range[]
  newest: { number: number; time: number } | null
  coverage?: ScopeCoverage[]
  /** The newest block that was looked at for scopes. */
  looked?: number
}

export interface StatusOptions {
  networks(): string[]
  indexings: readonly Indexing[]
  /** What attends to the rules of a network without a source. */
  watching?(network: string): Indexing | undefined
  held(network: string): Promise<Held>
  cluster?(network: string): ClusterStatus | undefined
}

export interface LiveStatusOptions extends StatusOptions {
  deliveries?(): DeliveryState
  readers?(): ReaderState
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
    return { ...status, reasons: reasonsOf(status) }
  }
  // Some of those who ask need no token.
  return shortly(look, SAME_MS)
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
    return Promise.race([fresh.catch(() => known), sleep(PATIENCE_MS, known, { ref: false })])
  }
}

/** The status of what is stored, without a server. */
export const offlineStatus = async (options: StatusOptions): Promise<Status> => {
  const networks = await Promise.all(options.networks().map(network => statusOf(network, options, new Map())))
  return { version, networks: networks.map(one => ({ ...one, state: 'stored' })) }
}

const FILE = 'status.json'
const PUBLISH_MS = 1000
/** A file that is older was left behind by a server that is gone. */
const FRESH_MS = 5000

/**
 * Writes a running server's status beside its data again and again, for `chainsieve status`, and logs what has it not be ready; the returned
 * function ends that.
 */
export const publishStatus = (data: string, status: () => Promise<Status>, log: Log) => {
  const path = join(data, FILE)
  const tellReasons = createReadinessLog(log)
  const publish = async () => {
    const now = await status()
    tellReasons(now.reasons ?? [])
    await promises.writeFile(`${path}.new`, JSON.stringify(now), { mode: PRIVATE_FILE })
    await promises.rename(`${path}.new`, path)
  }
  const end = every(PUBLISH_MS, publish, { log, doing: 'write the status for "chainsieve status"', atOnce: true })
  return async () => {
    end()
    await promises.rm(path, { force: true })
  }
}

/** The last status that a running server published; undefined if none runs on this data folder. */
export const readStatus = (data: string): Status | undefined => {
  try {
    const path = join(data, FILE)
    if (Date.now() - statSync(path).mtimeMs > FRESH_MS) return undefined
    return JSON.parse(readFileSync(path, 'utf8')) as Status
  } catch {
    return undefined
  }
}

const statusOf = async (
  network: string,
  { indexings, watching, held: ask }: StatusOptions,
  samples: ReadonlyMap<Indexing, { at: number; report: Report }[]>,
): Promise<NetworkStatus> => {
  const indexing = indexings.find(it => it.network === network)
  let fault: string | null = null
  let store: Pick<NetworkStatus, 'store'> = {}
  const {
    ranges: held,
    newest: stored,
    coverage: covered,
    looked,
  } = await ask(network).catch((error: unknown): Held => {
    fault = messageOf(error)
    store = { store: error instanceof ChainsieveError && error.code === 'store_damaged' ? 'damaged' : 'unreadable' }
    return { ranges: [], newest: null }
  })
  const coverage = covered ? { coverage: covered } : {}
  if (!indexing) {
    const attending = watching?.(network)
    const restarts = attending?.restarts()
    return {
      network,
      state: restarts?.nextAt ? 'restarting' : 'serving',
      ...(restarts && { restarts }),
      ranges: held,
      ...coverage,
      head: null,
      lag: null,
      ...lastBlock(stored, null),
      blockTime: null,
      blocksPerSecond: null,
      eventsPerSecond: null,
      secondsLeft: null,
      error: attending?.error()?.message ?? (restarts?.nextAt ? restarts.error : fault),
      ...store,
      endpoints: [],
      alerts: attending?.report().alerts ?? {},
      ...shippingOf(attending),
      ...redecodingOf(attending),
    }
  }
  const report = indexing.report()
  const error = indexing.error()
  const [first] = samples.get(indexing) ?? []
  const seconds = first ? (performance.now() - first.at) / 1000 : 0
  const speed = (key: 'blocks' | 'events' | 'done'): number | null =>
    first && seconds > 0 ? Math.max(0, report[key] - first.report[key]) / seconds : null
  const filling = report.done < report.total
  const filled = speed('done')
  const whole = held.at(-1)?.to
  const top = looked === undefined ? whole : Math.max(looked, whole ?? 0)
  const restarts = indexing.restarts()
  const waiting = report.waiting ?? (error || restarts?.nextAt ? undefined : silent(indexing))
  const [state, why] = ((): [NetworkStatus['state'], string | null] => {
    if (error) return ['stopped', error.message]
    if (restarts?.nextAt) return ['restarting', restarts.error]
    if (waiting) return ['waiting', waiting.for]
    return [filling ? 'filling' : 'following', fault]
  })()
  return {
    network,
    state,
    ...(waiting && { waiting }),
    ...(restarts && { restarts }),
    ranges: held,
    ...coverage,
    ...(report.filling && { filling: report.filling }),
    head: report.head,
    lag: report.head === null || top === undefined ? null : Math.max(0, report.head - top),
    ...lastBlock(stored, report.newest),
    blockTime: report.blockTime,
    blocksPerSecond: speed('blocks'),
    eventsPerSecond: speed('events'),
    secondsLeft: filling && filled ? (report.total - report.done) / filled : null,
    error: why,
    ...store,
    endpoints: report.endpoints,
    alerts: report.alerts,
    ...(report.finality && { finality: report.finality }),
    ...shippingOf(indexing),
    ...redecodingOf(indexing),
  }
}

/** Longest time that threads which report four times a second are waited for before that is told. */
const SILENT_MS = 30_000

const silent = (indexing: Indexing): Waiting | undefined => {
  const ms = performance.now() - indexing.reportedAt()
  if (ms < SILENT_MS) return undefined
  const since = new Date(Date.now() - ms).toISOString()
  return { kind: 'thread', for: 'its threads, which have not reported', since }
}

const lastBlock = (stored: Held['newest'], taken: Report['newest']): Pick<NetworkStatus, 'lastBlock' | 'headAge'> => {
  const last = taken && taken.number >= (stored?.number ?? 0) ? taken : stored
  if (!last) return { lastBlock: null, headAge: null }
  return {
    lastBlock: {
      number: last.number,
      time: new Date(last.time * 1_000).toISOString(),
      receivedAt: 'at' in last ? new Date(last.at as number).toISOString() : null,
    },
    headAge: Math.max(0, Math.round(Date.now() / 1_000 - last.time)),
  }
}

const shippingOf = (indexing: Indexing | undefined): Pick<NetworkStatus, 'shipping' | 'moving'> => {
  const report = indexing?.report().shipping
  if (!report) return {}
  const { moving, ...shipping } = report
  return { shipping, ...(moving && { moving }) }
}

const redecodingOf = (indexing: Indexing | undefined): Pick<NetworkStatus, 'redecoding'> => {
  const redecoding = indexing?.report().redecoding
  return redecoding ? { redecoding } : {}
}
