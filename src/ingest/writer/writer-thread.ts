import { createAlertStore } from '../../alerts/alert-store.ts'
import { createAlertPruning } from '../../alerts/marks.ts'
import { createShipping, type Shipping } from '../../cluster/ship/shipping.ts'
import { createMoveWriter } from '../../engine/moved.ts'
import { openForWriting } from '../../engine/open.ts'
import { createWriter } from '../../engine/writer.ts'
import { ChainsieveError } from '../../lib/errors.ts'
import { type Failure, toFailure } from '../../lib/failure.ts'
import { createMetrics, type Metrics } from '../../lib/metrics.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import { createThreadLog } from '../../lib/thread-log.ts'
import { keepPages, type WritableDb } from '../../sqlite/database.ts'
import type { Change, FromWriter, LaneName, ToWriter, WriterData } from '../messages.ts'
import { createShares } from './lane-shares.ts'
import { createPruner, LOOK_MS } from './pruner.ts'

type Task = Change & { id: number }

const RETRY_MS = 2000
const COUNT_MS = 1000
const BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
/**
 * Blocks of the head go before merging, but not for ever: a store of many small segments is slow to search. From so many on, some steps go
 * before each block; from the other number on, no block goes.
 */
const MANY_UNMERGED = 16
const MAX_UNMERGED = 256
const STEPS = 8

