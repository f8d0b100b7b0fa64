import { existsSync } from 'node:fs'
import { MessageChannel, type Worker } from 'node:worker_threads'
import type { AlertCounts } from '../alerts/alert-store.ts'
import type { ReadStateAt } from '../chain/source.ts'
import { createBlocks } from '../engine/blocks.ts'
import { makeStoreFolder, storeFile } from '../engine/files.ts'
import { openForWriting } from '../engine/open.ts'
import { createLocationWriter } from '../engine/shipping/document-location.ts'
import { fromTransferredError, isPassingError, systemFault, toTransferredError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createRestarts, type RestartStatus } from '../lib/restarts.ts'
import { nativeBinding, startWorker } from '../lib/runtime.ts'
import { isMemorySmall } from '../lib/system-limits.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import { isDamage } from '../sqlite/damage.ts'
import { holdOpen } from '../sqlite/database.ts'
import { refuseEmptied } from '../sqlite/verify-pages.ts'
import { abiFolder } from './decoding/abi-files.ts'
import {
  type FromIndexer,
  type IndexerData,
  type IndexJob,
  NO_REPORT,
  type Report,
  type WorkSharing,
  type WriterData,
  YOUNG_MB_BY_JOB,
} from './messages.ts'
import { createStateRequests, notIndexing } from './past-state.ts'
import type { RemotePlace } from './remote.ts'
import { type LogLoss, watchLog } from './status/live.ts'

export interface Indexing {
  network: string
  job: IndexJob['type']
  report(): Report
  /** Time of the last report by `performance.now`. */
  reportedAt(): number
  /** Why it failed; null while it runs and after a good end. */
  error(): Error | null
  restarts(): RestartStatus | undefined
  /** Absent without a node. */
  pastStateAt?: ReadStateAt | undefined
  /** Resolves when all is committed and both threads have ended; rejects with the failure. */
  ended: Promise<Report>
  stop(): Promise<void>
}

export interface IndexingOptions {
  data: string
  network: string
  job: IndexJob
  storeBatch: number
  /** Threads that decode and build documents; default 1. */
  indexers?: number
  sharing?: WorkSharing
  /** Number of networks indexed in this process; default 1. */
  networks?: number
  limits?: Limits
  remote?: RemotePlace | undefined
  returning?: boolean | undefined
  journalMax?: number | undefined
  log: Log
  onReport?: (report: Report) => void
  onAlerts?: () => void
}

/** Opens a store once, which migrates it before threads start. `loss`: lost log entries. */
export const prepareStore = (data: string, network: string, log: Log): { store: string; loss: LogLoss | undefined } => {
  const store = storeFile(data, network)
  try {
    makeStoreFolder(data)
    const isNew = !existsSync(store)
    refuseEmptied(store)
    const lossIn = watchLog(data, network, store)
    const db = openForWriting(store, nativeBinding())
    let loss: LogLoss | undefined
    try {
      loss = lossIn(createBlocks(db).ranges())
    } finally {
      db.close()
    }
    if (isNew) log.info('Made a store', { network })
    if (loss)
      log.warn(
        `The log of a store is ${loss.transactions > 0 ? 'damaged' : 'missing'}: blocks that it held are indexed again`,
        {
          ...{ network, ...loss, blocks: loss.blocks ?? 'unknown' },
        },
      )
    return { store, loss }
  } catch (error) {
    throw systemFault(error, store) ?? error
  }
}

/** Whether some documents are only remote; otherwise the store answers searches again. */
const isRemote = (store: string): boolean => {
  const db = openForWriting(store, nativeBinding())
  try {
    const { back } = createLocationWriter(db)
    return !db.transaction(back).immediate()
  } finally {
    db.close()
  }
}

/** The writer handles large arrays and few objects. */
const WRITER_YOUNG_MB = 12

export const startIndexing = (options: IndexingOptions): Indexing => {
  const { data, network, job, storeBatch, indexers = 1, sharing = {}, networks = 1, limits = DEFAULT_LIMITS } = options
  const { remote: place, returning = false, journalMax, log, onReport, onAlerts } = options
  const { store } = prepareStore(data, network, log)
  const remote = returning && !isRemote(store) ? undefined : place
  const letGo = holdOpen(store, nativeBinding())
  const { port1, port2 } = new MessageChannel()
  const { youngMb, writerCacheMb, readerCacheMb } = memoryOf(job.type, networks)
  const isServed = job.type === 'follow' || job.type === 'watch'
  const writer = startWorker(
    'writer',
    { store, network, remote, returning, journalMax, port: port1, cacheMb: writerCacheMb } satisfies WriterData,
    {
      transferList: [port1],
      ...(isServed && { resourceLimits: { maxYoungGenerationSizeMb: WRITER_YOUNG_MB } }),
    },
  )
  const indexer = startWorker(
    'indexer',
    {
      network,
      data,
      store,
      abis: abiFolder(data),
      job,
      storeBatch,
      indexers,
      sharing,
      cacheMb: readerCacheMb,
      limits,
      remote,
      returning,
      port: port2,
    } satisfies IndexerData & {
      port: unknown
    },
    { transferList: [port2], resourceLimits: { maxYoungGenerationSizeMb: youngMb } },
  )
  const state = createStateRequests(request => indexer.postMessage(request))
  let report = NO_REPORT
  let reportedAt = performance.now()
  let error: Error | null = null

  void exited(writer).then(letGo)
  void exited(indexer).then(state.end)
  const ended = new Promise<Report>((resolve, reject) => {
    /** Rejects once both threads have ended, which lets others replace them. */
    const fail = async (reason: Error) => {
      error ??= reason
      void indexer.terminate()
      void writer.terminate()
      await Promise.all([indexer, writer].map(exited))
      reject(error)
    }
    let over = false
    indexer.on('message', (message: FromIndexer) => {
      if (message.type === 'log') return log[message.level](message.message, { network, ...message.fields })
      if (message.type === 'alerts') return onAlerts?.()
      if (message.type === 'read' || message.type === 'unread') return state.take(message)
      report = message.report
      reportedAt = performance.now()
      onReport?.(report)
      if (message.type === 'report') return
      over = true
      void exited(writer).then(() => (message.failure ? fail(fromTransferredError(message.failure)) : resolve(report)))
    })
    for (const thread of [indexer, writer])
      thread.on('error', reason => void fail(fromTransferredError(toTransferredError(reason))))
    indexer.on('exit', code => {
      if (!over) void fail(new Error(`the indexing thread ended with code ${code}`))
    })
    writer.on('exit', code => {
      if (code !== 0) void fail(new Error(`the writing thread ended with code ${code}`))
    })
  })
  // `error()` has it as well: the process must not die if nobody awaits the end.
  ended.catch(() => {})

  return {
    network,
    job: job.type,
    report: () => report,
    reportedAt: () => reportedAt,
    error: () => error,
    restarts: () => undefined,
    pastStateAt: 'node' in job ? state.read : undefined,
    ended,
    async stop() {
      indexer.postMessage({ type: 'stop' })
      await ended.catch(() => {})
    },
  }
}

