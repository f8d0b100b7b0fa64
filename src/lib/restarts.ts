import { messageOf, systemFault } from './errors.ts'
import type { Log } from './log.ts'
import { backoff } from './retry.ts'

/** Status of a restarted task. Times are ISO 8601. */
export interface RestartStatus {
  /** Number of unplanned ends. */
  count: number
  /** Reason of the last end. */
  error: string
  /** The disk was full. */
  diskFull?: true
  endedAt: string
  /** Time of the next start; null while it runs. */
  nextAt: string | null
}

export interface RestartsOptions {
  start(): void
  log: Log
  /** The name for the log, such as "The thread that delivers". */
  what: string
  /** Milliseconds of the first wait. */
  baseMs?: number
}

const MAX_RESTART_MS = 60_000
/** Run time after which an end counts as the first. */
const STEADY_RUN_MS = 2 * MAX_RESTART_MS

/** Supervises a task: restarts it after crashes, with a backoff, and counts them. */
export const createRestarts = ({ start, log, what, baseMs = 500 }: RestartsOptions) => {
  let count = 0
  let inRow = 0
  let last: { error: string; diskFull?: true; at: number; nextAt: number | null } | undefined
  let startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const begin = () => {
    timer = undefined
    last!.nextAt = null
    startedAt = performance.now()
    try {
      start()
    } catch (error) {
      ended(error)
    }
  }

  /** Schedules a restart; the wait doubles, up to a minute, while runs stay short. */
  const ended = (error: unknown) => {
    if (stopped || timer !== undefined) return
    count++
    inRow = performance.now() - startedAt >= STEADY_RUN_MS ? 1 : inRow + 1
    const waitMs = backoff(inRow, { baseMs, capMs: MAX_RESTART_MS, random: () => 1 })
    const at = Date.now()
    last = {
      error: messageOf(error).split('\n')[0]!,
      ...(systemFault(error)?.code === 'disk_full' && { diskFull: true }),
      at,
      nextAt: at + waitMs,
    }
    log.error(`${what} failed and restarts`, { seconds: waitMs / 1000, error: systemFault(error) ?? error })
    timer = setTimeout(begin, waitMs)
    timer.unref()
  }

  return {
    ended,
    /** Undefined before the first end. */
    status: (): RestartStatus | undefined =>
      last && {
        count,
        error: last.error,
        ...(last.diskFull && { diskFull: true }),
        endedAt: new Date(last.at).toISOString(),
        nextAt: last.nextAt === null ? null : new Date(last.nextAt).toISOString(),
      },
    /** Prevents further restarts. */
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
