import type { AlertCounts } from '../../alerts/alert-store.ts'
import type { EndpointStatus } from '../../chain/source.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Range } from '../../lib/ranges.ts'
import type { RestartStatus } from '../../lib/restarts.ts'
import type { ScopeCoverage } from '../../search/coverage.ts'
import type { ThreadsState } from '../../search/thread-pool.ts'
import { isDamage } from '../../sqlite/damage.ts'
import type { FinalityReport } from '../finality.ts'
import type { MissingBlocks } from '../jobs/missing.ts'
import { type FillingReport, NO_REPORT, type RedecodingReport, type Report, type WaitReason } from '../messages.ts'
import type { Indexing } from '../network.ts'
import type { MovingReport, RemoteHealth, ShippingReport } from '../remote.ts'
import type { LogLoss } from './live.ts'
import type { Reason } from './readiness.ts'

export interface ServerStatus {
  version: string
  networks: NetworkState[]
  /** Set if a running server publishes no status: it has just started or is too busy. */
  silent?: true
  /** Absent, like the next two, if no server runs. */
  deliveries?: DeliveryHealth
  readers?: ThreadsState
  reasons?: Reason[]
  warnings?: Reason[]
}

export interface DeliveryHealth {
  state: 'delivering' | 'restarting' | 'stuck'
  error: string | null
  restarts?: RestartStatus
  failing: FailingState[]
}

export interface FailingState {
  account: number
  rule: number
  channel: string
  /** Distinguishes receivers of a channel with the same `target`. */
  receiver: string
  /** Without its secrets. */
  target: string
  error: string
  status: number | null
  /** ISO-8601 UTC. */
  since: string
  at: string
}

export interface NetworkState {
  network: string
  /** `filling`: below the head; `following`: at it; `serving`: no source; `stored`: no server. */
  state: 'following' | 'filling' | 'waiting' | 'serving' | 'stored' | 'restarting' | 'stopped'
  waiting?: WaitReason
  restarts?: RestartStatus
  /** Whole blocks, ascending and inclusive; blocks between two ranges are missing. */
  ranges: Range[]
  coverage?: ScopeCoverage[]
  filling?: FillingReport
  missing?: MissingBlocks
  /** Highest head that a node reported last; null without any. */
  head: number | null
  lag: number | null
  /** Newest block taken from the chain, or null. Times are ISO 8601 UTC. */
  lastBlock: LastBlock | null
  headAge: number | null
  /** Seconds per block of the chain; null if not followed, or unknown. */
  blockTime: number | null
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  secondsLeft: number | null
  error: string | null
  /** Log entries lost in a crash before the start; their blocks are indexed again. */
  logLoss?: LogLoss
  store?: 'damaged' | 'unreadable'
  endpoints: EndpointStatus[]
  /** Alerts that entered each state since the server started, by target type. */
  alerts: AlertCounts
  finality?: FinalityReport
  /** State of the remote store; absent without one, and until it is known. */
  cluster?: ClusterStatus
  /** Backlog of blocks to ship, and its reason; absent if nothing is shipped. */
  shipping?: Omit<ShippingReport, 'moving'>
  /** Set while all documents move out of the store, which still answers searches, or back. */
  moving?: MovingReport
  redecoding?: RedecodingReport
}

export interface ClusterStatus extends RemoteHealth {
  indices: string
}

export interface LastBlock {
  number: number
  time: string
  /** Time of arrival; null for a block stored earlier. */
  receivedAt: string | null
}

export interface StoreContent {
  ranges: Range[]
  newest: { number: number; time: number } | null
  coverage?: ScopeCoverage[]
  looked?: number
}

export interface StatusOptions {
  networks(): string[]
  indexings: readonly Indexing[]
  watching?(network: string): Indexing | undefined
  held(network: string): Promise<StoreContent>
  losses?: ReadonlyMap<string, LogLoss>
  cluster?(network: string): ClusterStatus | undefined
}