/** The one thread that writes a network's store. What comes of the head and what waits of a back-fill share its time. */
export const runWriter = (options: WriterData) => {
  const { store, port, cacheMb, network, cluster, returning = false, journalMax = DEFAULT_JOURNAL } = options
  const db = openForWriting(store, nativeBinding())
  if (cacheMb !== undefined) keepPages(db, cacheMb)
  const writer = createWriter(db)
  // Documents that no cluster is sent any more are searched here.
  if (!cluster) writer.also(createMoveWriter(db).back)
  const alertStore = createAlertStore(db)
  const tasks: Record<'head' | 'fill', Task[]> = { head: [], fill: [] }
  /** Blocks around which there may be segments to merge. The oldest goes first: then none are left behind that are too few to merge. */
  const unmerged = cluster ? [] : writer.small()
  const shares = createShares()
  /** Steps of merging since the last task. */
  let steps = 0
  let busy = false
  let closing = false
  let stopping = false
  let stuck = false
  /** Whether its files are no longer those that are open. */
  let lost = false
  /** Resolves when shipping has ended that is not needed any more. */
  let ended: Promise<void> | undefined
  let waiting: NodeJS.Timeout | undefined
  const tell = (message: FromWriter) => port.postMessage(message)
  const log = createThreadLog(tell)
  const pruner = createPruner({ store, writer, alerts: createAlertPruning(db), log: log.with({ network }) })
  /** Pruning and what else waits take turns. */
  let pruned = false
  let isModern = false

  const metrics = createMetrics()
  const writing = metrics.histogram(
    'chainsieve_store_write_duration_seconds',
    'Time of a write transaction: of blocks, of a rollback, of matches.',
    BOUNDS_S,
  )
  const countCheckpoints = createCheckpointCounter(db, metrics)
  const count = atMostEvery(COUNT_MS, () => {
    countCheckpoints()
    if (shipping) tell({ type: 'shipping', shipping: shipping.report() })
    tell({ type: 'metrics', metrics: metrics.snapshot() })
  })

  /** Numbers of those who wait until all is shipped. */
  const waitingForShipping: number[] = []
  /** Why nothing will be shipped any more. */
  let broken: Failure | undefined
  const tellShipped = () => {
    for (const id of waitingForShipping.splice(0))
      tell(
        broken ? { type: 'failed', id, failure: broken } : { type: 'done', id, alerts: alertStore.counts(), ...DONE },
      )
  }

  const next = () => {
    busy = false
    const isLate = unmerged.length >= (steps < STEPS ? MANY_UNMERGED : MAX_UNMERGED)
    const lane = isLate ? undefined : nextLane()
    if (!lane && unmerged.length > 0) {
      busy = true
      steps++
      mergeSome()
      return void setImmediate(next)
    }
    if (!lane && (!pruned || tasks.fill.length === 0) && pruneSome()) {
      busy = true
      pruned = true
      return void setImmediate(next)
    }
    pruned = false
    const task = tasks[lane ?? 'fill'][0]
    const full = task && !stopping && isBlocks(task) ? shipping?.full() : undefined
    if ((!task || full || shipping?.owes()) && shipSome()) {
      busy = true
      return void setImmediate(next)
    }
    if (full) return tellStuck(full)
    steps = 0
    void take(tasks[lane ?? 'fill'].shift())
  }

  /** Undefined where nothing waits of the head: then merging goes before a back-fill. */
  const nextLane = (): LaneName | undefined => {
    if (tasks.head.length === 0) return undefined
    // Changes of rules and reorganisations apply to everything that is written after them.
    const isPlain = tasks.fill.length > 0 && tasks.head.every(({ type }) => type === 'batch')
    return isPlain ? shares.next() : 'head'
  }

  /** One step of what goes on beside tasks; whether there may be more to do. What is refused for now is tried again later. */
  const step = (run: () => boolean): boolean => {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof ChainsieveError && error.next === 'retry')) throw error
      return false
    }
  }
  const shipSome = (): boolean => !closing && step(() => shipping?.step() === true)
  const pruneSome = (): boolean => !closing && !stopping && step(() => pruner.step() || modernizeSome())
  /** What waits for a block waits for nothing else: segments are merged when it is told of. What cannot be merged now is tried with a later block. */
  const mergeSome = () => {
    if (stopping || !step(() => writer.merge(unmerged[0]!))) unmerged.shift()
  }

  const take = async (task: Task | undefined) => {
    if (!task) {
      if (stopping || !shipping || shipping.isDone()) tellShipped()
      if (closing) void close()
      return
    }
    busy = true
    const began = performance.now()
    let done: boolean
    try {
      done = await perform(task)
    } catch (error) {
      if (error instanceof ChainsieveError && error.next === 'retry' && !stopping) return again(task, error)
      tell({ type: 'failed', id: task.id, failure: toFailure(error) })
      return void setImmediate(next)
    }
    shares.spend(laneOf(task), performance.now() - began)
    // The head does not wait, unless it takes all of the time.
    if (laneOf(task) === 'fill' || tasks.head.length >= MANY_OF_HEAD) shipping?.spent(performance.now() - began)
    if (stuck) tell({ type: 'stuck', why: null })
    stuck = false
    const took = performance.now() - began
    tell({ type: 'done', id: task.id, alerts: alertStore.counts(), done, took })
    writing.observe({ what: task.type }, took / 1_000)
    count()
    if (task.type === 'restore') unmerged.push(task.batch.first)
    if (task.type === 'restore' || task.type === 'verified') return void setImmediate(next)
    if (shipping) wroteFor(shipping, task)
    if (task.type === 'batch') {
      // Those that go to a cluster are merged when they are emptied.
      if (!shipping) unmerged.push(task.batch.first)
    } else if (task.type === 'replace' && done) {
      const { batches, replaces } = task.change
      for (const { first } of batches) unmerged.push(first)
      // What is left of them is removed as well.
      if (batches.length === 0 && replaces.length > 0) unmerged.push(-1)
    }
    // Messages that came meanwhile are taken in first: one of the head may be among them.
    setImmediate(next)
  }

  /** Until there is nothing more to do. */
  const modernizeSome = (): boolean => {
    if (isModern) return false
    isModern = !writer.modernize()
    return !isModern
  }

  /** Whether what the change is for was still there. For `verified` and `forget`: whether there is nothing left to do. */
  const perform = async (task: Task): Promise<boolean> => {
    const stored = () => alertStore.stored(('update' in task && task.update) || { hits: [] })
    switch (task.type) {
      case 'batch':
        await writer.apply(task.batch, stored)
        return true
      case 'update':
        await writer.also(stored)
        return true
      case 'rollback':
        await writer.rollback(task.to, () => alertStore.removed(task.to))
        return true
      case 'replace':
        return writer.replace(task.change, stored)
      case 'revise':
        return writer.revise(task.revision)
      case 'restore':
        return writer.restore(task.batch, task.segment)
      case 'verified':
        return endReturn()
      case 'forget':
        return !writer.forget(task.blocks, task.indices)
    }
  }

  /** What came back was compared. When all did, the store answers, and nothing is shipped any more. */
  const endReturn = (): boolean => {
    writer.verified()
    let isBack = false
    writer.also(() => {
      isBack = createMoveWriter(db).back()
    })
    if (!isBack) return false
    ended = shipping?.close()
    shipping = undefined
    tell({ type: 'shipping', shipping: null })
    // What was to be emptied was not merged.
    unmerged.push(...writer.small(OF_HEAD))
    return true
  }

  const patch = async ({ id, lines }: Extract<ToWriter, { type: 'patch' }>) => {
    const done = shipping !== undefined && (await shipping.patch(lines))
    tell({ type: 'done', id, alerts: alertStore.counts(), done, took: 0 })
  }

  const again = (task: Task, error: ChainsieveError) => {
    tellStuck(error)
    tasks[laneOf(task)].unshift(task)
    waiting = setTimeout(goOn, error.retryAfterMs ?? RETRY_MS)
    busy = false
    wake()
  }

  const tellStuck = (error: ChainsieveError) => {
    if (!stuck) tell({ type: 'stuck', why: error.message, code: error.code })
    stuck = true
  }

  const goOn = () => {
    clearTimeout(waiting)
    waiting = undefined
    wake()
  }

  const close = async () => {
    busy = true
    clearInterval(looking)
    await shipping?.close()
    await ended
    try {
      db.close()
    } catch (error) {
      // It was told already.
      if (!lost) throw error
    }
    port.close()
  }

  const wake = () => {
    if (busy) return
    busy = true
    setImmediate(waiting ? shipOnly : next)
  }
  /** What cannot be written now may be shipped, which makes room. */
  const shipOnly = () => {
    if (!waiting) return next()
    if (shipSome()) return void setImmediate(shipOnly)
    busy = false
  }
  let shipping: Shipping | undefined =
    cluster &&
    createShipping({
      ...{ store, native: nativeBinding(), db, writer, network, cluster, returning, journalMax, metrics, wake },
      log,
      onReport: count,
      onEmptied: first => unmerged.push(first),
      onFailure(error) {
        broken = toFailure(error)
        tell({ type: 'failed', id: -1, failure: broken })
        tellShipped()
      },
    })
  const look = () => {
    try {
      if (!lost) db.checkFiles()
    } catch (error) {
      lost = true
      tell({ type: 'failed', id: -1, failure: toFailure(error) })
    }
    wake()
  }
  const looking = setInterval(look, LOOK_MS)
  looking.unref()

  port.on('message', (message: ToWriter) => {
    if (message.type === 'close') closing = true
    else if (message.type === 'ship') {
      waitingForShipping.push(message.id)
      if (broken) tellShipped()
    } else if (message.type === 'stop') {
      stopping = true
      tellShipped()
      if (waiting) goOn()
    } else if (message.type === 'patch') void patch(message)
    else {
      if (message.type === 'batch' || message.type === 'restore') writer.receive(message.batch)
      if (message.type === 'replace') for (const batch of message.change.batches) writer.receive(batch)
      if (message.type === 'revise') writer.receive(message.revision)
      tasks[laneOf(message)].push(message)
    }
    wake()
  })
}

