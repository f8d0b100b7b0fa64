import { existsSync } from 'node:fs'
import { connect } from '../cluster/connection/cluster.ts'
import type { IdentityOf } from '../cluster/indices/lost-indices.ts'
import { baseOf } from '../cluster/indices/names.ts'
import type { ClusterPlace } from '../cluster/stores.ts'
import { createPublishedVisibility } from '../cluster/visibility.ts'
import { clusterOptions } from '../config/cluster.ts'
import type { Config } from '../config/index.ts'
import { storeFile } from '../engine/files.ts'
import { openForReading } from '../engine/open.ts'
import { createDocumentLocation } from '../engine/shipping/document-location.ts'
import { createIndexIdentities } from '../engine/shipping/index-identities.ts'
import { createShippedReader } from '../engine/shipping/shipped-ranges.ts'
import { perVersion } from '../engine/store-version.ts'
import type { IndexingOptions } from '../ingest/network.ts'
import type { ClusterStatus } from '../ingest/status/status.ts'
import type { Range } from '../lib/ranges.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'
import type { Run } from '../lib/shutdown.ts'
import { isInCluster } from './stores.ts'

/** Interval of health checks. */
const CLUSTER_INTERVAL_MS = 5_000

/** Opens the clusters that hold documents of networks. */
export const openClusters = (
  { networks }: Pick<Config, 'networks'>,
  shutdown: Pick<Run['shutdown'], 'add'>,
): ((network: string) => ClusterPlace | undefined) => {
  const places = new Map<string, ClusterPlace>()
  for (const { network, cluster: settings } of networks) {
    if (!settings) continue
    const naming = clusterOptions(settings)
    const cluster = connect(naming)
    shutdown.add(`cluster of ${network}`, cluster.close)
    places.set(network, {
      ...{ cluster, naming, shelf: db => createShippedReader(db).visible },
      told: db =>
        createPublishedVisibility({
          cluster,
          naming,
          network,
          isFollowing: perVersion(db, createShippedReader(db).isFollowing),
        }),
      moved: db => {
        const { since } = createDocumentLocation(db)
        return () => since() !== undefined
      },
    })
  }
  return network => places.get(network)
}

/** Options for shipping documents of a network to its cluster. */
export const shippingOf = (
  { networks }: Pick<Config, 'networks'>,
  network: string,
): Pick<IndexingOptions, 'remote' | 'journalMax' | 'returning'> => {
  const cluster = networks.find(one => one.network === network)?.cluster
  if (!cluster) return {}
  const { journalMax, returning } = cluster
  return { remote: clusterOptions(cluster), journalMax, returning }
}

/** Polls the health of all clusters; returns the last status by network, undefined without one. */
export const watchClusters = async (
  config: Pick<Config, 'networks' | 'data'>,
  { log, shutdown }: Run,
): Promise<(network: string) => ClusterStatus | undefined> => {
  const last = new Map<string, ClusterStatus>()
  for (const { network, cluster } of config.networks) {
    if (!cluster) continue
    const { createClusterHealth } = await import('../cluster/indices/cluster-health.ts')
    const options = clusterOptions(cluster)
    const connection = connect(options)
    const { signal } = shutdown
    const ask = createClusterHealth(
      { ask: request => connection.ask({ ...request, signal }) },
      options,
      network,
      ...shelvedBlocks(config.data, network, shutdown),
    )
    const look = async () => {
      if (cluster.returning && !isInCluster(storeFile(config.data, network))) return void last.delete(network)
      const now = await ask()
      if (signal.aborted) return
      const { state: before, lost = [] } = last.get(network) ?? {}
      last.set(network, { ...now, indices: `${baseOf(options, network)}-*` })
      const [index] = now.lost
      if (now.lost.length > lost.length)
        log.warn('The cluster lost indices', { network, index, count: now.lost.length })
      if (now.state === before || (before === undefined && now.state === 'green')) return
      const change = { network, state: now.state, before, error: now.error ?? undefined }
      if (now.state === 'green' || now.state === 'yellow') log.info('The state of the cluster changed', change)
      else log.warn('The state of the cluster changed', change)
    }
    const end = repeatEvery(CLUSTER_INTERVAL_MS, look, { log, doing: 'look at the cluster' })
    void look().catch(() => {})
    shutdown.add(`looking at the cluster of ${network}`, async () => {
      end()
      await connection.close()
    })
  }
  return network => last.get(network)
}

/** Blocks that searches read from the cluster, and its index identities. */
const shelvedBlocks = (data: string, network: string, shutdown: Pick<Run['shutdown'], 'add'>) => {
  const file = storeFile(data, network)
  let open: { ranges(): readonly Range[]; identityOf: IdentityOf } | undefined
  const openStore = () => {
    const db = openForReading(file, nativeBinding())
    shutdown.add(`blocks of ${network} in its cluster`, async () => void db.close())
    const { since } = createDocumentLocation(db)
    const { visible } = createShippedReader(db)
    const ranges = () => (since() === undefined ? [] : visible().ranges)
    return { ranges, identityOf: createIndexIdentities(db).of }
  }
  const ranges = (): readonly Range[] => {
    if (!open && !existsSync(file)) return []
    open ??= openStore()
    return open.ranges()
  }
  return [ranges, (index: string) => open?.identityOf(index)] as const
}