type Samples = ReadonlyMap<Indexing, { at: number; report: Report }[]>
export const networkStateOf = async (
  network: string,
  { indexings, watching, held: ask, losses }: StatusOptions,
  samples: Samples,
): Promise<NetworkState> => {
  const indexing = indexings.find(it => it.network === network)
  const attending = indexing ?? watching?.(network)
  let fault: string | null = null
  const logLoss = losses?.get(network)
  let store: Pick<NetworkState, 'store'> = {}
  const { ranges, newest, coverage, looked } = await ask(network).catch((error: unknown): StoreContent => {
    fault = messageOf(error)
    store = { store: isDamage(error) ? 'damaged' : 'unreadable' }
    return { ranges: [], newest: null }
  })
  const report = indexing?.report() ?? NO_REPORT
  const error = attending?.error() ?? null
  const restarts = attending?.restarts()
  const [first] = (indexing && samples.get(indexing)) ?? []
  const seconds = first ? (performance.now() - first.at) / 1000 : 0
  const speed = (key: 'blocks' | 'events' | 'done'): number | null =>
    first && seconds > 0 ? Math.max(0, report[key] - first.report[key]) / seconds : null
  const filling = report.done < report.total
  const filled = speed('done')
  const whole = ranges.at(-1)?.to
  const top = looked === undefined ? whole : Math.max(looked, whole ?? 0)
  const head = knownHead(report.head, whole)
  const waiting =
    indexing && (waitsForDisk(restarts) ?? report.waiting ?? (error || restarts?.nextAt ? undefined : silent(indexing)))
  const [state, why] = ((): [NetworkState['state'], string | null] => {
    if (indexing && error) return ['stopped', error.message]
    if (restarts?.nextAt && !(indexing && waitsForDisk(restarts)))
      return ['restarting', error?.message ?? restarts.error]
    if (!indexing) return ['serving', error?.message ?? fault]
    if (waiting) return ['waiting', waiting.for]
    return [filling ? 'filling' : 'following', fault]
  })()
  return {
    network,
    state,
    ...(waiting && { waiting }),
    ...(restarts && { restarts }),
    ranges,
    ...(coverage && { coverage }),
    ...(report.filling && { filling: report.filling }),
    ...(report.missing && { missing: report.missing }),
    head,
    lag: head === null || top === undefined ? null : Math.max(0, head - top),
    ...lastBlockOf(newest, report.newest),
    blockTime: report.blockTime,
    blocksPerSecond: speed('blocks'),
    eventsPerSecond: speed('events'),
    secondsLeft: filling && filled ? (report.total - report.done) / filled : null,
    error: why,
    ...(logLoss && { logLoss }),
    ...store,
    endpoints: report.endpoints,
    alerts: attending?.report().alerts ?? {},
    ...(report.finality && { finality: report.finality }),
    ...workOf(attending),
  }
}

const waitsForDisk = (restarts: RestartStatus | undefined): WaitReason | undefined =>
  restarts?.diskFull && restarts.nextAt
    ? { kind: 'disk', for: restarts.error, since: restarts.endedAt, until: restarts.nextAt }
    : undefined
const BETWEEN_REPORTS = 16
/** Reported head, or a newer stored block, which the nodes have too. */
const knownHead = (reported: number | null, stored: number | undefined): number | null =>
  reported !== null && stored !== undefined && stored > reported && stored - reported <= BETWEEN_REPORTS
    ? stored
    : reported
const SILENT_THREADS_MS = 30_000
const silent = (indexing: Indexing): WaitReason | undefined => {
  const ms = performance.now() - indexing.reportedAt()
  if (ms < SILENT_THREADS_MS) return undefined
  const since = new Date(Date.now() - ms).toISOString()
  return { kind: 'thread', for: 'its threads, which have not reported', since }
}

const lastBlockOf = (
  stored: StoreContent['newest'],
  taken: Report['newest'],
): Pick<NetworkState, 'lastBlock' | 'headAge'> => {
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

/** Work in parallel to the job. */
const workOf = (indexing: Indexing | undefined): Pick<NetworkState, 'shipping' | 'moving' | 'redecoding'> => {
  const { shipping: report, redecoding } = indexing?.report() ?? NO_REPORT
  const { moving, ...shipping } = report ?? {}
  return {
    ...(report && { shipping: shipping as Omit<ShippingReport, 'moving'> }),
    ...(moving && { moving }),
    ...(redecoding && { redecoding }),
  }
}
