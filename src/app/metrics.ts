import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterHealth } from '../cluster/indices/health.ts'
import type { DeliveryThread } from '../delivery/service.ts'
import { storeFile } from '../engine/files.ts'
import type { Indexing } from '../ingest/network.ts'
import type { NetworkState, ServerStatus } from '../ingest/status/status.ts'
import { lazy } from '../lib/caches.ts'
import type { Log } from '../lib/log.ts'
import { createMetrics, exposition, type Labels, labelled, type MetricSnapshot, type Metrics } from '../lib/metrics.ts'
import { coalesceFor } from '../lib/scheduling/coalesce.ts'
import { hostsOf } from '../lib/secret.ts'
import { countOpenFiles, readOpenFileLimit } from '../lib/system-limits.ts'
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

const simple =
  (type: 'gauge' | 'counter') =>
  (name: string, help: string, ...series: [value: number, labels?: Labels][]): MetricSnapshot => ({
    ...{ type, name, help },
    series: series.map(([value, labels = {}]) => ({ labels, value })),
  })
const gauge = simple('gauge')
const counter = simple('counter')

const serverGauges = ({ reasons = [], deliveries, readers }: ServerStatus): MetricSnapshot[] => [
  gauge('chainsieve_ready', 'Whether /ready answers 200.', [reasons.length === 0 ? 1 : 0]),
  gauge(
    'chainsieve_not_ready',
    'Why /ready answers 503, one for each of its reasons.',
    ...reasons.map(({ type, network }): [number, Labels] => [1, { type, ...(network && { network }) }]),
  ),
  ...(deliveries
    ? [
        gauge(
          'chainsieve_receivers_failing',
          'Receivers whose last attempt failed, by channel.',
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
        gauge('chainsieve_reader_threads_max', 'Threads that may answer queries.', [readers.most]),
        gauge(
          'chainsieve_reader_threads',
          'Threads that answer queries, by state.',
          [readers.busy, { state: 'busy' }],
          [readers.started - readers.busy, { state: 'idle' }],
        ),
        counter('chainsieve_reader_threads_lost_total', 'Reading threads that were lost.', [readers.lost]),
        gauge('chainsieve_queries_waiting', 'Queries that wait for a thread.', [readers.waiting]),
      ]
    : []),
]

const restartsOf = (count: number | undefined, labels: Labels): MetricSnapshot =>
  counter('chainsieve_thread_restarts_total', 'Restarts of failed threads.', [count ?? 0, labels])

const networkMetrics = (status: NetworkState, indexing: Indexing | undefined, data: string): MetricSnapshot[] => {
  const { network, state, head, lag, lastBlock, headAge, blockTime, ranges, endpoints } = status
  const report = indexing?.report()
  const own: MetricSnapshot[] = [
    gauge('chainsieve_network_state', 'State of the network: 1 for the present state.', [1, { state }]),
    gauge('chainsieve_blocks', 'Stored blocks.', [ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)]),
    gauge('chainsieve_block_ranges', 'Stored ranges of blocks. Between two of them, blocks are missing.', [
      ranges.length,
    ]),
    ...gaugeIfKnown('chainsieve_head_block', 'Number of the newest block of the nodes.', head),
    ...gaugeIfKnown('chainsieve_stored_block', 'Number of the newest stored block.', ranges.at(-1)?.to),
    ...gaugeIfKnown('chainsieve_head_lag_blocks', 'Blocks from the newest stored one to the head.', lag),
    ...gaugeIfKnown('chainsieve_head_age_seconds', 'Time since the timestamp of the newest known block.', headAge),
    ...gaugeIfKnown('chainsieve_block_time_seconds', 'Block time of the chain.', blockTime),
    ...gaugeIfKnown(
      'chainsieve_head_received_timestamp_seconds',
      'When the newest block arrived, in seconds since 1970.',
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
      counter('chainsieve_indexed_blocks_total', 'Blocks stored since the start.', [report.blocks]),
      counter('chainsieve_indexed_logs_total', 'Logs stored since the start.', [report.logs]),
      counter('chainsieve_indexed_events_total', 'Events stored since the start.', [report.events]),
      gauge('chainsieve_backfill_remaining', 'Blocks that a back-fill still has to store.', [
        Math.max(0, report.total - report.done),
      ]),
      counter(
        'chainsieve_alerts_total',
        'Alerts that came into each state since the start.',
        ...Object.entries(report.alerts).flatMap(([target, counts]) =>
          Object.entries(counts).map(([state, count]): [number, Labels] => [count, { target, state }]),
        ),
      ),
      gauge('chainsieve_rules_in_trouble', 'Rules that do not work as they should.', [
        report.troubles.size + report.accountTroubles.size,
      ]),
      gauge(
        'chainsieve_rpc_endpoint_up',
        'Whether the last answer of a node was usable.',
        ...endpoints.map((one, i): [number, Labels] => [
          one.failingSince === undefined ? 1 : 0,
          { endpoint: hosts[i]! },
        ]),
      ),
      counter(
        'chainsieve_rpc_failures_total',
        'Unusable and missing answers of a node.',
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
    counter(
      'chainsieve_rpc_credits_total',
      'Credits that calls to a node cost; only for nodes with a budget.',
      ...budgets.map(({ budget, endpoint }): [number, Labels] => [budget.spent, { endpoint }]),
    ),
    gauge(
      'chainsieve_rpc_budget_credits',
      'Credits of the budget of a node, by period.',
      ...periods.map(({ one, labels }): [number, Labels] => [one.limit, labels]),
    ),
    gauge(
      'chainsieve_rpc_budget_left_credits',
      'Credits that are left of it, by period.',
      ...periods.map(({ one, labels }): [number, Labels] => [one.left, labels]),
    ),
  ]
}

const gaugeIfKnown = (
  name: string,
  help: string,
  value: number | null | undefined,
  labels: Labels = {},
): MetricSnapshot[] => (value === null || value === undefined ? [] : [gauge(name, help, [value, labels])])

const sizes = (store: string): MetricSnapshot[] => [
  ...gaugeIfKnown('chainsieve_store_bytes', 'Size of the file of the network.', fileSize(store)),
  ...gaugeIfKnown(
    'chainsieve_store_log_bytes',
    'Size of its write-ahead log, which checkpoints copy into it.',
    fileSize(`${store}-wal`),
  ),
]

const fileMetrics = (data: string): MetricSnapshot[] =>
  ['accounts.sqlite', 'deliveries.sqlite'].flatMap(file =>
    labelled(
      gaugeIfKnown('chainsieve_file_bytes', 'Sizes of the other files of the data folder.', fileSize(join(data, file))),
      {
        file,
      },
    ),
  )

const diskMetrics = (data: string): MetricSnapshot[] => {
  const { bavail, blocks, bsize } = statfsSync(data)
  return [
    gauge('chainsieve_disk_free_bytes', 'Free space on the disk of the data folder.', [bavail * bsize]),
    gauge('chainsieve_disk_bytes', 'Size of the disk of the data folder.', [blocks * bsize]),
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
  return [gauge('chainsieve_documents', 'Stored documents, by entity.', ...series)]
}

export const clusterMetrics = (health: ClusterHealth): MetricSnapshot[] => {
  const { state, nodes, unassignedShards, pendingTasks, diskFree, watermark, rejected, lost } = health
  const labels = watermark ? { watermark } : {}
  return [
    gauge('chainsieve_cluster_state', 'State of the cluster: 1 for the present state.', [1, { state }]),
    ...gaugeIfKnown('chainsieve_cluster_nodes', 'Nodes of the cluster.', nodes),
    ...gaugeIfKnown('chainsieve_cluster_unassigned_shards', 'Shards of the network without a node.', unassignedShards),
    gauge('chainsieve_cluster_lost_indices', 'Indices that hold documents and that no search reaches.', [lost.length]),
    ...gaugeIfKnown('chainsieve_cluster_pending_tasks', 'Changes that the cluster has yet to make.', pendingTasks),
    ...gaugeIfKnown('chainsieve_cluster_disk_free_bytes', 'Free space of the node that has the least.', diskFree),
    ...gaugeIfKnown(
      'chainsieve_cluster_watermark',
      'The worst disk watermark that a node of the cluster is over.',
      watermark && 1,
      labels,
    ),
    ...(rejected
      ? [
          counter(
            'chainsieve_cluster_rejected_total',
            'Requests that nodes of the cluster rejected since they started, by kind.',
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
    gauge('chainsieve_build_info', 'The running version: 1.', [1, { version, node: process.versions.node }]),
    counter('process_cpu_seconds_total', 'Processor time of all threads.', [(user + system) / 1e6]),
    gauge('process_resident_memory_bytes', 'Memory of all threads.', [rss]),
    gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', [STARTED]),
    ...gaugeIfKnown('process_open_fds', 'Open files and connections.', countOpenFiles()),
    ...gaugeIfKnown('process_max_fds', 'Limit of open files and connections.', maxOpenFiles()),
    gauge('nodejs_heap_size_used_bytes', 'Used heap of the main thread.', [heapUsed]),
    gauge('nodejs_heap_size_total_bytes', 'Heap of the main thread.', [heapTotal]),
    gauge('nodejs_external_memory_bytes', 'Memory of JavaScript outside of heaps.', [external]),
    counter('chainsieve_event_loop_busy_seconds_total', 'Time that the main thread was busy.', [busy]),
  ]
}

const STARTED = Math.round(performance.timeOrigin) / 1_000

/** Cached, since reading it is slow on some systems. */
const maxOpenFiles = lazy(readOpenFileLimit)

const BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const TICK_MS = 100

/** Samples the delay of the event loop ten times per second. */
const watchEventLoop = (metrics: Metrics): void => {
  const delay = metrics
    .histogram('chainsieve_event_loop_delay_seconds', 'Delay of a timer in the main thread.', BOUNDS_S)
    .of({})
  let due = performance.now() + TICK_MS
  const tick = () => {
    const now = performance.now()
    delay(Math.max(0, now - due) / 1_000)
    due = now + TICK_MS
    setTimeout(tick, TICK_MS).unref()
  }
  setTimeout(tick, TICK_MS).unref()
}
