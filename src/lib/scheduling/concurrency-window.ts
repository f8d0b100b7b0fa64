import { type Clock, systemClock } from '../retry.ts'
import type { RequestPace } from './rate-limiter.ts'

/** What a request's outcome says about the load of the other side. */
export type RequestOutcome = 'ok' | 'overload' | 'neutral'

export interface WindowOptions {
  start: number
  max: number
  pace?: RequestPace | undefined
  clock?: Clock
}

interface Waiter {
  cost: number
  urgent: boolean
  go(): void
  end(error: unknown): void
}

export type RequestWindow = ReturnType<typeof createWindow>

/**
 * Limits concurrency (AIMD), with one more place for urgent requests. A whole window of successes
 * widens it by one; an overload halves it, but not again for requests already in flight. Requests
 * wait for `pace` without a place, which lets urgent ones overtake.
 */
export const createWindow = ({ start, max, pace, clock = systemClock }: WindowOptions) => {
  let size = Math.min(start, max)
  let active = 0
  let entered = 0
  let cutAt = -1
  const waiting: Waiter[] = []
  const closing = new AbortController()
  let dueAt = Number.POSITIVE_INFINITY

  const look = (ms: number) => {
    const at = clock.elapsed() + ms
    if (at >= dueAt) return
    dueAt = at
    clock.sleep(Math.max(1, Math.ceil(ms)), closing.signal).then(
      () => {
        if (dueAt === at) dueAt = Number.POSITIVE_INFINITY
        admit()
      },
      () => {},
    )
  }
  const admit = () => {
    for (let next = waiting[0]; next && active < Math.floor(size) + (next.urgent ? 1 : 0); next = waiting[0]) {
      const ms = next.cost > 0 ? (pace?.waitMs(next.cost) ?? 0) : 0
      if (ms > 0) return look(ms)
      pace?.take(next.cost)
      waiting.shift()
      active++
      next.go()
    }
  }
  const leave = (ticket: number) => (outcome: RequestOutcome) => {
    active--
    if (outcome === 'ok') size = Math.min(max, size + 1 / size)
    if (outcome === 'overload' && ticket > cutAt) {
      size = Math.max(1, size / 2)
      cutAt = entered
    }
    admit()
  }
  /** Urgent waiters go first, the newest of them before others. */
  const queue = (waiter: Waiter) => {
    if (waiter.urgent) waiting.unshift(waiter)
    else waiting.push(waiter)
  }
  return {
    get size(): number {
      return Math.floor(size)
    },
    /** Waits for a place, urgent requests first. Call the returned function once to release it. */
    async enter(
      signal: AbortSignal,
      urgent: boolean = false,
      cost: number = 0,
    ): Promise<(outcome: RequestOutcome) => void> {
      signal.throwIfAborted()
      let ticket = 0
      await new Promise<void>((resolve, reject) => {
        const waiter: Waiter = {
          cost,
          urgent,
          go() {
            ticket = ++entered
            signal.removeEventListener('abort', abort)
            resolve()
          },
          end(error) {
            signal.removeEventListener('abort', abort)
            reject(error)
          },
        }
        const abort = () => {
          waiting.splice(waiting.indexOf(waiter), 1)
          reject(signal.reason)
          admit()
        }
        signal.addEventListener('abort', abort, { once: true })
        queue(waiter)
        admit()
      })
      return leave(ticket)
    },
    /** Rejects all waiting requests. */
    turnAway(error: Error) {
      for (const waiter of waiting.splice(0)) waiter.end(error)
    },
    /** Clears all timers. */
    close: () => closing.abort(),
  }
}
