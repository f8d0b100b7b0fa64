import { backoff } from '../../lib/retry.ts'

/** How much is sent to a cluster at once. It grows while that makes it faster, and shrinks with what the cluster refuses. */
export type BulkPace = ReturnType<typeof createBulkPace>

export interface PaceOptions {
  /** Most requests under way at once. */
  lanes?: number | undefined
  /** Bytes of the first request, and of the largest. */
  startBytes?: number | undefined
  mostBytes?: number | undefined
  /** Bound of the first wait after a failure, and of the longest. */
  baseMs?: number | undefined
  capMs?: number | undefined
  random?: (() => number) | undefined
}

const MIN_REQUEST_BYTES = 64 * 1024
/** A request that takes longer keeps a node from others, such as the one that renews the lease. */
const SLOW_REQUEST_MS = 4_000
/** So many requests in a row must be taken before another one goes beside them. */
const STEADY = 8
/** Speeds differ by so much without a reason. */
const NOISE = 1.05
/** A speed that is not reached again was luck. */
const FORGET = 0.97

export const createBulkPace = (options: PaceOptions = {}) => {
  const { lanes: most = 3, startBytes = 5_000_000, mostBytes = 20_000_000 } = options
  const { baseMs = 250, capMs = 30_000, random } = options
  let size = startBytes
  let lanes = most
  let failures = 0
  let steady = 0
  let limit = mostBytes
  /** Bytes in a millisecond of the size before. */
  let speed = 0
  const shrink = (to: number) => {
    size = Math.max(Math.min(MIN_REQUEST_BYTES, startBytes, limit), Math.floor(to))
    speed = 0
  }
  return {
    /** Bytes of a request. */
    size: () => size,
    /** Requests that may be under way at once. */
    lanes: () => lanes,
    most,
    /** Requests in a row that were not taken as a whole. */
    failures: () => failures,
    /** All of a request was taken. */
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
    /** Some of it was not, for now: milliseconds until the next request. */
    refused() {
      failures++
      steady = 0
      lanes = Math.max(1, lanes - 1)
      shrink(size / 2)
      return backoff(failures, { baseMs, capMs, ...(random && { random }) })
    },
    /** The request was too large. */
    tooLarge(bytes: number) {
      limit = Math.max(1, Math.min(limit, Math.floor(bytes / 2)))
      shrink(Math.min(size, limit))
    },
  }
}
