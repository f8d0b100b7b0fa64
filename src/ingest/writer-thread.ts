import { createAlertStore } from '../alerts/alert-store.ts'
import { createAlertPruning } from '../alerts/prune.ts'
import { openForWriting } from '../engine/open.ts'
import type { DocumentWriter } from '../engine/port.ts'
import { createWriter } from '../engine/writer.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { toFailure } from '../lib/failure.ts'
import { createMetrics } from '../lib/metrics.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { keepPages } from '../sqlite/database.ts'
import type { FromWriter, LaneName, Revised, ToWriter, WriterData } from './messages.ts'
import { createPruner, LOOK_MS } from './pruner.ts'
import { createShares } from './shares.ts'

type Task = Extract<ToWriter, { type: 'batch' | 'replace' | 'rollback' | 'revise' | 'update' }>

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
export const runWriter = ({ store, port, cacheMb }: WriterData) => {
  const db = openForWriting(store, nativeBinding())
  if (cacheMb !== undefined) keepPages(db, cacheMb)
  const writer = createWriter(db)
  const documents: DocumentWriter = writer
  const alertStore = createAlertStore(db)
  const tasks: Record<'head' | 'fill', Task[]> = { head: [], fill: [] }
  /** Blocks around which there may be segments to merge. The oldest goes first: then none are left behind that are too few to merge. */
  const unmerged = writer.small()
  const shares = createShares()
  /** Steps of merging since the last task. */
  let steps = 0
  let busy = false
  let closing = false
  let stopping = false
  let stuck = false
  let waiting: NodeJS.Timeout | undefined
  const pruner = createPruner({ store, writer, alerts: createAlertPruning(db) })
  /** Pruning and what else waits take turns. */
  let pruned = false
  let isModern = false
  const tell = (message: FromWriter) => port.postMessage(message)

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
    tell({ type: 'metrics', metrics: metrics.snapshot() })
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

  const take = async (task: Task | undefined) => {
    if (!task) {
      if (closing) close()
      return
    }
    busy = true
    const began = performance.now()
    let revised: Revised | undefined
    try {
      if (task.type === 'revise') revised = await revise(task)
      else if (task.type === 'replace') revised = await replace(task)
      else await perform(task)
    } catch (error) {
      if (error instanceof ChainsieveError && error.next === 'retry' && !stopping) return again(task, error)
      tell({ type: 'failed', id: task.id, failure: toFailure(error) })
      return void setImmediate(next)
    }
    shares.spend(laneOf(task), performance.now() - began)
    if (stuck) tell({ type: 'stuck', why: null })
    stuck = false
    tell({ type: 'done', id: task.id, alerts: alertStore.counts(), revised })
    writing.observe({ what: task.type }, (performance.now() - began) / 1_000)
    count()
    if (task.type === 'batch') unmerged.push(task.batch.first)
    if (task.type === 'replace' && revised?.done) for (const { first } of task.change.batches) unmerged.push(first)
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

  const perform = async (task: Exclude<Task, { type: 'revise' | 'replace' }>) => {
    if (task.type === 'rollback') return documents.rollback(task.to, () => alertStore.removed(task.to))
    const stored = () => alertStore.stored(task.update ?? { hits: [] })
    if (task.type === 'batch') return documents.apply(task.batch, stored)
    return documents.also(stored)
  }

  const again = (task: Task, error: ChainsieveError) => {
    if (!stuck) tell({ type: 'stuck', why: error.message, code: error.code })
    stuck = true
    tasks[laneOf(task)].unshift(task)
    waiting = setTimeout(goOn, error.retryAfterMs ?? RETRY_MS)
  }

  const goOn = () => {
    clearTimeout(waiting)
    waiting = undefined
    next()
  }

  const close = () => {
    clearInterval(looking)
    db.close()
    port.close()
  }

  const wake = () => {
    if (busy || waiting) return
    busy = true
    setImmediate(next)
  }
  const looking = setInterval(wake, LOOK_MS)
  looking.unref()

  port.on('message', (message: ToWriter) => {
    if (message.type === 'close') closing = true
    else if (message.type === 'stop') {
      stopping = true
      if (waiting) goOn()
    } else {
      if (message.type === 'batch') documents.receive(message.batch)
      if (message.type === 'replace') for (const batch of message.change.batches) documents.receive(batch)
      if (message.type === 'revise') documents.receive(message.revision)
      tasks[laneOf(message)].push(message)
    }
    if (!busy) {
      busy = true
      setImmediate(next)
    }
  })
}

/** Decoding again takes turns with a back-fill. */
const laneOf = (task: Task): LaneName =>
  task.type === 'batch' || task.type === 'replace' ? task.lane : task.type === 'revise' ? 'fill' : 'head'
