import { backoff } from '../../lib/retry.ts'

/** Size and concurrency of bulk requests: grow while throughput rises, shrink on rejections. */
export type BulkPace = ReturnType<typeof createBulkPace>

export interface PaceOptions {
  /** Maximum concurrent requests. */
  lanes?: number | undefined
  /** Bytes of the first request, and maximum. */
  startBytes?: number | undefined
  mostBytes?: number | undefined
  /** Bounds of the first and of the longest backoff. */
  baseMs?: number | undefined
  capMs?: number | undefined
  random?: (() => number) | undefined
}

const MIN_REQUEST_BYTES = 64 * 1024
/** A slower request delays others on its node, such as lease renewals. */
const SLOW_REQUEST_MS = 4_000
/** Successes in a row before another concurrent request is added. */
const STEADY = 8
/** Tolerated variation of throughput. */
const NOISE = 1.05
/** Decay of the best throughput: one that does not recur was luck. */
const FORGET = 0.97

export const createBulkPace = (options: PaceOptions = {}) => {
  const { lanes: most = 3, startBytes = 5_000_000, mostBytes = 20_000_000 } = options
  const { baseMs = 250, capMs = 30_000, random } = options
  let size = startBytes
  let lanes = most
  let failures = 0
  let steady = 0
  let limit = mostBytes
  /** Throughput at the previous size, in bytes per millisecond. */
  let speed = 0
  const shrink = (to: number) => {
    size = Math.max(Math.min(MIN_REQUEST_BYTES, startBytes, limit), Math.floor(to))
    speed = 0
  }
  return {
    /** Bytes of a request. */
    size: () => size,
    /** Maximum concurrent requests. */
    lanes: () => lanes,
    most,
    /** Failed requests in a row. */
    failures: () => failures,
    /** A request succeeded completely. */
    taken(bytes: number, ms: number) {
      failures = 0
      if (++steady % STEADY === 0) lanes = Math.min(most, lanes + 1)
      if (ms > SLOW_REQUEST_MS) {
        steady = 0
        lanes = Math.max(1, lanes - 1)
        shrink(size / 2)
      } else if (bytes >= size / 2) {
        const now = bytes / Math.max(1, ms)
        if (now > speed * NOISE) {
          speed = now
          size = Math.min(limit, Math.ceil(size * 1.25))
        } else speed *= FORGET
      }
    },
    /** A request was partly rejected; returns the backoff in milliseconds. */
    refused() {
      failures++
      steady = 0
      lanes = Math.max(1, lanes - 1)
      shrink(size / 2)
      return backoff(failures, { baseMs, capMs, ...(random && { random }) })
    },
    /** A request exceeded the size limit. */
    tooLarge(bytes: number) {
      limit = Math.max(1, Math.min(limit, Math.floor(bytes / 2)))
      shrink(Math.min(size, limit))
    },
  }
}
