import { type AlertStore, createAlertStore } from '../../alerts/alert-store.ts'
import { createAlertPruning } from '../../alerts/marks.ts'
import type { SegmentBatch } from '../../engine/documents/batch.ts'
import { openForWriting } from '../../engine/open.ts'
import { createLocationWriter } from '../../engine/shipping/document-location.ts'
import { createWriter, type Writer } from '../../engine/writer.ts'
import { ChainsieveError, type TransferredError, toTransferredError } from '../../lib/errors.ts'
import { createThreadLog } from '../../lib/log.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import { createMetrics, type Metrics } from '../../metrics/index.ts'
import { keepPages, type WritableDb } from '../../sqlite/database.ts'
import { SQLITE_PAGE_BYTES } from '../../sqlite/wal.ts'
import type { FromWriter, ToWriter, WriterChange, WriterData } from '../messages.ts'
import type { RemoteStore } from '../remote.ts'
import {
  attemptStep,
  createWorkQueue,
  createWriterMaintenance,
  PRUNE_LOOK_MS,
  type QueuedChange,
} from './work-queue.ts'

const RETRY_MS = 2000
const WRITE_COUNT_MS = 1000
const WRITE_BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const OF_HEAD = 240
const DEFAULT_JOURNAL = 8e9
/** Log pages that trigger a copy while nothing waits. */
const IDLE_COPY_PAGES = 2 ** 22 / SQLITE_PAGE_BYTES

type RunningShipping = ReturnType<RemoteStore['startShipping']>

/** The only thread that writes a network's store; takes from one queue and ships in between. */
export const runWriter = (options: WriterData, remote?: RemoteStore) => {
  const { port, returning = false, journalMax = DEFAULT_JOURNAL } = options
  const { db, writer, alertStore, tell, log, answers, queue } = openWriter(options)
  const metrics = createMetrics()
  const countWrite = createWriteCounter(db, metrics)
  const files = watchFiles(db, { onLost: error => answers.failed(-1, error), onLook: () => wake() })
  let busy = false
  let closing = false
  let stopping = false
  let ended: Promise<void> | undefined
  let waiting: NodeJS.Timeout | undefined
  const report = atMostEvery(WRITE_COUNT_MS, () => {
    countWrite.checkpoints()
    if (shipping) tell({ type: 'shipping', shipping: shipping.report() })
    tell({ type: 'metrics', metrics: metrics.snapshot() })
  })

  /** Takes in new messages first, which may include one of the head. */
  const goOn = () => {
    busy = true
    setImmediate(next)
  }
  const next = () => {
    busy = false
    const lane = queue.next({ isStopping: stopping, isClosing: closing })
    if (lane === 'job') return goOn()
    const first = queue.first(lane)
    const full = first && !stopping && isBlocks(first) ? shipping?.full() : undefined
    if ((!first || full || shipping?.owes()) && shipSome()) return goOn()
    if (full) return answers.stuck(full)
    void write(queue.take(lane))
  }
  const shipSome = (): boolean => !closing && attemptStep(() => shipping?.step() === true)

  const write = async (change: QueuedChange | undefined) => {
    if (!change) {
      if (stopping || !shipping || shipping.isDone()) answers.shipped()
      if (closing) void close()
      return
    }
    busy = true
    const began = performance.now()
    let done: boolean
    try {
      done = change.type === 'verified' ? endReturn() : await performChange(change, writer, alertStore)
    } catch (error) {
      if (error instanceof ChainsieveError && error.next === 'retry' && !stopping) return writeAgain(change, error)
      answers.failed(change.id, error)
      return goOn()
    }
    const took = performance.now() - began
    if (queue.spend(change, took)) shipping?.spent(took)
    answers.done(change.id, done, took)
    countWrite.write(change, took)
    report()
    queue.addUnmerged(unmergedBy(change, done, shipping !== undefined))
    if (shipping) tellShipping(shipping, change)
    goOn()
  }
  const writeAgain = (change: QueuedChange, error: ChainsieveError) => {
    answers.stuck(error)
    queue.putBack(change)
    waiting = setTimeout(retryNow, error.retryAfterMs ?? RETRY_MS)
    busy = false
    wake()
  }
  const retryNow = () => {
    clearTimeout(waiting)
    waiting = undefined
    wake()
  }

  /** Marks returned documents as verified; after the last, the store answers and shipping ends. */
  const endReturn = (): boolean => {
    writer.verified()
    let isBack = false
    writer.also(() => {
      isBack = createLocationWriter(db).back()
    })
    if (!isBack) return false
    ended = shipping?.close()
    shipping = undefined
    tell({ type: 'shipping', shipping: null })
    // Segments awaiting offloading were not merged.
    queue.addUnmerged(writer.small(OF_HEAD))
    return true
  }

  const wake = () => {
    if (busy) return
    busy = true
    setImmediate(waiting ? shipOnly : next)
  }
  /** Ships while writing is impossible, which makes room. */
  const shipOnly = () => {
    if (!waiting) return next()
    if (shipSome()) return void setImmediate(shipOnly)
    busy = false
  }
  let shipping: RunningShipping | undefined = remote?.startShipping({
    ...{ db, writer, returning, journalMax, metrics, wake, log },
    onReport: report,
    onEmptied: first => queue.addUnmerged([first]),
    onFailure: answers.shippingFailed,
  })

  const close = async () => {
    busy = true
    files.end()
    await shipping?.close()
    await ended
    files.close()
    port.close()
  }

  port.on('message', (message: ToWriter) => {
    switch (message.type) {
      case 'close':
        closing = true
        break
      case 'ship':
        answers.whenShipped(message.id)
        break
      case 'stop':
        stopping = true
        answers.shipped()
        if (waiting) retryNow()
        break
      case 'patch':
        void Promise.resolve(shipping?.patch(message.lines)).then(done => answers.answer(message.id, done === true, 0))
        break
      default:
        for (const batch of batchesOf(message)) writer.receive(batch)
        if (message.type === 'revise') writer.receive(message.revision)
        queue.add(message)
    }
    wake()
  })
}

