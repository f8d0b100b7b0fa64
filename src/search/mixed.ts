import type { MessagePort } from 'node:worker_threads'
import type { ClusterNetwork } from '../cluster/asker.ts'
import { createClusterSearcher } from '../cluster/searcher.ts'
import { createTold } from '../cluster/told.ts'
import type { Member } from '../engine/query/multi-network.ts'
import type { StoreSearcher } from '../engine/query/searcher.ts'
import { createShelfReader } from '../engine/shelf.ts'
import { createByteWriter } from '../lib/bytes.ts'
import type { Limits } from '../limits/index.ts'
import { createCalls } from './cluster-calls.ts'
import type { OpenStore } from './open-store.ts'
import { searchSeveral } from './several.ts'
import { eachOf } from './target.ts'

/** Of several networks those whose documents lie in clusters, by their places, and how these are asked. */
export interface InClusters {
  networks: readonly (Pick<ClusterNetwork, 'network' | 'naming'> | undefined)[]
  port: MessagePort
}

export interface MixedOptions {
  inClusters: InClusters
  /** Of each network, in their order; those that lie in a cluster hold only their blocks. */
  stores: readonly (() => OpenStore)[]
  /** Names of the networks, with commas between them. */
  index: string
  deadlineMs: number
  limits: Limits
}

/** A search of several networks of which some lie in clusters. */
export interface Mixed {
  searcher: StoreSearcher
  /** Nobody wants the answer any more, or all of it is there. */
  close(): void
}

export const openMixed = ({ inClusters, stores, index, deadlineMs, limits }: MixedOptions): Mixed => {
  const calls = createCalls(inClusters.port)
  const ending = new AbortController()
  const { signal } = ending
  const indexes = eachOf(index)
  const members = inClusters.networks.map((one, i): Member => {
    if (!one) return { searcher: stores[i]!().searcher, index: indexes[i]! }
    const { reader } = stores[i]!()
    const { visible, isFollowing } = createShelfReader(reader.db)
    const cluster = { ...calls.of(one.network), close: async () => {} }
    const told = createTold({ ...one, cluster, isFollowing })
    const { searcherOf } = createClusterSearcher({ ...one, cluster, visible, told, reader, limits })
    return { searcher: searcherOf({ signal, deadlineMs }), index: indexes[i]!, isAway: true }
  })
  return {
    searcher: { ...searchSeveral(members), out: createByteWriter() },
    close() {
      ending.abort()
      calls.close()
    },
  }
}
