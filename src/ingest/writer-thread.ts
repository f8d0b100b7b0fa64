import { createAlertStore } from '../alerts/alert-store.ts'
import { createAlertPruning } from '../alerts/prune.ts'
import { createMoveWriter } from '../engine/moved.ts'
import { openForWriting } from '../engine/open.ts'
import type { DocumentWriter } from '../engine/port.ts'
import { createWriter } from '../engine/writer.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { type Failure, toFailure } from '../lib/failure.ts'
import { createMetrics } from '../lib/metrics.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { createThreadLog } from '../lib/thread-log.ts'
import { keepPages } from '../sqlite/database.ts'
import type { FromWriter, LaneName, Revised, ToWriter, WriterData } from './messages.ts'
import { createPruner, LOOK_MS } from './pruner.ts'
import { createShares } from './shares.ts'
import { createShipping, type Shipping } from './ship/shipping.ts'

type Task = Extract<
  ToWriter,
  { type: 'batch' | 'replace' | 'restore' | 'verified' | 'forget' | 'rollback' | 'revise' | 'update' }
>

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
export const runWriter = ({
  store,
  port,
  cacheMb,
  network,
  cluster,
  returning = false,
  journalMax = DEFAULT_JOURNAL,
}: WriterData) => {
  const db = openForWriting(store, nativeBinding())
  if (cacheMb !== undefined) keepPages(db, cacheMb)
  const writer = createWriter(db)
  // Documents that no cluster is sent any more are searched here.
  if (!cluster) writer.also(createMoveWriter(db).back)
  const documents: DocumentWriter = writer
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
  const checkpoints = metrics.counter(
    'chainsieve_store_checkpoints_total',
    'Checkpoints: copies of the log into the store.',
  )
  const checkpointTime = metrics.counter('chainsieve_store_checkpoint_seconds_total', 'Time of checkpoints.')
  let counted = { ...db.copied }
  let countedAt = Number.NEGATIVE_INFINITY
  let counting: NodeJS.Timeout | undefined
  const count = () => {
    const soon = countedAt + COUNT_MS - performance.now()
    if (soon > 0) {
      // Nothing else may be written for a long time.
      if (counting) return
      counting = setTimeout(() => {
        counting = undefined
        count()
      }, soon).unref()
      return
    }
    countedAt = performance.now()
    checkpoints.add({}, db.copied.count - counted.count)
    checkpointTime.add({}, db.copied.seconds - counted.seconds)
    counted = { ...db.copied }
    if (shipping) tell({ type: 'shipping', shipping: shipping.report() })
    tell({ type: 'metrics', metrics: metrics.snapshot() })
  }

  /** Numbers of those who wait until all is shipped. */
  let shipped: number[] = []
  const tellShipped = () => {
    for (const id of shipped) tell({ type: 'done', id, alerts: alertStore.counts() })
    shipped = []
  }
  /** Why nothing will be shipped any more. */
  let broken: Failure | undefined
  const tellBroken = () => {
    for (const id of shipped) tell({ type: 'failed', id, failure: broken! })
    shipped = []
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

  const shipSome = (): boolean => {
    try {
      return !closing && shipping !== undefined && shipping.step()
    } catch (error) {
      if (!(error instanceof ChainsieveError && error.next === 'retry')) throw error
      return false
    }
  }

  const take = async (task: Task | undefined) => {
    if (!task) {
      if (shipped.length > 0 && (stopping || !shipping || shipping.isDone())) tellShipped()
      if (closing) void close()
      return
    }
    busy = true
    const began = performance.now()
    let revised: Revised | undefined
    try {
      if (task.type === 'revise') revised = await revise(task)
      else if (task.type === 'replace') revised = await replace(task)
      else if (task.type === 'restore') revised = { done: writer.restore(task.batch, task.segment), took: 0 }
      else if (task.type === 'verified') revised = { done: endReturn(), took: 0 }
      else if (task.type === 'forget') revised = { done: !writer.forget(task.blocks, task.indices), took: 0 }
      else await perform(task)
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
    tell({ type: 'done', id: task.id, alerts: alertStore.counts(), revised })
    writing.observe({ what: task.type }, (performance.now() - began) / 1_000)
    count()
    if (task.type === 'restore') unmerged.push(task.batch.first)
    if (task.type === 'restore' || task.type === 'verified') return void setImmediate(next)
    if (shipping) wroteFor(shipping, task)
    if (task.type === 'batch') {
      // Those that go to a cluster are merged when they are emptied.
      if (!shipping) unmerged.push(task.batch.first)
    } else if (task.type === 'replace' && revised?.done) {
      const { batches, replaces } = task.change
      for (const { first } of batches) unmerged.push(first)
      // What is left of them is removed as well.
      if (batches.length === 0 && replaces.length > 0) unmerged.push(-1)
    }
    // Messages that came meanwhile are taken in first: one of the head may be among them.
    setImmediate(next)
  }

  /** What waits for a block waits for nothing else: segments are merged when it is told of. What cannot be merged now is tried with a later block. */
  const mergeSome = () => {
    try {
      if (stopping || !writer.merge(unmerged[0]!)) unmerged.shift()
    } catch (error) {
      unmerged.shift()
      if (!(error instanceof ChainsieveError && error.next === 'retry')) throw error
    }
  }

  const pruneSome = (): boolean => {
    try {
      return !closing && !stopping && (pruner.step() || modernizeSome())
    } catch (error) {
      if (!(error instanceof ChainsieveError && error.next === 'retry')) throw error
      return false
    }
  }

  /** Until there is nothing more to do. */
  const modernizeSome = (): boolean => {
    if (isModern) return false
    isModern = !writer.modernize()
    return !isModern
  }

  const revise = async ({ revision }: Extract<Task, { type: 'revise' }>): Promise<Revised> => {
    const started = performance.now()
    return { done: await documents.revise(revision), took: performance.now() - started }
  }

  const replace = async ({ change, update }: Extract<Task, { type: 'replace' }>): Promise<Revised> => {
    const started = performance.now()
    const done = await documents.replace(change, () => alertStore.stored(update ?? { hits: [] }))
    return { done, took: performance.now() - started }
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
    tell({ type: 'done', id, alerts: alertStore.counts(), revised: { done, took: 0 } })
  }

  const perform = async (task: Exclude<Task, { type: 'revise' | 'replace' | 'restore' | 'verified' | 'forget' }>) => {
    if (task.type === 'rollback') return documents.rollback(task.to, () => alertStore.removed(task.to))
    const stored = () => alertStore.stored(task.update ?? { hits: [] })
    if (task.type === 'batch') return documents.apply(task.batch, stored)
    return documents.also(stored)
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
        tellBroken()
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
      shipped.push(message.id)
      if (broken) tellBroken()
    } else if (message.type === 'stop') {
      stopping = true
      tellShipped()
      if (waiting) goOn()
    } else if (message.type === 'patch') void patch(message)
    else {
      if (message.type === 'batch' || message.type === 'restore') documents.receive(message.batch)
      if (message.type === 'replace') for (const batch of message.change.batches) documents.receive(batch)
      if (message.type === 'revise') documents.receive(message.revision)
      tasks[laneOf(message)].push(message)
    }
    wake()
  })
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
