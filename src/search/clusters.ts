import type { ClusterNetwork } from '../cluster/asker.ts'
import type { Visible } from '../cluster/visible.ts'
import { openForReading } from '../engine/open.ts'
import { perVersion } from '../engine/versioned.ts'
import { nativeBinding } from '../lib/runtime.ts'
import type { Limits } from '../limits/index.ts'
import type { Db } from '../sqlite/database.ts'
import { openCalls } from './cluster-calls.ts'
import { type Clustered, createClustered } from './clustered.ts'
import type { InClusters } from './mixed.ts'
import type { Streams } from './streams.ts'
import { eachOf } from './target.ts'

/** Where a network's documents lie in a cluster. */
export interface ClusterPlace extends Pick<ClusterNetwork, 'cluster' | 'naming'> {
  /** What tells, of a network's store, what of its documents a search sees at a moment. */
  shelf(db: Db): () => Visible
  /** What tells, of a network's store, the same as who writes tells it in the cluster; undefined where this process writes. */
  told?(db: Db): () => Promise<Visible | undefined> | undefined
  /** What tells, of a network's store, whether searches go to the cluster by now. Default: always. */
  moved?(db: Db): () => boolean
}

export interface Clusters {
  /** What answers for a network; undefined where its store does, and of several networks. */
  of(network: string): Clustered | undefined
  /** Those of some networks that lie in clusters, by their places; undefined where none does. */
  among(networks: string): Among | undefined
  close(): void
}

/** The port is opened anew for each thread that asks. */
export type Among = () => InClusters

export interface ClustersOptions {
  placeOf(network: string): ClusterPlace | undefined
  storeOf(network: string): string
  streams: Streams
  deadlineMs: number
  limits: Limits
}

export const createClusters = ({ placeOf, storeOf, ...options }: ClustersOptions): Clusters => {
  const open = new Map<string, { place: ClusterPlace; store: string; clustered: Clustered }>()

  /** What tells, by file, whether the cluster answers by now, of networks that it has not answered for yet. */
  const looks = new Map<string, { db: Db; moved(): boolean }>()
  const hasMoved = ({ moved }: ClusterPlace, store: string): boolean => {
    if (!moved) return true
    let look = looks.get(store)
    if (!look) {
      const db = openForReading(store, nativeBinding())
      look = { db, moved: perVersion(db, moved(db)) }
      looks.set(store, look)
    }
    return look.moved()
  }
  const openOf = (network: string, place: ClusterPlace): Clustered | undefined => {
    const known = open.get(network)
    return known?.place === place && known.store === storeOf(network) ? known.clustered : undefined
  }
  /** Where the documents of a network are searched, other than in its store. */
  const clusterOf = (network: string): ClusterPlace | undefined => {
    const place = placeOf(network)
    if (!place) return undefined
    // It looks at the file anyway.
    const known = openOf(network, place)
    return (known ? known.hasMoved() : hasMoved(place, storeOf(network))) ? place : undefined
  }

  const clusteredOf = (network: string, place: ClusterPlace): Clustered => {
    const known = openOf(network, place)
    if (known) return known
    open.get(network)?.clustered.close()
    const store = storeOf(network)
    const clustered = createClustered({ network, place, store, ...options })
    open.set(network, { place, store, clustered })
    return clustered
  }

  return {
    of(network) {
      if (eachOf(network).length > 1) return undefined
      const place = clusterOf(network)
      return place && clusteredOf(network, place)
    },
    among(networks) {
      const places = eachOf(networks).map(network => ({ network, place: clusterOf(network) }))
      if (places.every(({ place }) => !place)) return undefined
      return () => ({
        networks: places.map(({ network, place }) => place && { network, naming: namingOf(place) }),
        port: openCalls(network => places.find(one => one.network === network)!.place!.cluster),
      })
    },
    close() {
      for (const { clustered } of open.values()) clustered.close()
      open.clear()
      for (const { db } of looks.values()) db.close()
      looks.clear()
    },
  }
}

/** Without what only the connection needs, such as passwords. */
const namingOf = ({ naming: { prefix, blocksPerIndex } }: ClusterPlace) => ({ prefix, blocksPerIndex })
