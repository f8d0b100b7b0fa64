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
  /** Which process writes, where it is another one. */
  onWait(holder: string | undefined): void
  ttlMs?: number
  /** Time between two looks at what the one that writes tells. */
  lookMs?: number
}

const FOLLOW_LOOK_MS = 2_000
/** States of a process that may still be on their way when it has ended: one for each time that it tried. */
const IN_FLIGHT = 2 ** 16

/** Coordinates the processes that share a network's documents: which one writes, and what may be shown. */
export const createSharing = (ship: Omit<ShipContext, 'publishing'>, options: SharingOptions) => {
  const { db, naming, network, known, shelf, partial, requests } = ship
  const { persist, note } = ship.session
  const { cluster, onWait, ttlMs, lookMs = FOLLOW_LOOK_MS } = options
  const index = stateIndexOf(naming, network)
  const { shared } = createShippedReader(db)
  const blocks = createBlocks(db)
  const changed = createChangedBlocks(db)
  /** The data folder is locked by one process: after a crash the next one on it goes on at once. */
  const id = `${hostname()} ${db.name} ${hashKeys(db).join('-')}`
  let lease: Lease | undefined
  let losing = new AbortController()
  let term = 0
  let sequence = 0
  let isMade = false
  /** Of the identities of indices, as others know them. */
  let publishedSerial: string | undefined

  /** Follows the one that writes: what it has shipped need not be held here. */
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
      // Who writes is known soon.
      await sleep(holder === undefined ? lookMs / 20 : lookMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
    }
  }

  /**
   * The highest block that both know as the same: above it is another branch, or what this process has yet to see. The newest is told
   * first. Where it knows some of them and no one as the same, that is below all it knows.
   */
  const common = (told: readonly KnownBlock[]): number | undefined => {
    const known = told.filter(([number]) => blocks.hash(number) !== undefined)
    const same = known.find(([number, hash]) => blocks.hash(number) === hash)
    return same?.[0] ?? (known.length > 0 ? known.at(-1)![0] - 1 : undefined)
  }

  /** What another process shipped counts as far as its chain is this one's. Whether all of it is told of. */
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
      // Of the same tokens the other one may have known something else.
      shelf.lose(undefined)
    }
    const first = Math.max(firstOfTerm(term), greatest)
    const isKnown = greatest <= shelf.batches() || (isShared && state?.committed === shelf.batches())
    // Who ships tells so before the first document.
    const isUnused = state === undefined && greatest === 0
    if (isKnown) shelf.advance(first, isUnused)
    else shelf.meet(first)
    // What this process noted itself counts for it anyway.
    if (isOthers && to !== undefined) shelf.rollback(to)
    // Other scopes may have been those of the other process: of parts of blocks its own store has the last word.
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
     * Waits until this process may write; until then it goes by what the other one tells. Resolves to the greatest number of a batch that others
     * wrote and did not tell of; undefined where there is none.
     */
    async begin(signal: AbortSignal) {
      await note(() => shelf.follow(true))
      await persist(async () => {
        // It takes its turn in the node that leads the cluster, which may be long while the cluster is in trouble.
        if (!isMade || (await readState(cluster, index)) === undefined) await makeStateIndex(cluster, index, naming)
        isMade = true
      })
      await lease?.release()
      losing = new AbortController()
      lease = createLease({ cluster, index, id, ttlMs, name: `${hostname()} (process ${process.pid})` })
      const followed = new AbortController()
      const following = follow(followed.signal)
      // It is waited for when the lease is there, or when that fails for the same reason.
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
      // What a process that crashed told last may still arrive.
      sequence = state?.term === term ? state.sequence + IN_FLIGHT : 0
      // Documents that were written anew have numbers of batches as their versions alone, which are told before they are sent.
      const greatest = Math.max(await persist(requests.greatestBatch), state?.committed ?? 0)
      const indices = state && (await persist(() => readIndices(cluster, index, state, known.serial())))
      const isKnown = await note(() => takeOver(state, indices, greatest))
      publishedSerial = undefined
      await publishState()
      return isKnown ? undefined : greatest
    },
    /** Whether others know what may be shown, and how they are told. */
    publishing,
    /** Aborts when another process may write. */
    lost: () => AbortSignal.any([lease!.lost, losing.signal]),
    /** Another process need not wait until this one counts as gone. */
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
    /** They have to be told. */
    changed() {
      isUnpublished = true
    },
    /** They are to be told when there is nothing more to ship. */
    changedSlightly() {
      isOld = true
    },
    /** They know: what this process has is what it was told. */
    known() {
      isUnpublished = false
    },
    /** Tells what changed, if anything did. */
    publishChanges: async () => {
      if (isUnpublished) await publishNow()
    },
    isUnpublished: () => isUnpublished || isOld,
    /** Whether they know for certain. */
    isPublished: () => !isUnpublished && !isPublishing,
  }
}
