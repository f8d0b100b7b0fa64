import { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Clock, systemClock } from '../../lib/retry.ts'

interface NodeLookupOptions<T> {
  ask(some: readonly T[], signal: AbortSignal): Promise<void>
  most: number
  /** Completes "Cannot ask the node …". */
  what: string
  log: Log
  now?: (() => number) | undefined
  clock?: Clock | undefined
}

const LOOKUP_PAUSE_MS = 60_000
const REQUIRE_AGAIN_MS = 3_000
/** Transient errors; a node may return any other error for every such request. */
const PASSING = ['node_unreachable', 'node_rate_limited']

/** Asks nodes for optional facts. */
export const createNodeLookup = <T>(options: NodeLookupOptions<T>) => {
  const { ask, most, what, log, now = () => performance.now(), clock = systemClock } = options
  /** Pending requests; two lanes that meet the same new item share one. */
  const underWay = new Map<T, Promise<void>>()
  let pausedUntil = Number.NEGATIVE_INFINITY

  const attempt = async (some: readonly T[], signal: AbortSignal): Promise<ChainsieveError | undefined> => {
    for (;;) {
      try {
        await ask(some, signal)
        return undefined
      } catch (error) {
        if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
        if (!PASSING.includes(error.code)) return error
      }
    }
  }

  const askOrPause = async (some: readonly T[], signal: AbortSignal) => {
    const error = await attempt(some, signal)
    if (error === undefined) return
    const isTold = now() < pausedUntil
    pausedUntil = now() + LOOKUP_PAUSE_MS
    if (!isTold) log.warn(`Cannot ask the node ${what}, continues without`, { error })
  }

  const partsOf = (things: readonly T[]): (readonly T[])[] =>
    Array.from({ length: Math.ceil(things.length / most) }, (_, i) => things.slice(i * most, (i + 1) * most))

  return {
    /** Waits while nodes are unreachable; pauses and continues without answers if they refuse. */
    async prefetch(things: readonly T[], signal: AbortSignal) {
      const others = things.flatMap(thing => underWay.get(thing) ?? [])
      const own = things.filter(thing => !underWay.has(thing))
      await forEachPart(partsOf(own), async some => {
        if (now() < pausedUntil) return
        const asking = askOrPause(some, signal)
        for (const thing of some) underWay.set(thing, asking)
        try {
          await asking
        } finally {
          for (const thing of some) underWay.delete(thing)
        }
      })
      await Promise.all(others)
    },
    /** Asks even during a pause; delays its return if an item stays unanswered. */
    async require(things: readonly T[], signal: AbortSignal) {
      let isLacking = false
      await forEachPart(partsOf(things), async some => {
        if (!isLacking && (await attempt(some, signal))) isLacking = true
      })
      if (isLacking) await clock.sleep(REQUIRE_AGAIN_MS, signal)
    },
  }
}

const forEachPart = async <P>(parts: readonly P[], work: (part: P) => Promise<void>): Promise<void> => {
  const rest = parts.values()
  const lane = async () => {
    for (const part of rest) await work(part)
  }
  await Promise.all(Array.from({ length: Math.min(PARTS_AT_ONCE, parts.length) }, lane))
}

const PARTS_AT_ONCE = 4
