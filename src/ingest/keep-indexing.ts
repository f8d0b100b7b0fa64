import type { AlertCounts } from '../alerts/alert-store.ts'
import { mayPass, systemFault } from '../lib/errors.ts'
import { createRestarts } from '../lib/restarts.ts'
import { isDamage } from '../sqlite/damage.ts'
import type { Report } from './messages.ts'
import { type Indexing, type IndexingOptions, NOTHING, startIndexing } from './network.ts'

/**
 * Indexing that has no end of its own. Threads that end by a fault are started again, be it a bug, memory that ran out or what the disk
 * refused; what needs the operator stays stopped.
 */
export const keepIndexing = (options: KeepOptions): Indexing => {
  const { network, job, log, patient = false } = options
  let current: Indexing | undefined
  /** Counts of threads that have ended: what is told is the sum of all. */
  let before: Report | undefined
  let stopped: Error | null = null
  let stopping = false
  const { promise: ended, resolve, reject } = Promise.withResolvers<Report>()
  // `error()` tells it as well: the process must not die where nobody waits for the end.
  ended.catch(() => {})

  const report = () => {
    const now = current?.report() ?? NOTHING
    return before ? addUp(before, now) : now
  }

  const start = () => {
    const one = startIndexing(options)
    if (current) before = report()
    current = one
    one.ended.then(
      () => resolve(report()),
      (error: Error) => {
        if (!stopping && mayPass(error)) return restarts.ended(error)
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
    ended,
    async stop() {
      stopping = true
      restarts.stop()
      await current?.stop()
    },
  }
}

export interface KeepOptions extends IndexingOptions {
  /** A start that throws, because the store is damaged, say, is tried again, too. Default: only where the disk is full. */
  patient?: boolean
}

/** Counts are of all threads there were, everything else is as the last one has it. */
const addUp = (before: Report, now: Report): Report => ({
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