const DONE = { done: true, took: 0 }

/** Counts what the store copies of its log into its file. */
const createCheckpointCounter = ({ copied }: Pick<WritableDb, 'copied'>, metrics: Metrics) => {
  const checkpoints = metrics.counter(
    'chainsieve_store_checkpoints_total',
    'Checkpoints: copies of the log into the store.',
  )
  const time = metrics.counter('chainsieve_store_checkpoint_seconds_total', 'Time of checkpoints.')
  let counted = { ...copied }
  return () => {
    checkpoints.add({}, copied.count - counted.count)
    time.add({}, copied.seconds - counted.seconds)
    counted = { ...copied }
  }
}

/** Runs now, or once when the time since the last run is over: nothing else may come for a long time. */
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

/** Segments of the head: no more than may wait to be merged while blocks are written. */
const OF_HEAD = 240
/** Blocks of the head that wait, from which on they share the time with shipping. */
const MANY_OF_HEAD = 8
const DEFAULT_JOURNAL = 8e9

const isBlocks = ({ type }: Task): boolean => type === 'batch' || type === 'replace'

const wroteFor = (shipping: Shipping, task: Task) => {
  if (task.type === 'rollback') shipping.removed(task.to)
  if (task.type === 'replace') shipping.looked()
  if (task.type === 'batch') shipping.wrote(task.batch.first, task.lane === 'head')
  else shipping.wrote(Number.POSITIVE_INFINITY, false)
}

/** Decoding again takes turns with a back-fill, as what comes back from a cluster does. */
const laneOf = (task: Task): LaneName =>
  task.type === 'batch' || task.type === 'replace' ? task.lane : ASIDE.has(task.type) ? 'fill' : 'head'
const ASIDE: ReadonlySet<Task['type']> = new Set(['revise', 'restore', 'verified', 'forget'])
