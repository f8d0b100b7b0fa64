import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBlocks, hashKeys } from '../../engine/blocks.ts'
import type { PublishedIndices } from '../../engine/shipping/index-identities.ts'
import { createChangedBlocks } from '../../engine/shipping/partial-blocks.ts'
import { createShippedReader, type KnownBlock } from '../../engine/shipping/shipped-ranges.ts'
import { coverageIn } from '../../search/coverage.ts'
import type { Cluster } from '../connection/cluster.ts'
import type { ShipContext } from './context.ts'
import { createLease, type Lease } from './lease.ts'
import {
  firstOfTerm,
  makeStateIndex,
  publish,
  publishIndices,
  readIndices,
  readState,
  type SharedState,
  stateIndexOf,
} from './shared-state.ts'

export type Sharing = ReturnType<typeof createSharing>

interface SharingOptions {
  cluster: Cluster
  /** Called with the process that writes, if it is another one. */
  onWait(holder: string | undefined): void
  ttlMs?: number
  /** Interval of reading the state of the process that writes. */
  lookMs?: number
}

const FOLLOW_LOOK_MS = 2_000
/** States of an ended process that may still arrive: one per attempt. */
const IN_FLIGHT = 2 ** 16

/** Coordinates the processes that share a network's documents: who writes, and what is visible. */
export const createSharing = (ship: Omit<ShipContext, 'publishing'>, options: SharingOptions) => {
  const { db, naming, network, known, shelf, partial, requests } = ship
  const { persist, note } = ship.session
  const { cluster, onWait, ttlMs, lookMs = FOLLOW_LOOK_MS } = options
  const index = stateIndexOf(naming, network)
  const { shared } = createShippedReader(db)
  const blocks = createBlocks(db)
  const changed = createChangedBlocks(db)
  /** One process locks the data folder: after a crash, its successor continues at once. */
  const id = `${hostname()} ${db.name} ${hashKeys(db).join('-')}`
  let lease: Lease | undefined
  let losing = new AbortController()
  let term = 0
  let sequence = 0
  let isMade = false
  /** Serial of the identities of indices that others know. */
  let publishedSerial: string | undefined

  /** Follows the process that writes: what it has shipped need not be stored here. */
  const follow = async (signal: AbortSignal) => {
    for (;;) {
      const holder = lease?.holder()
      onWait(holder)
      const state = holder === undefined ? undefined : await readState(cluster, index).catch(() => undefined)
      if (state) {
        const indices = await readIndices(cluster, index, state, known.serial()).catch(() => undefined)
        await note(() => {
          shelf.adopt(state)
          if (indices) known.adopt(indices)
        })
        publishing.known()
        ship.onProgress()
      }
      // The writer is known soon.
      await sleep(holder === undefined ? lookMs / 20 : lookMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
    }
  }

  /**
   * Highest block with the same hash in both: above it is another branch, or blocks unknown here.
   * `told` has the newest first. If blocks are known but none matches, returns the one below them.
   */
  const common = (told: readonly KnownBlock[]): number | undefined => {
    const known = told.filter(([number]) => blocks.hash(number) !== undefined)
    const same = known.find(([number, hash]) => blocks.hash(number) === hash)
    return same?.[0] ?? (known.length > 0 ? known.at(-1)![0] - 1 : undefined)
  }

  /** Adopts what another process shipped on the same chain. Returns whether it published all. */
  const takeOver = (
    state: SharedState | undefined,
    indices: PublishedIndices | undefined,
    greatest: number,
  ): boolean => {
    shelf.abandon()
    const isOthers = state !== undefined && state.term !== term
    const to = common(state?.blocks ?? [])
    const isShared = to !== undefined || state?.blocks.length === 0
    if (isOthers && isShared) {
      shelf.adopt(state)
      if (indices) known.adopt(indices)
      // The other process may have had other data of the same tokens.
      shelf.lose(undefined)
    }
    const first = Math.max(firstOfTerm(term), greatest)
    const isKnown = greatest <= shelf.batches() || (isShared && state?.committed === shelf.batches())
    // A shipping process publishes before its first document.
    const isUnused = state === undefined && greatest === 0
    if (isKnown) shelf.advance(first, isUnused)
    else shelf.meet(first)
    // What this process noted itself remains valid for it.
    if (isOthers && to !== undefined) shelf.rollback(to)
    // The other process may have had other scopes: for partial blocks, this store decides.
    if (!isKnown) shelf.lose(partial.ranges())
    else if (isOthers) for (const range of partial.ranges()) changed.add(range)
    shelf.follow(false)
    return isKnown
  }

  const tellIndices = async (state: SharedState, serial: string | undefined): Promise<boolean> => {
    if (serial === publishedSerial) return true
    const isPublished = await publishIndices(cluster, index, state, { serial, indices: known.all() })
    if (isPublished) publishedSerial = serial
    return isPublished
  }

  /** Publishes what may be shown from now on. */
  const publishState = () =>
    persist(async () => {
      const told = shared()
      const coverage = told.whole && { coverage: coverageIn({ db }) }
      const serial = known.serial()
      const state = { term, sequence: ++sequence, ...told, ...coverage, chainId: blocks.chainId(), indices: serial }
      if ((await tellIndices(state, serial)) && (await publish(cluster, index, state))) return
      losing.abort(new Error('another process has taken over'))
    })
  const publishing = createPublishing(publishState)

  return {
    /**
     * Waits until this process may write, and follows the other one until then. Resolves to the
     * greatest batch number that others wrote but did not publish; undefined if there is none.
     */
    async begin(signal: AbortSignal) {
      await note(() => shelf.follow(true))
      await persist(async () => {
        // Index creation queues at the cluster manager, which is slow if the cluster is in trouble.
        if (!isMade || (await readState(cluster, index)) === undefined) await makeStateIndex(cluster, index, naming)
        isMade = true
      })
      await lease?.release()
      losing = new AbortController()
      lease = createLease({ cluster, index, id, ttlMs, name: `${hostname()} (process ${process.pid})` })
      const followed = new AbortController()
      const following = follow(followed.signal)
      // Awaited below; avoids an unhandled rejection until then.
      following.catch(() => {})
      try {
        const { acquire } = lease
        term = await persist(() => acquire(signal))
      } finally {
        followed.abort()
        await following
      }
      onWait(undefined)
      const state = await persist(() => readState(cluster, index))
      // The last states of a crashed process may still arrive.
      sequence = state?.term === term ? state.sequence + IN_FLIGHT : 0
      // Rewritten documents use batch numbers as versions only, which are published before sending.
      const greatest = Math.max(await persist(requests.greatestBatch), state?.committed ?? 0)
      const indices = state && (await persist(() => readIndices(cluster, index, state, known.serial())))
      const isKnown = await note(() => takeOver(state, indices, greatest))
      publishedSerial = undefined
      await publishState()
      return isKnown ? undefined : greatest
    },
    /** Whether others know what may be shown, and how it is published. */
    publishing,
    /** Aborts when another process may write. */
    lost: () => AbortSignal.any([lease!.lost, losing.signal]),
    /** Lets another process take over without waiting. */
    end: async () => lease?.release(),
  }
}

export type Publishing = ReturnType<typeof createPublishing>

/** Whether other processes know what may be shown, and publishing them. */
const createPublishing = (send: () => Promise<void>) => {
  let isUnpublished = true
  let isPublishing = false
  let isOld = false
  const publishNow = async () => {
    isUnpublished = false
    isOld = false
    isPublishing = true
    try {
      await send()
    } catch (error) {
      isUnpublished = true
      throw error
    } finally {
      isPublishing = false
    }
  }
  return {
    publish: publishNow,
    /** Others have to be informed. */
    changed() {
      isUnpublished = true
    },
    /** Others are informed when there is nothing more to ship. */
    changedSlightly() {
      isOld = true
    },
    /** Others know already: this process adopted their state. */
    known() {
      isUnpublished = false
    },
    /** Publishes changes, if there are any. */
    publishChanges: async () => {
      if (isUnpublished) await publishNow()
    },
    isUnpublished: () => isUnpublished || isOld,
    /** Whether others know for certain. */
    isPublished: () => !isUnpublished && !isPublishing,
  }
}
