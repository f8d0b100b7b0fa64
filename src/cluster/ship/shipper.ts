import { createBlocks } from '../../engine/blocks.ts'
import { openDocuments } from '../../engine/reader.ts'
import { createMoveWriter } from '../../engine/shipping/document-location.ts'
import { createKnownIndices } from '../../engine/shipping/index-identities.ts'
import { createPartialBlocks } from '../../engine/shipping/partial-blocks.ts'
import { createShelfReader } from '../../engine/shipping/shipped-ranges.ts'
import { createDocumentLines } from '../../engine/show/lines.ts'
import type { Writer } from '../../engine/writer.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../lib/metrics.ts'
import type { Db } from '../../sqlite/database.ts'
import { type Bulk, createBulk } from '../bulk/bulk.ts'
import { createPace } from '../bulk/pace.ts'
import type { Cluster } from '../connection/cluster.ts'
import { patient } from '../connection/expect-ok.ts'
import type { ClusterOptions } from '../connection/options.ts'
import { createIndices } from '../indices/indices.ts'
import { createDueBlocks } from './backlog.ts'
import { createBatches } from './batches.ts'
import { type ShipContext, sweep } from './context.ts'
import { createTenure } from './lease-session.ts'
import { createMoving } from './moving.ts'
import { createPatching, createRenewing } from './patching.ts'
import { createTelling } from './publish-state.ts'
import { createMending } from './repair.ts'
import { createShipRequests } from './requests.ts'
import { createRestoring } from './restoring.ts'
import { createSending } from './sending.ts'
import { createSharing } from './sharing.ts'

export type Shipper = ReturnType<typeof createShipper>

export interface ShipperOptions {
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
  /** How long another process counts as there that does not renew its lease, and the time between two looks at what it tells. */
  sharing?: { ttlMs?: number; lookMs?: number }
  /** Bytes from which on a batch takes no further block. */
  batchBytes?: number
  metrics: Metrics
  /** Called when it begins to wait for a turn. */
  onReady(): void
  /** Why nothing can be shipped for now; null when it can. */
  onTrouble(why: string | null): void
  /** Called in the transaction from which on searches go to the cluster. */
  onMove?(): void
  /** Called when blocks came to be there. */
  onProgress(): void
  /** Called when there is nothing more to do for now. */
  onRest(): void
  /** It cannot go on without the operator. */
  onFailure(error: unknown): void
}

const WAITS = { baseMs: 250, capMs: 10_000 }
/** Time between two looks at what is to be removed again, and at indices; and while some are lost. */
const [LOOK_MS, LACKING_MS] = [30_000, 5_000]

/**
 * Ships what a store holds to a cluster, one batch after the other: documents are shown as JSON, sent, and seen by searches of the cluster; then the store notes
 * in one transaction that these blocks are there. It works in the thread that writes, a few milliseconds at a time, when that thread gives it a turn.
 */
