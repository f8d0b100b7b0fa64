import type { DocumentReader } from '../engine/port.ts'
import { createIndexIdentities } from '../engine/shipping/index-identities.ts'
import { createShippedReader } from '../engine/shipping/shipped-ranges.ts'
import { retry } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { mergeRanges } from '../lib/ranges.ts'
import { nativeBinding } from '../lib/runtime.ts'
import type { Db } from '../sqlite/database.ts'
import { type ClusterOptions, connect } from './connection/cluster.ts'
import { createIndices } from './indices/indices.ts'
import { aliasIn } from './indices/lost-indices.ts'
import { aliasOf } from './indices/names.ts'
import { openClusterReader } from './reader.ts'
import { openRedecoderIn } from './redecoding/redecoder.ts'
import { type RestoreWork, restoreDocuments, restoreInBackground } from './restore/restore.ts'
import { createShipping, type ShippingOptions } from './ship/shipping.ts'

/** Operations that the threads of a network run on its cluster. */
export type RemoteStore = ReturnType<typeof openRemote>

/** `store`: file of the network's store. Each verb opens a connection of its own. */
export const openRemote = (place: ClusterOptions, { network, store }: { network: string; store: string }) => ({
  startShipping: (options: Omit<ShippingOptions, 'network' | 'store' | 'cluster'>) =>
    createShipping({ ...options, network, store, cluster: place }),

  /** Reads all documents of the network: shipped ones, and those that only the store has. */
  openReader(): DocumentReader {
    const cluster = connect(place)
    const reader = openClusterReader(store, {
      ...{ native: nativeBinding(), cluster, naming: place, network },
      shelf: db => createShippedReader(db).visible,
    })
    return {
      ...reader,
      async close() {
        await reader.close()
        await cluster.close()
      },
    }
  },

  /** Returns a function that opens the redecoding by an ABI. */
  redecoder: (given: Omit<Parameters<typeof openRedecoderIn>[1], 'network' | 'store'>) =>
    openRedecoderIn(place, { network, store, ...given }),

  /** The indices that lost documents which the store no longer has, and the blocks of these. */
  async findLost(db: Db, log: Log) {
    const { visible, isFollowing } = createShippedReader(db)
    if (isFollowing())
      throw retry('forget_waits', `waits until this server may write the documents of ${network}`, {
        retryAfterMs: FOLLOWING_MS,
      })
    const cluster = connect(place)
    try {
      const indices = createIndices(cluster, place, network, log, createIndexIdentities(db).of)
      const { lost: all } = await indices.look(visible().ranges)
      // The store has all tokens, which are shipped again by themselves.
      const lost = all.filter(({ index }) => aliasIn(index) !== aliasOf(place, network, 'token'))
      return { blocks: mergeRanges(lost.flatMap(({ blocks }) => blocks)), indices: lost.map(({ index }) => index) }
    } finally {
      await cluster.close()
    }
  },

  /** Restores all documents to the store while other work continues. */
  watchRestore: (work: RestoreWork, run: Parameters<typeof restoreInBackground>[2]) =>
    restoreInBackground(place, work, run),

  /** Does the same as changes that the caller applies. */
  restore: (work: RestoreWork) => restoreDocuments(place, work),
})

/** Time between two looks at whether another process still ships. */
const FOLLOWING_MS = 1_000
