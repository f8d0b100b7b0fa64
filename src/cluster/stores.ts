import { openForReading } from '../engine/open.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { perVersion } from '../engine/store-version.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { networksIn } from '../search/index-names.ts'
import type { NetworkStore, RemoteStores, SharedParts } from '../search/store.ts'
import type { Db } from '../sqlite/database.ts'
import type { ClusterNetwork } from './query-client.ts'
import { createClusterStore } from './store.ts'
import { openCalls, type ThreadNetwork } from './thread-search.ts'

/** Cluster of a network's documents. */
export interface ClusterPlace extends Pick<ClusterNetwork, 'cluster' | 'naming'> {
  /** From a network's file: which of its documents a search sees at a moment. */
  shelf(db: Db): () => Visible
  /** From a network's file: the same as published; undefined if this process writes. */
  told?(db: Db): () => Promise<Visible | undefined> | undefined
  /** From a network's file: whether searches go to the cluster by now. Default: always. */
  moved?(db: Db): () => boolean
}

/** Searches the networks that `placeOf` knows in clusters, as soon as their documents are there. */
export const createClusterStores =
  (placeOf: (network: string) => ClusterPlace | undefined) =>
  ({ fileOf, ...shared }: SharedParts): RemoteStores => {
    type Opened = NetworkStore & { hasMoved(): boolean; close(): void }
    const open = new Map<string, { place: ClusterPlace; file: string; store: Opened }>()

    /** Checks by file whether searches have moved, for networks without an open store. */
    const looks = new Map<string, { db: Db; moved(): boolean }>()
    const hasMoved = ({ moved }: ClusterPlace, file: string): boolean => {
      if (!moved) return true
      let look = looks.get(file)
      if (!look) {
        const db = openForReading(file, nativeBinding())
        look = { db, moved: perVersion(db, moved(db)) }
        looks.set(file, look)
      }
      return look.moved()
    }
    const openOf = (network: string, place: ClusterPlace): Opened | undefined => {
      const known = open.get(network)
      return known?.place === place && known.file === fileOf(network) ? known.store : undefined
    }
    /** Cluster that answers for a network; undefined if its file does. */
    const clusterOf = (network: string): ClusterPlace | undefined => {
      const place = placeOf(network)
      if (!place) return undefined
      // An open store reads the file anyway.
      const known = openOf(network, place)
      return (known ? known.hasMoved() : hasMoved(place, fileOf(network))) ? place : undefined
    }

    const storeOf = (network: string, place: ClusterPlace): NetworkStore => {
      const known = openOf(network, place)
      if (known) return known
      open.get(network)?.store.close()
      const file = fileOf(network)
      const store = createClusterStore({ network, place, file, ...shared })
      open.set(network, { place, file, store })
      return store
    }

    return {
      of(network) {
        if (network.includes(',')) return undefined
        const place = clusterOf(network)
        return place && storeOf(network, place)
      },
      among(networks) {
        const places = networksIn(networks).map(network => ({ network, place: clusterOf(network) }))
        if (places.every(({ place }) => !place)) return undefined
        return () => ({
          networks: places.map(
            ({ network, place }): ThreadNetwork | undefined => place && { network, naming: namingOf(place) },
          ),
          port: openCalls(network => places.find(one => one.network === network)!.place!.cluster),
        })
      },
      close() {
        for (const { store } of open.values()) store.close()
        open.clear()
        for (const { db } of looks.values()) db.close()
        looks.clear()
      },
    }
  }

/** Omits settings of the connection, such as passwords. */
const namingOf = ({ naming: { prefix, blocksPerIndex } }: ClusterPlace) => ({ prefix, blocksPerIndex })
