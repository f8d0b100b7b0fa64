import { createBlocks } from '../../engine/blocks.ts'
import { openDocuments } from '../../engine/reader.ts'
import { createLocationWriter } from '../../engine/shipping/document-location.ts'
import { createIndexIdentities } from '../../engine/shipping/index-identities.ts'
import { createPartialBlocks } from '../../engine/shipping/partial-blocks.ts'
import { createShippedReader } from '../../engine/shipping/shipped-ranges.ts'
import { createDocumentLines } from '../../engine/show/document-stream.ts'
import type { Writer } from '../../engine/writer.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { type Bulk, createBulk } from '../bulk/bulk.ts'
import { createBulkPace } from '../bulk/pace.ts'
import type { Cluster, ClusterOptions } from '../connection/cluster.ts'
import { retryBusy } from '../connection/expect-ok.ts'
import { createIndices, type Indices } from '../indices/indices.ts'
import { createBacklog } from './backlog.ts'
import { createShipBatches } from './batches.ts'
import { createIndexComparison } from './compare-index.ts'
import { type ShipContext, sweep } from './context.ts'
import { createLeaseSession } from './lease-session.ts'
import { createMoving, type Moving } from './moving.ts'
import { createPatching, createRenewing } from './patching.ts'
import { createRepair } from './repair.ts'
import { createShipRequests } from './requests.ts'
import { createSending } from './sending.ts'
import { createSharing } from './sharing.ts'

export type Shipper = ReturnType<typeof createShipper>

interface ShipperOptions {
  /** File of the store. */
  store: string
  native: string | undefined
  db: Db
  writer: Pick<Writer, 'also' | 'shelf'>
  network: string
  cluster: Cluster
  options: ClusterOptions
  log: Log
  /** Bounds of the first wait after a failure, and of the longest. */
  waits?: { baseMs: number; capMs: number }
  /** Time without renewals after which a process counts as gone; interval of reading its state. */
  sharing?: { ttlMs?: number; lookMs?: number }
  /** Bytes from which on a batch takes no further block. */
  batchBytes?: number
  metrics: Metrics
  /** Called when it begins to wait for a turn. */
  onReady(): void
  /** Why nothing can be shipped for now; null when it can. */
  onTrouble(why: string | null): void
  /** Called in the transaction that directs searches to the cluster. */
  onMove?(): void
  /** Called when blocks have been shipped. */
  onProgress(): void
  /** Called when there is nothing more to do for now. */
  onRest(): void
  /** Called when it cannot continue without the operator. */
  onFailure(error: unknown): void
}

const SHIP_WAITS = { baseMs: 250, capMs: 10_000 }
/** Intervals of checking for removals and indices: normally, and while indices are lost. */
const [LOOK_MS, LACKING_MS] = [30_000, 5_000]

/**
 * Ships the documents of a store to a cluster, batch by batch: a batch is sent, searches of the
 * cluster see it, and then the store notes its blocks in one transaction. Runs in the writing
 * thread, a few milliseconds per turn.
 */
