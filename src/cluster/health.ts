import { messageOf } from '../lib/errors.ts'
import type { Range } from '../lib/ranges.ts'
import type { Cluster } from './cluster.ts'
import { WATERMARKS, type Watermark, watermarkOf } from './disk.ts'
import { type IdentityOf, reachedBySearches } from './lost.ts'
import { baseOf } from './names.ts'
import { okay } from './okay.ts'
import type { ClusterOptions } from './options.ts'
import { versionOf } from './version.ts'

/** How the cluster of a network is. */
export interface ClusterHealth {
  /** Of the network's indices; `unreachable` where no node tells it. */
  state: 'green' | 'yellow' | 'red' | 'unreachable'
  /** When that began, ISO 8601. */
  since: string
  /** Why the cluster does not tell. */
  error: string | null
  /** Such as `OpenSearch 3.3.2`. */
  version: string | null
  nodes: number | null
  /** Shards of the network without a node: while there are any, it is yellow or red. */
  unassignedShards: number | null
  /** Changes that wait for the node that leads the cluster. */
  pendingTasks: number | null
  /** The least free space of a node, and the worst watermark that one is over. */
  diskFree: number | null
  watermark: Watermark | null
  /** Requests that nodes rejected since they started, since too many waited. */
  rejected: { writes: number; searches: number } | null
  /** Indices that hold documents and that no search reaches, by name. */
  lost: readonly string[]
}

/** What is asked less often: it costs each node something. */
type Slow = Pick<ClusterHealth, 'version' | 'diskFree' | 'watermark' | 'rejected'>

const SLOW: Slow = { version: null, diskFree: null, watermark: null, rejected: null }
const PATIENCE_MS = 5_000
/** So many looks are made by one answer of the nodes. */
const LOOKS = 6

/** Looks at the cluster; what it tells of the nodes is some looks old. */
export const createHealth = (
  cluster: Pick<Cluster, 'ask'>,
  options: Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'>,
  network: string,
  /** Blocks whose documents searches find there. */
  visible: () => readonly Range[] = () => [],
  identityOf?: IdentityOf,
): (() => Promise<ClusterHealth>) => {
  let looks = 0
  let slow = SLOW
  let last: Pick<ClusterHealth, 'state' | 'since'> | undefined
  const get = async (path: string, query: Record<string, string | boolean> = {}): Promise<string> => {
    const request = { method: 'GET', path, query, timeoutMs: PATIENCE_MS, retries: 1 } as const
    return okay(cluster, request, 'tell how it is')
  }
  const look = async (): Promise<Omit<ClusterHealth, 'since'>> => {
    try {
      const text = await get(`/_cluster/health/${baseOf(options, network)}-*`)
      if (looks++ % LOOKS === 0) slow = await askSlow(get)
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

/** A user without the rights for these sees the health all the same. */
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
    version: about.status === 'fulfilled' ? versionOf(about.value).name : null,
    ...(stats.status === 'fulfilled'
      ? nodesIn(stats.value, settings.status === 'fulfilled' ? settings.value : '{}')
      : { diskFree: null, watermark: null, rejected: null }),
  }
}

const nodesIn = (stats: string, settings: string): Omit<Slow, 'version'> => {
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
