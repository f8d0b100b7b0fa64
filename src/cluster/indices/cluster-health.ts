import { isRecord } from '../../lib/arrays.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Range } from '../../lib/ranges.ts'
import type { Cluster } from '../connection/cluster.ts'
import { expectOk } from '../connection/expect-ok.ts'
import { clusterVersionOf } from '../connection/version.ts'
import { type IdentityOf, reachedBySearches } from './lost-indices.ts'
import { baseOf, type IndexNaming } from './names.ts'

/** Health of a network's cluster. */
export interface ClusterHealth {
  /** Worst state of the network's indices; `unreachable` if no node answers. */
  state: 'green' | 'yellow' | 'red' | 'unreachable'
  /** Start of the state, ISO 8601. */
  since: string
  /** Why the health is unknown. */
  error: string | null
  /** For example `OpenSearch 3.3.2`. */
  version: string | null
  nodes: number | null
  /** Unassigned shards of the network; the state is yellow or red while there are any. */
  unassignedShards: number | null
  /** Tasks queued at the cluster manager. */
  pendingTasks: number | null
  /** Minimum free space of all nodes, and the worst watermark exceeded. */
  diskFree: number | null
  watermark: Watermark | null
  /** Requests that nodes rejected since their start because queues were full. */
  rejected: { writes: number; searches: number } | null
  /** Names of indices with documents that searches do not reach. */
  lost: readonly string[]
}

/** Polled less often, since it costs each node some work. */
type Slow = Pick<ClusterHealth, 'version' | 'diskFree' | 'watermark' | 'rejected'>

const SLOW: Slow = { version: null, diskFree: null, watermark: null, rejected: null }
const PATIENCE_MS = 5_000
/** Polls that share one read of node statistics. */
const LOOKS_PER_STATS = 6

/** Polls the cluster; node statistics are some polls old. */
export const createClusterHealth = (
  cluster: Pick<Cluster, 'ask'>,
  options: IndexNaming,
  network: string,
  /** Blocks that searches read from the cluster. */
  visible: () => readonly Range[] = () => [],
  identityOf?: IdentityOf,
): (() => Promise<ClusterHealth>) => {
  let looks = 0
  let slow = SLOW
  let last: Pick<ClusterHealth, 'state' | 'since'> | undefined
  const get = async (path: string, query: Record<string, string | boolean> = {}): Promise<string> => {
    const request = { method: 'GET', path, query, timeoutMs: PATIENCE_MS, retries: 1 } as const
    return expectOk(cluster, request, 'report its health')
  }
  const look = async (): Promise<Omit<ClusterHealth, 'since'>> => {
    try {
      const text = await get(`/_cluster/health/${baseOf(options, network)}-*`)
      if (looks++ % LOOKS_PER_STATS === 0) slow = await askSlow(get)
      return { ...healthIn(text), error: null, ...slow, lost: await findLost() }
    } catch (error) {
      looks = 0
      const none = { nodes: null, unassignedShards: null, pendingTasks: null }
      return { state: 'unreachable', error: messageOf(error), ...none, ...slow, lost: [] }
    }
  }
  const findLost = async (): Promise<string[]> => {
    const ranges = visible()
    if (ranges.length === 0) return []
    return (await reachedBySearches(cluster, options, network, ranges, identityOf)).lost.map(({ index }) => index)
  }
  return async () => {
    const now = await look()
    const since = last?.state === now.state ? last.since : new Date().toISOString()
    last = { state: now.state, since }
    return { ...now, since }
  }
}

const healthIn = (text: string): Pick<ClusterHealth, 'state' | 'nodes' | 'unassignedShards' | 'pendingTasks'> => {
  const health = JSON.parse(text) as Record<string, number> & { status: 'green' | 'yellow' | 'red' }
  return {
    state: health.status,
    nodes: health.number_of_nodes ?? null,
    unassignedShards: health.unassigned_shards ?? null,
    pendingTasks: health.number_of_pending_tasks ?? null,
  }
}

interface NodeStats {
  fs?: { total?: { total_in_bytes: number; available_in_bytes: number } }
  thread_pool?: Record<string, { rejected: number } | undefined>
}

