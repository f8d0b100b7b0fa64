import type { MessagePort } from 'node:worker_threads'
import type { ClusterNetwork } from '../cluster/asker.ts'
import type { ClusterPages } from '../cluster/pages.ts'
import { createReplay } from '../cluster/replay.ts'
import { createClusterSearcher } from '../cluster/searcher.ts'
import { createTold } from '../cluster/told.ts'
import type { Member } from '../engine/query/joined.ts'
import { createShelfReader } from '../engine/shelf.ts'
import type { Limits } from '../limits/index.ts'
import type { Reply } from './answer.ts'
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
  /** Has work done with all of them as one: again and again, until all that it needs of clusters is there. */
  run(work: (searcher: Member['searcher']) => Reply): Promise<Reply>
  /** Resolves when the next part of a long answer can be made. */
  ready(): Promise<void>
  /** Nobody wants the answer any more, or all of it is there. */
  close(): void
}

export const openMixed = ({ inClusters, stores, index, deadlineMs, limits }: MixedOptions): Mixed => {
  const calls = createCalls(inClusters.port)
  const ending = new AbortController()
  const { signal } = ending
  const pages = new Set<ClusterPages>()
  const indexes = eachOf(index)
  const clustered = inClusters.networks.map((one, i) => {
    if (!one) return undefined
    const { reader } = stores[i]!()
    const { visible, isFollowing } = createShelfReader(reader.db)
    const cluster = { ...calls.of(one.network), close: async () => {} }
    const told = createTold({ ...one, cluster, isFollowing })
    return createClusterSearcher({ ...one, cluster, visible, told, reader, limits })
  })
  const anew = () => ({ signal, deadline: performance.now() + deadlineMs })
  const close = () => {
    for (const one of pages) one.close()
    ending.abort()
    calls.close()
  }
  return {
    async run(work) {
      try {
        const { need, run } = createReplay()
        return await run(() => {
          const opened = (one: ClusterPages) => void pages.add(one)
          const members = stores.map((store, i): Member => {
            const away = clustered[i]?.searcherOf({ need, signal, anew, byId: new Map(), opened })
            return { searcher: away ?? store().searcher, index: indexes[i]!, isAway: away !== undefined }
          })
          return work(searchSeveral(members))
        })
      } catch (error) {
        close()
        throw error
      }
    },
    async ready() {
      await Promise.all(Array.from(pages, one => one.ready()))
    },
    close,
  }
}
