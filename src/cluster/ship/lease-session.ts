import { ChainsieveError } from '../../lib/errors.ts'
import { backoff, systemClock } from '../../lib/retry.ts'

/** The time in which this process may write to the cluster, and how work goes on in it. Whatever waits throws when it ends. */
export type LeaseSession = ReturnType<typeof createLeaseSession>

/** Who gives turns. */
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
  /** Whether what failed may pass; throws where the end of the session is the reason. */
  const mayPass = (error: unknown): error is ChainsieveError => {
    now.throwIfAborted()
    return error instanceof ChainsieveError && error.next === 'retry'
  }
  /** Waits after so many failures. */
  const pause = (failures: number, ms = backoff(failures, waits)) => systemClock.sleep(ms, now)
  /** Until it does not fail in a way that may pass. */
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
    /** Aborts when it ends. */
    signal: () => now,
    /** Another one begins, which ends with the program, or with this signal. */
    renew(lost?: AbortSignal) {
      now = lost ? AbortSignal.any([signal, lost]) : signal
    },
    /** Until this thread has time. */
    async turn() {
      now.throwIfAborted()
      await new Promise<void>(resolve => {
        go = resolve
        onReady()
      })
      now.throwIfAborted()
    },
    /** What `change` answers, written in a transaction: as soon as the disk takes it. */
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