const openWriter = ({ store, port, cacheMb, network, remote }: WriterData) => {
  const db = openForWriting(store, nativeBinding())
  if (cacheMb !== undefined) keepPages(db, cacheMb)
  const writer = createWriter(db)
  // Without a remote store, documents are searched here.
  if (!remote) writer.also(createLocationWriter(db).back)
  const alertStore = createAlertStore(db)
  const tell = (message: FromWriter) => port.postMessage(message)
  const log = createThreadLog(tell)
  const answers = createWriterAnswers(tell, alertStore)
  const settle = () => {
    try {
      db.settle(IDLE_COPY_PAGES)
    } catch (error) {
      if (error instanceof ChainsieveError && error.next === 'retry') return
      answers.failed(-1, error)
    }
  }
  const queue = createWorkQueue({
    merge: writer.merge,
    settle,
    maintain: createWriterMaintenance({ store, writer, alerts: createAlertPruning(db), log: log.with({ network }) }),
    unmerged: remote ? [] : writer.small(),
  })
  return { db, writer, alertStore, tell, log, queue, answers }
}

const watchFiles = (
  db: Pick<WritableDb, 'checkFiles' | 'close'>,
  { onLost, onLook }: { onLost(error: unknown): void; onLook(): void },
) => {
  let areLost = false
  const timer = setInterval(() => {
    try {
      if (!areLost) db.checkFiles()
    } catch (error) {
      areLost = true
      onLost(error)
    }
    onLook()
  }, PRUNE_LOOK_MS).unref()
  return {
    end: () => clearInterval(timer),
    close() {
      try {
        db.close()
      } catch (error) {
        // Already reported.
        if (!areLost) throw error
      }
    },
  }
}

