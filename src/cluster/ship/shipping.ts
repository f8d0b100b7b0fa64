import { createDocumentLocation, KEPT_AFTER_MS } from '../../engine/shipping/document-location.ts'
import { createJournal } from '../../engine/shipping/journal.ts'
import { createOffloadedReader } from '../../engine/shipping/restore-offloaded.ts'
import type { Writer } from '../../engine/writer.ts'
import { retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { type ClusterOptions, connect } from '../connection/cluster.ts'
import type { MovingReport } from './context.ts'
import { createShipper } from './shipper.ts'

export type Shipping = ReturnType<typeof createShipping>

export interface ShippingOptions {
  store: string
  db: Db
  writer: Writer
  network: string
  cluster: ClusterOptions
  /** Documents come back: nothing is removed from the store. */
  returning: boolean
  /** Bytes by which the store may grow before the cluster takes documents. */
  journalMax: number
  metrics: Metrics
  log: Log
  /** Called when there may be something to do. */
  wake(): void
  /** Called when the report has changed. */
  onReport(): void
  /** A segment is emptied that begins with this block: it may be merged with others. */
  onEmptied(first: number): void
  onFailure(error: unknown): void
}

/** Most time to catch up. */
const MOST_OWED_MS = 1_000

/** Work of the writing thread for a network whose documents go to a cluster. */
export const createShipping = (options: ShippingOptions) => {
  const {
    store,
    db,
    writer,
    network,
    cluster,
    returning,
    journalMax,
    metrics,
    log,
    wake,
    onReport,
    onEmptied,
    onFailure,
  } = options
  const journal = createJournal(db, journalMax)
  let trouble: string | null = null
  let troubleSince: string | null = null
  const { left, unverified } = createOffloadedReader(db)
  /** Whether there may be something to remove. */
  let mayEmpty = true
  let owed = 0
  const shipper = createShipper({
    ...{
      store,
      native: nativeBinding(),
      db,
      writer,
      network,
      options: cluster,
      cluster: connect(cluster),
      log,
      metrics,
      onFailure,
    },
    onReady: wake,
    onTrouble(why) {
      if (why === trouble) return
      troubleSince = why === null ? null : (troubleSince ?? new Date().toISOString())
      trouble = why
      onReport()
    },
    onProgress() {
      mayEmpty = true
      onReport()
      wake()
    },
    onRest() {
      // Searches may go to the cluster from now on.
      onReport()
      wake()
    },
    onMove: journal.begin,
  })
  const { since } = createDocumentLocation(db)
  /** False while the store answers searches, or may still be sending an answer. */
  const mayEmptyNow = () =>
    !returning && mayEmpty && Date.now() - (since() ?? Number.POSITIVE_INFINITY) >= KEPT_AFTER_MS
  const lag = metrics.gauge('chainsieve_cluster_blocks_left')

  const back = (): MovingReport => {
    const { blocks, emptied } = left()
    const shipped = blocks - emptied
    const { from = 0, to = -1 } = unverified() ?? {}
    return { to: 'sqlite', blocks, shipped, verified: Math.max(0, shipped - (to - from + 1)) }
  }
  const movingNow = (): MovingReport | null => {
    if (returning) return back()
    const moving = shipper.moving()
    return moving ? { to: 'opensearch', ...moving } : null
  }

  const empty = (): boolean => {
    const { more, first } = writer.empty()
    mayEmpty = more
    if (first !== undefined) onEmptied(first)
    else if (!more) writer.also(journal.noteLess)
    return more
  }
  const step = (): boolean => {
    if (!shipper.isReady()) return mayEmptyNow() && shipper.isPublished() && empty()
    shipper.turn()
    return true
  }
  return {
    /** Runs a step of a few milliseconds that ships or removes; returns whether there was work. */
    step() {
      const began = performance.now()
      const did = step()
      owed = did ? Math.max(0, owed - (performance.now() - began)) : owed
      return did
    },
    /** Whether it has to catch up: then it gets as much time as what is written. */
    owes: () => owed > 0,
    /** Other work took this many milliseconds. */
    spent(ms: number) {
      owed = Math.min(MOST_OWED_MS, owed + ms)
    },
    wrote(first: number, isHead: boolean) {
      mayEmpty = true
      shipper.wrote(first, isHead)
    },
    /** Blocks were looked at for scopes. */
    looked: shipper.looked,
    /** Blocks above this one were removed. */
    removed: shipper.removed,
    patch: shipper.patch,
    /** Why no further blocks are written for now. */
    full: () =>
      !returning && since() !== undefined && journal.isFull()
        ? retry(
            'journal_full',
            `the store holds ${Math.round(journalMax / 1e6)} MB of documents that are not in the cluster${trouble === null ? '' : `, since ${trouble}`}: ` +
              'indexing continues by itself when the cluster has taken some',
          )
        : undefined,
    /** Whether all is done. */
    isDone: () => shipper.isResting() && !mayEmptyNow(),
    report() {
      const blocksLeft = shipper.lag()
      lag.set({}, blocksLeft)
      return { blocksLeft, trouble, troubleSince, moving: movingNow() }
    },
    close: shipper.close,
  }
}
