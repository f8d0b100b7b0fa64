import { setTimeout as delay } from 'node:timers/promises'

/** The program's time, which tests can speed up. */
export interface Clock {
  /** Epoch milliseconds, which clock changes affect: for values shown, stored or sent by others. */
  now(): number
  /** Monotonic milliseconds, for waits. */
  elapsed(): number
  /** Resolves after `ms`. An abort clears the timer and rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    delay(ms, undefined, { signal }).catch(error => {
      throw signal?.aborted ? signal.reason : error
    }),
}

/** Smaller steps are regular clock corrections and lengthen no wait. */
const LEAST_STEP_MS = 5_000

/** Milliseconds that the clock was set by since the last call, negative for back; else 0. */
export const createStepWatch = ({ now, elapsed }: Pick<Clock, 'now' | 'elapsed'>): (() => number) => {
  let known = now() - elapsed()
  return () => {
    const before = known
    known = now() - elapsed()
    return Math.abs(known - before) < LEAST_STEP_MS ? 0 : known - before
  }
}

/**
 * Milliseconds to wait before attempt `failures + 1`: exponential, with full jitter against
 * clients that fail and return together.
 */
export const backoff = (failures: number, { baseMs = 250, capMs = 30_000, random = Math.random } = {}): number =>
  random() * Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 30))

/**
 * Milliseconds of a `Retry-After` header, given as seconds or HTTP date, at most an hour;
 * undefined without a readable one.
 */
export const parseRetryAfter = (header: string | string[] | undefined, now: number): number | undefined => {
  const text = (Array.isArray(header) ? header[0] : header)?.trim()
  if (text === undefined || text === '') return undefined
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 3_600_000)
}

/** Runs `work` with a signal that aborts with the outer one, or with `late()` after `ms`. */
export const withTimeout = async <T>(
  ms: number,
  signal: AbortSignal,
  late: () => unknown,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  signal.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(() => controller.abort(late()), ms)
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