const createWriterAnswers = (tell: (message: FromWriter) => void, alerts: Pick<AlertStore, 'counts' | 'notes'>) => {
  let isStuck = false
  const shipped: number[] = []
  let broken: TransferredError | undefined
  const answer = (id: number, done: boolean, took: number) =>
    tell({ type: 'done', id, alerts: alerts.counts(), notes: alerts.notes(), done, took })
  const tellShipped = () => {
    for (const id of shipped.splice(0))
      if (broken) tell({ type: 'failed', id, failure: broken })
      else answer(id, true, 0)
  }
  return {
    answer,
    done(id: number, done: boolean, took: number) {
      if (isStuck) tell({ type: 'stuck', why: null })
      isStuck = false
      answer(id, done, took)
    },
    failed: (id: number, error: unknown) => tell({ type: 'failed', id, failure: toTransferredError(error) }),
    stuck({ message: why, code }: ChainsieveError) {
      if (!isStuck) tell({ type: 'stuck', why, code })
      isStuck = true
    },
    whenShipped(id: number) {
      shipped.push(id)
      if (broken) tellShipped()
    },
    shipped: tellShipped,
    shippingFailed(error: unknown) {
      broken = toTransferredError(error)
      tell({ type: 'failed', id: -1, failure: broken })
      tellShipped()
    },
  }
}

const isBlocks = ({ type }: QueuedChange): boolean => type === 'batch' || type === 'replace'

const batchesOf = (change: WriterChange): readonly SegmentBatch[] => {
  if (change.type === 'replace') return change.change.batches
  return change.type === 'batch' || change.type === 'restore' ? [change.batch] : []
}

/** Whether the target of the change still existed; for `forget`, whether nothing is left. */
const performChange = async (
  change: Exclude<QueuedChange, { type: 'verified' }>,
  writer: Writer,
  alerts: AlertStore,
): Promise<boolean> => {
  const stored = () => alerts.stored(('update' in change && change.update) || { hits: [] })
  switch (change.type) {
    case 'batch':
      await writer.apply(change.batch, stored)
      return true
    case 'update':
      await writer.also(stored)
      return true
    case 'rollback':
      await writer.rollback(change.to, () => alerts.retractAbove(change.to))
      return true
    case 'replace':
      return writer.replace(change.change, stored)
    case 'revise':
      return writer.revise(change.revision)
    case 'restore':
      return writer.restore(change.batch, change.segment)
    case 'forget':
      return !writer.forget(change.blocks, change.indices)
  }
}

const unmergedBy = (change: QueuedChange, done: boolean, isShipped: boolean): readonly number[] => {
  // Shipped batches are merged on offloading.
  if (change.type === 'batch' && isShipped) return []
  const batches = batchesOf(change)
  if (change.type !== 'replace') return batches.map(({ first }) => first)
  if (!done) return []
  // A merge from the start removes remnants of replaced segments.
  return batches.length === 0 && change.change.replaces.length > 0 ? [-1] : batches.map(({ first }) => first)
}

const tellShipping = (shipping: RunningShipping, change: QueuedChange) => {
  if (change.type === 'restore' || change.type === 'verified') return
  if (change.type === 'rollback') shipping.removed(change.to)
  if (change.type === 'replace') shipping.looked()
  if (change.type === 'batch') shipping.wrote(change.batch.first, change.lane === 'head')
  else shipping.wrote(Number.POSITIVE_INFINITY, false)
}

const createWriteCounter = ({ copied }: Pick<WritableDb, 'copied'>, metrics: Metrics) => {
  const writing = metrics.histogram('chainsieve_store_write_duration_seconds', WRITE_BOUNDS_S)
  const checkpoints = metrics.counter('chainsieve_store_checkpoints_total')
  const time = metrics.counter('chainsieve_store_checkpoint_seconds_total')
  let counted = { ...copied }
  return {
    write: ({ type }: QueuedChange, ms: number) => writing.observe({ what: type }, ms / 1_000),
    checkpoints() {
      checkpoints.add({}, copied.count - counted.count)
      time.add({}, copied.seconds - counted.seconds)
      counted = { ...copied }
    },
  }
}

const atMostEvery = (ms: number, run: () => void) => {
  let ranAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const once = () => {
    timer = undefined
    ranAt = performance.now()
    run()
  }
  return () => {
    const left = ranAt + ms - performance.now()
    if (left <= 0) return once()
    if (!timer) timer = setTimeout(once, left).unref()
  }
}
