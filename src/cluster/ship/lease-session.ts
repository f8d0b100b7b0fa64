import { ChainsieveError } from '../../lib/errors.ts'
import { backoff, systemClock } from '../../lib/retry.ts'

/** Session in which this process may write to the cluster. Waits throw when it ends. */
export type LeaseSession = ReturnType<typeof createLeaseSession>

/** Source of turns. */
export interface Turns {
  isReady(): boolean
  give(): void
}

interface LeaseSessionOptions {
  /** Aborts when the program ends. */
  signal: AbortSignal
  /** Bounds of the first wait after a failure, and of the longest. */
  waits: { baseMs: number; capMs: number }
  also(within: () => void): void
  /** Called when it begins to wait for a turn. */
  onReady(): void
  onTrouble(why: string | null): void
}

export const createLeaseSession = ({ signal, waits, also, onReady, onTrouble }: LeaseSessionOptions) => {
  let now = signal
  let go: (() => void) | undefined
  /** Whether a failure is temporary; throws if the session has ended. */
  const mayPass = (error: unknown): error is ChainsieveError => {
    now.throwIfAborted()
    return error instanceof ChainsieveError && error.next === 'retry'
  }
  /** Waits, longer after more failures. */
  const pause = (failures: number, ms = backoff(failures, waits)) => systemClock.sleep(ms, now)
  /** Repeats work until it succeeds or fails permanently. */
  const persist = async <T>(work: () => T | Promise<T>): Promise<T> => {
    for (let failures = 1; ; failures++) {
      now.throwIfAborted()
      try {
        const done = await work()
        if (failures > 1) onTrouble(null)
        return done
      } catch (error) {
        if (!mayPass(error)) throw error
        onTrouble(error.message)
        await pause(failures, error.retryAfterMs)
      }
    }
  }
  return {
    ...{ mayPass, persist, pause },
    /** Aborts when the session ends. */
    signal: () => now,
    /** Begins another session, which ends with the program or by this signal. */
    renew(lost?: AbortSignal) {
      now = lost ? AbortSignal.any([signal, lost]) : signal
    },
    /** Waits until this thread has time. */
    async turn() {
      now.throwIfAborted()
      await new Promise<void>(resolve => {
        go = resolve
        onReady()
      })
      now.throwIfAborted()
    },
    /** Runs `change` in a transaction as soon as the disk accepts it, and returns its result. */
    note: <T>(change: () => T): Promise<T> =>
      persist(() => {
        let done: T | undefined
        also(() => {
          done = change()
        })
        return done as T
      }),
    turns: {
      isReady: () => go !== undefined,
      give() {
        const start = go
        go = undefined
        start?.()
      },
    },
  }
}
