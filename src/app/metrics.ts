import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterHealth } from '../cluster/indices/cluster-health.ts'
import type { DeliveryThread } from '../delivery/service.ts'
import { storeFile } from '../engine/files.ts'
import type { Indexing } from '../ingest/network.ts'
import type { NetworkState, ServerStatus } from '../ingest/status/status.ts'
import { lazy } from '../lib/caches.ts'
import type { Log } from '../lib/log.ts'
import { coalesceFor } from '../lib/scheduling/coalesce.ts'
import { hostsOf } from '../lib/secret.ts'
import { countOpenFiles, readOpenFileLimit } from '../lib/system-limits.ts'
import {
  createMetrics,
  exposition,
  type Labels,
  labelled,
  type MetricSnapshot,
  type Metrics,
  snapshotOf,
} from '../metrics/index.ts'
import type { MetricName } from '../metrics/table.ts'
import { CHANNEL_TYPES } from '../rules/channels.ts'
import type { Pool } from '../search/pool.ts'
import { NO_ACCOUNT } from '../search/service.ts'

interface MetricsOptions {
  data: string
  status(): Promise<ServerStatus>
  pool: Pick<Pool, 'holdings'>
  indexings: readonly Indexing[]
  watching?: ((network: string) => Indexing | undefined) | undefined
  /** Undefined if nothing is delivered. */
  delivery: Pick<DeliveryThread, 'metrics'> | undefined
  log: Log
}

interface ServerMetrics {
  metrics: Metrics
  /** All metrics of the server in Prometheus's text format. */
  text(): Promise<string>
}

const METRICS_CACHE_MS = 1_000
/** Minimum interval, in milliseconds, of document counts, since they occupy search threads. */
const COUNT_MS = 15_000
/** Maximum wait for metrics of another thread; then the last ones are used. */
const THREAD_METRICS_TIMEOUT_MS = 1_000

export const createServerMetrics = (options: MetricsOptions): ServerMetrics => {
  const { data, status, pool, delivery } = options
  const metrics = createMetrics()
  watchEventLoop(metrics)
  const deliveries = lastKnown(async () => (await delivery?.metrics()) ?? [], [])
  const countDocuments = createDocumentCounts(pool)

  const gather = async (): Promise<string> => {
    const now = await status()
    return exposition([
      ...metrics.snapshot(),
      ...processMetrics(now.version),
      ...serverGauges(now),
      ...now.networks.flatMap(network => networkMetrics(network, indexingOf(options, network.network), data)),
      ...(await countDocuments(now.networks)),
      ...(await deliveries()),
      ...fileMetrics(data),
      ...diskMetrics(data),
    ])
  }
  return { metrics, text: coalesceFor(gather, METRICS_CACHE_MS) }
}

const indexingOf = ({ indexings, watching }: MetricsOptions, network: string): Indexing | undefined =>
  indexings.find(it => it.network === network) ?? watching?.(network)

const serverGauges = ({ reasons = [], deliveries, readers }: ServerStatus): MetricSnapshot[] => [
  snapshotOf('chainsieve_ready', [reasons.length === 0 ? 1 : 0]),
  snapshotOf(
    'chainsieve_not_ready',
    ...reasons.map(({ type, network }): [number, Labels] => [1, { type, ...(network && { network }) }]),
  ),
  ...(deliveries
    ? [
        snapshotOf(
          'chainsieve_receivers_failing',
          ...CHANNEL_TYPES.map((channel): [number, Labels] => [
            deliveries.failing.filter(one => one.channel === channel).length,
            { channel },
          ]),
        ),
        restartsOf(deliveries.restarts?.count, { thread: 'deliveries' }),
      ]
    : []),
  ...(readers
    ? [
        snapshotOf('chainsieve_reader_threads_max', [readers.most]),
        snapshotOf(
          'chainsieve_reader_threads',
          [readers.busy, { state: 'busy' }],
          [readers.started - readers.busy, { state: 'idle' }],
        ),
        snapshotOf('chainsieve_reader_threads_lost_total', [readers.lost]),
        snapshotOf('chainsieve_queries_waiting', [readers.waiting]),
      ]
    : []),
]

const restartsOf = (count: number | undefined, labels: Labels): MetricSnapshot =>
  snapshotOf('chainsieve_thread_restarts_total', [count ?? 0, labels])