const exited = (thread: Worker): Promise<void> =>
  thread.threadId < 0 ? Promise.resolve() : new Promise(resolve => thread.once('exit', () => resolve()))

interface NetworkMemory {
  youngMb: number
  writerCacheMb: number
  readerCacheMb: number
}

const MEMORY_OF_ALL = { youngMb: 96, writerCacheMb: 256, readerCacheMb: 128 }
const MAX_MEMORY = { writerCacheMb: 128, readerCacheMb: 64 }
const LEAST_MEMORY = { youngMb: 6, writerCacheMb: 16, readerCacheMb: 8 }

export const memoryOf = (job: IndexJob['type'], networks: number, isSmall = isMemorySmall()): NetworkMemory => {
  if (isSmall) return LEAST_MEMORY
  const part = (what: keyof NetworkMemory, most: number) =>
    Math.min(most, Math.max(LEAST_MEMORY[what], Math.floor(MEMORY_OF_ALL[what] / networks)))
  return {
    // Finite jobs run alone.
    youngMb: job === 'follow' || job === 'watch' ? part('youngMb', YOUNG_MB_BY_JOB[job]) : YOUNG_MB_BY_JOB[job],
    writerCacheMb: part('writerCacheMb', MAX_MEMORY.writerCacheMb),
    readerCacheMb: part('readerCacheMb', MAX_MEMORY.readerCacheMb),
  }
}

/** Restarts indexing threads that fail, unless the operator is needed. */
export const keepIndexing = (options: KeepOptions): Indexing => {
  const { network, job, log, patient = false } = options
  let current: Indexing | undefined
  let before: Report | undefined
  let stopped: Error | null = null
  let stopping = false
  const { promise: ended, resolve, reject } = Promise.withResolvers<Report>()
  ended.catch(() => {})

  const report = () => {
    const now = current?.report() ?? NO_REPORT
    return before ? addReports(before, now) : now
  }

  const start = () => {
    const one = startIndexing(options)
    if (current) before = report()
    current = one
    one.ended.then(
      () => resolve(report()),
      (error: Error) => {
        if (!stopping && isPassingError(error)) return restarts.ended(error)
        stopped = error
        reject(error)
      },
    )
  }
  const restarts = createRestarts({ start, log: log.with({ network }), what: 'Indexing' })
  try {
    start()
  } catch (error) {
    if (patient || systemFault(error)?.code === 'disk_full') restarts.ended(error)
    else if (isDamage(error)) {
      stopped = error as Error
      reject(error)
    } else throw error
  }

  return {
    network,
    job: job.type,
    report,
    reportedAt: () => current?.reportedAt() ?? performance.now(),
    error: () => stopped,
    restarts: restarts.status,
    pastStateAt:
      'node' in job
        ? async (...asked) => {
            if (!current?.pastStateAt) throw notIndexing()
            return current.pastStateAt(...asked)
          }
        : undefined,
    ended,
    async stop() {
      stopping = true
      restarts.stop()
      await current?.stop()
    },
  }
}

interface KeepOptions extends IndexingOptions {
  /** Also retries a start that throws, e.g. on a damaged store. Default: only on a full disk. */
  patient?: boolean
}

const addReports = (before: Report, now: Report): Report => ({
  ...now,
  blocks: before.blocks + now.blocks,
  logs: before.logs + now.logs,
  events: before.events + now.events,
  alerts: addAlerts(before.alerts, now.alerts),
})

const addAlerts = (before: AlertCounts, now: AlertCounts): AlertCounts => {
  const sum = structuredClone(before)
  for (const [target, counts] of Object.entries(now) as [keyof AlertCounts, AlertCounts[keyof AlertCounts]][]) {
    const known = sum[target]
    if (!known) sum[target] = { ...counts! }
    else for (const state of Object.keys(known) as (keyof typeof known)[]) known[state] += counts![state]
  }
  return sum
}
