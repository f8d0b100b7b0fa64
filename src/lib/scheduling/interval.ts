import type { Log } from '../log.ts'

export interface EveryOptions {
  log: Log
  /** Completes "Could not …". */
  doing: string
  /** Also runs now, not only after the first `ms`. Default false. */
  atOnce?: boolean
}

/**
 * Repeats work until the returned function is called. A failure is logged when it begins, and work
 * is retried at the next tick. Slow work never overlaps.
 */
export const repeatEvery = (
  ms: number,
  work: () => unknown,
  { log, doing, atOnce = false }: EveryOptions,
): (() => void) => {
  let busy = false
  let failing = false
  const once = async () => {
    if (busy) return
    busy = true
    try {
      await work()
      if (failing) log.info(`Succeeded to ${doing} again`)
      failing = false
    } catch (error) {
      if (!failing) log.error(`Failed to ${doing}, will retry`, { error })
      failing = true
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void once(), ms)
  timer.unref()
  if (atOnce) void once()
  return () => clearInterval(timer)
}