const networkMetrics = (status: NetworkState, indexing: Indexing | undefined, data: string): MetricSnapshot[] => {
  const { network, state, head, lag, lastBlock, headAge, blockTime, ranges, endpoints } = status
  const report = indexing?.report()
  const own: MetricSnapshot[] = [
    snapshotOf('chainsieve_network_state', [1, { state }]),
    snapshotOf('chainsieve_blocks', [ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)]),
    snapshotOf('chainsieve_block_ranges', [ranges.length]),
    ...gaugeIfKnown('chainsieve_head_block', head),
    ...gaugeIfKnown('chainsieve_stored_block', ranges.at(-1)?.to),
    ...gaugeIfKnown('chainsieve_head_lag_blocks', lag),
    ...gaugeIfKnown('chainsieve_head_age_seconds', headAge),
    ...gaugeIfKnown('chainsieve_block_time_seconds', blockTime),
    ...gaugeIfKnown(
      'chainsieve_head_received_timestamp_seconds',
      lastBlock?.receivedAt ? Date.parse(lastBlock.receivedAt) / 1_000 : null,
    ),
    ...(status.cluster ? clusterMetrics(status.cluster) : []),
    ...sizes(storeFile(data, network)),
  ]
  if (!report) return labelled(own, { network })
  const hosts = hostsOf(endpoints.map(({ url }) => url))
  return labelled(
    [
      ...own,
      snapshotOf('chainsieve_indexed_blocks_total', [report.blocks]),
      snapshotOf('chainsieve_indexed_logs_total', [report.logs]),
      snapshotOf('chainsieve_indexed_events_total', [report.events]),
      snapshotOf('chainsieve_backfill_remaining', [Math.max(0, report.total - report.done)]),
      snapshotOf(
        'chainsieve_alerts_total',
        ...Object.entries(report.alerts).flatMap(([target, counts]) =>
          Object.entries(counts).map(([state, count]): [number, Labels] => [count, { target, state }]),
        ),
      ),
      snapshotOf('chainsieve_rules_in_trouble', [report.troubles.size + report.accountTroubles.size]),
      snapshotOf(
        'chainsieve_rpc_endpoint_up',
        ...endpoints.map((one, i): [number, Labels] => [
          one.failingSince === undefined ? 1 : 0,
          { endpoint: hosts[i]! },
        ]),
      ),
      snapshotOf(
        'chainsieve_rpc_failures_total',
        ...endpoints.map((one, i): [number, Labels] => [one.errors, { endpoint: hosts[i]! }]),
      ),
      ...budgetMetrics(endpoints, hosts),
      restartsOf(status.restarts?.count, { thread: 'indexing' }),
      ...report.metrics,
    ],
    { network },
  )
}

const budgetMetrics = (endpoints: NetworkState['endpoints'], hosts: readonly string[]): MetricSnapshot[] => {
  const budgets = endpoints.flatMap(({ budget }, i) => (budget ? [{ budget, endpoint: hosts[i]! }] : []))
  if (budgets.length === 0) return []
  const periods = budgets.flatMap(({ budget: { day, month }, endpoint }) =>
    Object.entries({ day, month }).flatMap(([period, one]) => (one ? [{ one, labels: { endpoint, period } }] : [])),
  )
  return [
    snapshotOf(
      'chainsieve_rpc_credits_total',
      ...budgets.map(({ budget, endpoint }): [number, Labels] => [budget.spent, { endpoint }]),
    ),
    snapshotOf(
      'chainsieve_rpc_budget_credits',
      ...periods.map(({ one, labels }): [number, Labels] => [one.limit, labels]),
    ),
    snapshotOf(
      'chainsieve_rpc_budget_left_credits',
      ...periods.map(({ one, labels }): [number, Labels] => [one.left, labels]),
    ),
  ]
}

const gaugeIfKnown = (name: MetricName, value: number | null | undefined, labels: Labels = {}): MetricSnapshot[] =>
  value === null || value === undefined ? [] : [snapshotOf(name, [value, labels])]

const sizes = (store: string): MetricSnapshot[] => [
  ...gaugeIfKnown('chainsieve_store_bytes', fileSize(store)),
  ...gaugeIfKnown('chainsieve_store_log_bytes', fileSize(`${store}-wal`)),
]

const fileMetrics = (data: string): MetricSnapshot[] =>
  ['accounts.sqlite', 'deliveries.sqlite'].flatMap(file =>
    labelled(gaugeIfKnown('chainsieve_file_bytes', fileSize(join(data, file))), {
      file,
    }),
  )

const diskMetrics = (data: string): MetricSnapshot[] => {
  const { bavail, blocks, bsize } = statfsSync(data)
  return [
    snapshotOf('chainsieve_disk_free_bytes', [bavail * bsize]),
    snapshotOf('chainsieve_disk_bytes', [blocks * bsize]),
  ]
}

