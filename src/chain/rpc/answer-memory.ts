import { createCondition } from '../../lib/scheduling/condition.ts'

/** What one answer holds. */
export interface Hold {
  /** Takes so many bytes that have come, and resolves when more may come. Rejects with the signal's reason. */
  take(bytes: number, signal: AbortSignal): Promise<void>
  /** Gives all back. */
  close(): void
}

/** Bytes that several answers may hold together. */
export type Memory = ReturnType<typeof createMemory>

/** The answer that began first never waits, so that what is under way comes to an end; the others wait while there is too much. */
export const createMemory = (most: number) => {
  let held = 0
  /** In the order in which they began. */
  const holds = new Set<Hold>()
  const released = createCondition()
  const mayGoOn = (hold: Hold) => held <= most || holds.values().next().value === hold

  return {
    /** Bytes that are held now. */
    get held(): number {
      return held
    },
    open(): Hold {
      let own = 0
      const hold: Hold = {
        async take(bytes, signal) {
          own += bytes
          held += bytes
          while (!mayGoOn(hold)) {
            signal.throwIfAborted()
            await released.changed(signal)
          }
        },
        close() {
          held -= own
          own = 0
          holds.delete(hold)
          released.notify()
        },
      }
      holds.add(hold)
      return hold
    },
  }
}