/** Without the permissions for these, the health is still shown. */
const askSlow = async (get: (path: string, query?: Record<string, string | boolean>) => Promise<string>) => {
  const [about, stats, settings] = await Promise.allSettled([
    get('/'),
    get('/_nodes/stats/fs,thread_pool', { filter_path: 'nodes.*.fs.total,nodes.*.thread_pool.*.rejected' }),
    get('/_cluster/settings', {
      ...{ include_defaults: true, flat_settings: false },
      filter_path: '*.cluster.routing.allocation.disk',
    }),
  ])
  return {
    version: about.status === 'fulfilled' ? clusterVersionOf(about.value).name : null,
    ...(stats.status === 'fulfilled'
      ? nodeStatsIn(stats.value, settings.status === 'fulfilled' ? settings.value : '{}')
      : { diskFree: null, watermark: null, rejected: null }),
  }
}

const nodeStatsIn = (stats: string, settings: string): Omit<Slow, 'version'> => {
  const nodes = Object.values((JSON.parse(stats) as { nodes?: Record<string, NodeStats> }).nodes ?? {})
  const disks = nodes.flatMap(({ fs }) => (fs?.total ? [fs.total] : []))
  const over = disks.map(disk => watermarkOf(disk, settings))
  const rejectedBy = (pool: string) => nodes.reduce((sum, one) => sum + (one.thread_pool?.[pool]?.rejected ?? 0), 0)
  return {
    diskFree: disks.length === 0 ? null : Math.min(...disks.map(disk => disk.available_in_bytes)),
    watermark: WATERMARKS.findLast(one => over.includes(one)) ?? null,
    rejected: { writes: rejectedBy('write'), searches: rejectedBy('search') },
  }
}

/**
 * Mildest first. A node above `low` gets no new shards, above `high` it moves some away, and above
 * `flood_stage` its indices are read-only.
 */
const WATERMARKS = ['low', 'high', 'flood_stage'] as const

type Watermark = (typeof WATERMARKS)[number]

/** Default watermarks as used share of the disk. */
const USUAL: Readonly<Record<Watermark, string>> = { low: '85%', high: '90%', flood_stage: '95%' }

interface Disk {
  total_in_bytes: number
  available_in_bytes: number
}

/** The worst watermark exceeded; `settings` is the answer of `_cluster/settings`. */
export const watermarkOf = (disk: Disk, settings: string): Watermark | null => {
  const set = marksIn(settings)
  if (set.threshold_enabled === 'false') return null
  return WATERMARKS.findLast(mark => isOver(disk, set[mark] ?? USUAL[mark], set[`${mark}${HEADROOM}`])) ?? null
}

/** Elasticsearch caps the required free bytes on large disks. */
const HEADROOM = '.max_headroom'

type Marks = Partial<Record<Watermark | `${Watermark}${typeof HEADROOM}` | 'threshold_enabled', string>>

interface Settings {
  cluster?: {
    routing?: { allocation?: { disk?: { threshold_enabled?: unknown; watermark?: Record<string, unknown> } } }
  }
}

const marksIn = (settings: string): Marks => {
  const { defaults, persistent, transient } = JSON.parse(settings) as Record<string, Settings | undefined>
  const marks: Marks = {}
  for (const source of [defaults, persistent, transient]) {
    const { watermark = {}, threshold_enabled } = source?.cluster?.routing?.allocation?.disk ?? {}
    for (const mark of WATERMARKS) {
      const share = watermark[mark]
      const headroom = isRecord(share) ? share.max_headroom : watermark[`${mark}${HEADROOM}`]
      if (typeof share === 'string') marks[mark] = share
      if (typeof headroom === 'string') marks[`${mark}${HEADROOM}`] = headroom
    }
    if (typeof threshold_enabled === 'string') marks.threshold_enabled = threshold_enabled
  }
  return marks
}

/** A watermark is a used share, or free bytes. */
const isOver = ({ total_in_bytes: total, available_in_bytes: free }: Disk, mark: string, headroom = '-1'): boolean => {
  const share = shareIn(mark)
  if (share === undefined) return free < (bytesIn(mark) ?? 0)
  return 1 - free / total > share && free < (bytesIn(headroom) ?? total)
}

const shareIn = (mark: string): number | undefined => {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(mark.trim()) ?? []
  return digits === undefined ? undefined : Number(digits) / (percent === '%' ? 100 : 1)
}

const bytesIn = (mark: string): number | undefined => {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)([kmgtp]?b)$/i.exec(mark.trim()) ?? []
  if (digits === undefined) return undefined
  return Number(digits) * 1024 ** ['b', 'kb', 'mb', 'gb', 'tb', 'pb'].indexOf(unit.toLowerCase())
}