const fileSize = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size

/** The last value, unless the next one arrives in time. */
const lastKnown = <T>(ask: () => Promise<T>, first: T): (() => Promise<T>) => {
  let known = first
  let open: Promise<T> | undefined
  return () => {
    open ??= ask()
      .catch(() => known)
      .then(value => {
        open = undefined
        known = value
        return value
      })
    return Promise.race([open, sleep(THREAD_METRICS_TIMEOUT_MS, undefined, { ref: false }).then(() => known)])
  }
}

const createDocumentCounts = (pool: Pick<Pool, 'holdings'>) => {
  const counts = new Map<string, { ask: () => Promise<MetricSnapshot[]>; at: number; last: MetricSnapshot[] }>()
  const of = (network: string) => {
    const made = counts.get(network) ?? { ask: lastKnown(() => countIn(pool, network), []), at: 0, last: [] }
    counts.set(network, made)
    return made
  }
  return async (networks: readonly NetworkState[]): Promise<MetricSnapshot[]> => {
    const all = networks
      .filter(({ ranges }) => ranges.length > 0)
      .map(async ({ network }) => {
        const one = of(network)
        if (performance.now() < one.at) return one.last
        one.last = await one.ask()
        one.at = performance.now() + COUNT_MS
        return one.last
      })
    return (await Promise.all(all)).flat()
  }
}

const countIn = async (pool: Pick<Pool, 'holdings'>, network: string): Promise<MetricSnapshot[]> => {
  const { counts } = await pool.holdings({ network, account: NO_ACCOUNT, signal: AbortSignal.timeout(COUNT_MS) })
  const series = Object.entries(counts).map(([entity, count]): [number, Labels] => [count, { network, entity }])
  return [snapshotOf('chainsieve_documents', ...series)]
}

export const clusterMetrics = (health: ClusterHealth): MetricSnapshot[] => {
  const { state, nodes, unassignedShards, pendingTasks, diskFree, watermark, rejected, lost } = health
  const labels = watermark ? { watermark } : {}
  return [
    snapshotOf('chainsieve_cluster_state', [1, { state }]),
    ...gaugeIfKnown('chainsieve_cluster_nodes', nodes),
    ...gaugeIfKnown('chainsieve_cluster_unassigned_shards', unassignedShards),
    snapshotOf('chainsieve_cluster_lost_indices', [lost.length]),
    ...gaugeIfKnown('chainsieve_cluster_pending_tasks', pendingTasks),
    ...gaugeIfKnown('chainsieve_cluster_disk_free_bytes', diskFree),
    ...gaugeIfKnown('chainsieve_cluster_watermark', watermark && 1, labels),
    ...(rejected
      ? [
          snapshotOf(
            'chainsieve_cluster_rejected_total',
            ...Object.entries(rejected).map(([kind, value]): [number, Labels] => [value, { kind }]),
          ),
        ]
      : []),
  ]
}

const processMetrics = (version: string): MetricSnapshot[] => {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const busy = performance.eventLoopUtilization().active / 1_000
  return [
    snapshotOf('chainsieve_build_info', [1, { version, node: process.versions.node }]),
    snapshotOf('process_cpu_seconds_total', [(user + system) / 1e6]),
    snapshotOf('process_resident_memory_bytes', [rss]),
    snapshotOf('process_start_time_seconds', [STARTED]),
    ...gaugeIfKnown('process_open_fds', countOpenFiles()),
    ...gaugeIfKnown('process_max_fds', maxOpenFiles()),
    snapshotOf('nodejs_heap_size_used_bytes', [heapUsed]),
    snapshotOf('nodejs_heap_size_total_bytes', [heapTotal]),
    snapshotOf('nodejs_external_memory_bytes', [external]),
    snapshotOf('chainsieve_event_loop_busy_seconds_total', [busy]),
  ]
}

const STARTED = Math.round(performance.timeOrigin) / 1_000

/** Cached, since reading it is slow on some systems. */
const maxOpenFiles = lazy(readOpenFileLimit)

const BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const TICK_MS = 100

/** Samples the delay of the event loop ten times per second. */
const watchEventLoop = (metrics: Metrics): void => {
  const delay = metrics.histogram('chainsieve_event_loop_delay_seconds', BOUNDS_S).of({})
  let due = performance.now() + TICK_MS
  const tick = () => {
    const now = performance.now()
    delay(Math.max(0, now - due) / 1_000)
    due = now + TICK_MS
    setTimeout(tick, TICK_MS).unref()
  }
  setTimeout(tick, TICK_MS).unref()
}