export const createShipper = (options: ShipperOptions) => {
  const { store, native, db, writer, network, cluster, options: naming, waits = SHIP_WAITS, log, metrics } = options
  const { onReady, onTrouble, onProgress, onRest, onMove = () => {}, onFailure } = options
  const { shelf } = writer
  const closing = new AbortController()
  const { signal } = closing
  const reader = openDocuments(store, native)
  const stored = createBlocks(db)
  const known = createIndexIdentities(db)
  const session = createLeaseSession({ signal, waits, also: writer.also, onReady, onTrouble })
  /** Outlives sessions: a slow cluster remains slow. */
  const pace = createBulkPace(waits)
  const newBulk = (): Bulk => createBulk(cluster, { signal: session.signal(), onTrouble, pace })
  let current = newBulk()

  const parts = {
    ...{ network, naming, db, reader, lines: createDocumentLines(reader), visible: createShippedReader(db).visible },
    ...{ shelf, known, partial: createPartialBlocks(db), session, bulk: () => current, onProgress, metrics, log },
    requests: createShipRequests(cluster, naming, network, session.signal),
  }
  const sharing = createSharing(parts, {
    ...{ ...options.sharing, cluster },
    onWait: holder => onTrouble(holder === undefined ? null : `${holder} writes the documents of ${network}`),
  })
  const { publishing } = sharing
  const ship: ShipContext = { ...parts, publishing }
  const rest = createRest(onRest)
  const due = createBacklog(ship, stored.ranges)
  const moving = createMoving(ship, due.ranges, onMove)
  const patching = createPatching(ship, stored.hash, rest.end)
  const indices = createIndices(retryBusy(cluster), naming, network, log, known.of)
  const steps = createShipSteps(ship, { indices, due, moving, patching, rest, batchBytes: options.batchBytes })

  let isPrepared = false

  /** Runs until another process may write. */
  const shipAll = async () => {
    for (let failures = 1; ; failures++) {
      current = newBulk()
      try {
        // Templates queue at the cluster manager: losing only the lease does not repeat them.
        if (!isPrepared) await session.persist(indices.prepare)
        isPrepared = true
        await steps.lookForLost()
        for (;;) {
          session.signal().throwIfAborted()
          await steps.once()
          failures = 1
        }
      } catch (error) {
        // For example, an index is gone: the part of the batch that was sent counts for nothing.
        if (!session.mayPass(error)) throw error
        isPrepared = false
        onTrouble(error.message)
        await session.pause(failures)
        await steps.giveUp()
        await session.note(shelf.abandon)
      }
    }
  }

  const work = async () => {
    for (;;) {
      session.renew()
      publishing.changed()
      const met = await sharing.begin(signal)
      await session.note(createLocationWriter(db).renew)
      if (met) log.warn('The cluster holds what a newer copy of the store wrote, which is removed', { batch: met })
      session.renew(sharing.lost())
      session.signal().addEventListener('abort', rest.end, { once: true })
      try {
        await shipAll()
      } catch (error) {
        if (signal.aborted || !session.signal().aborted) throw error
        log.warn('Stopped shipping documents, and begins again when it holds the lease of the cluster', {
          why: messageOf(session.signal().reason),
        })
      } finally {
        await steps.giveUp()
      }
    }
  }

  // Batches that were in progress when the program ended are abandoned.
  writer.also(() => {
    shelf.abandon()
    createLocationWriter(db).begin()
  })
  const ended = work().catch(error => {
    if (!signal.aborted) onFailure(error)
  })

  return {
    /** Whether it waits for a turn. */
    isReady: session.turns.isReady,
    /** Gives it a turn: what it does then is done before the next timer. */
    turn: session.turns.give,
    /** Blocks were written; those of the head go before others. */
    wrote(first: number, isHead: boolean) {
      due.wrote(first, isHead)
      rest.end()
    },
    /** Blocks were looked at for scopes. */
    looked() {
      publishing.changedSlightly()
      rest.end()
    },
    /** Blocks above this one were removed. */
    removed(to: number) {
      moving.removed(to)
      publishing.changed()
      rest.end()
    },
    /** Whether all that is stored is there, and nothing is to be removed now. */
    isResting: rest.isResting,
    /** Whether others know what was shipped: a successor ships the rest from its own store. */
    isPublished: publishing.isPublished,
    /** Progress of moving the store to the cluster; undefined if searches go there. */
    moving: moving.report,
    /** Writes documents in place of some that are there. */
    patch: patching.patch,
    /** Number of stored blocks that are not shipped yet. */
    lag: due.count,
    /** Ends at once: work in progress starts again at the next start. */
    async close() {
      closing.abort()
      session.turns.give()
      rest.end()
      await ended
      await sharing.end()
      reader.close()
      await cluster.close()
    },
  }
}

/** Waits while there is nothing to do. */
const createRest = (onRest: () => void) => {
  let resting: PromiseWithResolvers<void> | undefined
  const end = () => {
    resting?.resolve()
    resting = undefined
  }
  return {
    end,
    isResting: () => resting !== undefined,
    async begin(ms: number) {
      resting = Promise.withResolvers()
      const { promise } = resting
      const timer = setTimeout(end, ms)
      onRest()
      await promise
      clearTimeout(timer)
    },
  }
}

interface StepsOptions {
  indices: Indices
  due: ReturnType<typeof createBacklog>
  moving: Moving
  patching: ReturnType<typeof createPatching>
  rest: ReturnType<typeof createRest>
  batchBytes: number | undefined
}

/** Steps of shipping, run in turn while this process may write. */
const createShipSteps = (ship: ShipContext, { indices, due, moving, patching, rest, batchBytes }: StepsOptions) => {
  const { shelf, publishing } = ship
  const send = createSending(ship)
  const batches = createShipBatches(ship, { send, ensure: block => mending.ensure(block), batchBytes })
  const mending = createRepair(ship, indices, createIndexComparison(ship, batches.settled))
  const renewing = createRenewing(ship, send, batches)
  let lookedAt = 0

  /** Rewrites shipped documents if any are due; returns whether there were. */
  const writeAgain = async (): Promise<boolean> => {
    if (!patching.isDue() && !renewing.isDue()) return false
    await batches.settled()
    return (await patching.step()) || (await renewing.step())
  }
  const lookMs = () => (mending.isLacking() ? LACKING_MS : LOOK_MS)
  const lookForLost = async () => {
    lookedAt = performance.now()
    await mending.mend()
  }

  return {
    lookForLost,
    async once() {
      if (mending.isDue() || performance.now() - lookedAt > lookMs()) await lookForLost()
      if (await writeAgain()) return
      const next = due.next(batches.underWay())
      // The batch in progress may complete the work.
      if (!next) await batches.settled()
      const isBehind = next !== undefined || shelf.hasChangedTokens()
      if (isBehind) await batches.ship(next?.run, next?.givesWay)
      const hasSwept = await sweep(ship, batches.settled)
      const isMoving = await moving.step()
      // More work may have arrived during these steps.
      if (isBehind || hasSwept || isMoving) return
      if (publishing.isUnpublished()) await publishing.publish()
      else await rest.begin(lookMs())
    },
    giveUp: batches.giveUp,
  }
}