export const createShipper = (options: ShipperOptions) => {
  const { store, native, db, writer, network, cluster, options: naming, waits = WAITS, log, metrics } = options
  const { onReady, onTrouble, onProgress, onRest, onMove = () => {} } = options
  const { shelf } = writer
  const closing = new AbortController()
  const { signal } = closing
  const reader = openDocuments(store, native)
  const lines = createDocumentLines(reader)
  const { visible } = createShelfReader(db)
  const { ranges: wholeRanges, hash: hashOf } = createBlocks(db)
  const partial = createPartialBlocks(db)
  const requests = createShipRequests(cluster, naming, network, () => tenure.signal())
  const known = createKnownIndices(db)
  const indices = createIndices(patient(cluster), naming, network, log, known.of)
  const tenure = createTenure({ signal, waits, also: writer.also, onReady, onTrouble })
  const { persist, note } = tenure
  /** What was learnt of a slow cluster holds, whatever begins again. */
  const pace = createPace(waits)
  const newBulk = (): Bulk => createBulk(cluster, { signal: tenure.signal(), onTrouble, pace })
  let current = newBulk()
  const bulk = () => current
  let wake = () => {}
  let isResting = false
  let isPrepared = false
  let lookedAt = 0

  const parts = { network, naming, db, reader, lines, visible, shelf, known, partial, requests, bulk, tenure }
  const sharing = createSharing(
    { ...parts, onProgress, metrics, log },
    {
      ...options.sharing,
      cluster,
      onWait: holder => onTrouble(holder === undefined ? null : `${holder} writes the documents of ${network}`),
      onAdopt() {
        telling.known()
        onProgress()
      },
    },
  )
  const telling = createTelling(sharing.tell)
  const ship: ShipContext = { ...parts, telling, onProgress, metrics, log }
  const due = createDueBlocks(ship, wholeRanges)
  const send = createSending(ship)
  const batches = createBatches(ship, { send, ensure: block => mending.ensure(block), batchBytes: options.batchBytes })
  const mending = createMending(ship, indices, createRestoring(ship, batches.settled))
  const moving = createMoving(ship, due.ranges, onMove)
  const patching = createPatching(ship, hashOf, () => {
    isResting = false
    wake()
  })
  const renewing = createRenewing(ship, send, batches)

  /** Writes anew what is there, if anything is due; whether there was. */
  const writeAnew = async (): Promise<boolean> => {
    if (!patching.isDue() && !renewing.isDue()) return false
    await batches.settled()
    return (await patching.step()) || (await renewing.step())
  }

  const lookMs = () => (mending.isLacking() ? LACKING_MS : LOOK_MS)
  const lookForLost = async () => {
    lookedAt = performance.now()
    await mending.mend()
  }

  const once = async () => {
    if (mending.isDue() || performance.now() - lookedAt > lookMs()) await lookForLost()
    if (await writeAnew()) return
    const next = due.next(batches.underWay())
    // It may bring all that is left to do.
    if (!next) await batches.settled()
    const isBehind = next !== undefined || shelf.hasChangedTokens()
    if (isBehind) await batches.ship(next?.run, next?.givesWay)
    const hasSwept = await sweep(ship, batches.settled)
    const isMoving = await moving.step()
    // Where anything was waited for, there may be more by now.
    if (isBehind || hasSwept || isMoving) return
    if (telling.isUntold()) await telling.tell()
    else await rest()
  }

  /** Until another process may write. */
  const shipAll = async () => {
    for (let failures = 1; ; failures++) {
      current = newBulk()
      try {
        // Each template takes its turn in the node that leads the cluster: who only held the lease for a while does not wait for that again.
        if (!isPrepared) await persist(indices.prepare)
        isPrepared = true
        await lookForLost()
        for (;;) {
          tenure.signal().throwIfAborted()
          await once()
          failures = 1
        }
      } catch (error) {
        // An index is gone, say: what was sent of the batch counts for nothing.
        if (!tenure.mayPass(error)) throw error
        isPrepared = false
        onTrouble(error.message)
        await tenure.pause(failures)
        await batches.giveUp()
        await note(() => shelf.abandon())
      }
    }
  }

  const work = async () => {
    for (;;) {
      tenure.renew()
      telling.changed()
      const met = await sharing.begin(signal)
      await note(createMoveWriter(db).renew)
      if (met) log.warn('The cluster holds what a newer copy of the store wrote, which is removed', { batch: met })
      tenure.renew(sharing.lost())
      tenure.signal().addEventListener('abort', () => wake(), { once: true })
      try {
        await shipAll()
      } catch (error) {
        if (signal.aborted || !tenure.signal().aborted) throw error
        log.warn('Stopped shipping documents, and begins again when it holds the lease of the cluster', {
          why: messageOf(tenure.signal().reason),
        })
      } finally {
        await batches.giveUp()
      }
    }
  }

  const rest = async () => {
    isResting = true
    const timer = setTimeout(() => wake(), lookMs())
    await new Promise<void>(resolve => {
      wake = resolve
      onRest()
    })
    clearTimeout(timer)
    isResting = false
  }

  // Nobody goes on with what was under way when the program ended.
  writer.also(() => {
    shelf.abandon()
    createMoveWriter(db).begin()
  })
  const ended = work().catch(error => {
    if (!signal.aborted) options.onFailure(error)
  })

  return {
    /** Whether it waits for a turn. */
    isReady: tenure.turns.isReady,
    /** Gives it a turn: what it does then is done before the next timer. */
    turn: tenure.turns.give,
    /** Blocks were written; those of the head go before others. */
    wrote(first: number, isHead: boolean) {
      due.wrote(first, isHead)
      isResting = false
      wake()
    },
    /** Blocks were looked at for scopes. */
    looked() {
      telling.changedALittle()
      isResting = false
      wake()
    },
    /** Blocks above this one were removed. */
    removed(to: number) {
      moving.removed(to)
      telling.changed()
      wake()
    },
    /** Whether all that is stored is there, and nothing is to be removed now. */
    isResting: () => isResting,
    /** Whether others know what is there: whoever takes over ships the rest from a store of its own, and this one has to be able to do the same. */
    isTold: telling.isTold,
    /** How moving the store to the cluster goes on; undefined where searches go there. */
    moving: moving.report,
    /** Writes documents in place of some that are there. */
    patch: patching.patch,
    /** How many stored blocks are not there. */
    lag: due.count,
    /** Ends at once: what is under way is begun again at the next start. */
    async close() {
      closing.abort()
      tenure.turns.give()
      wake()
      await ended
      await sharing.end()
      reader.close()
      await cluster.close()
    },
  }
}
