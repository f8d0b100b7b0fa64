/** Bytes that several answers may hold together. */
export interface Budget {
  /** Bytes that are held now. */
  readonly held: number
  open(): Share
}

/** The share that one answer holds. */
export interface Share {
  /** Takes so many bytes that have come, and resolves when more may come. Rejects with the signal's reason. */
  take(bytes: number, signal: AbortSignal): Promise<void>
  /** Gives all back. */
  close(): void
}

/** The answer that began first never waits, so that what is under way comes to an end; the others wait while there is too much. */
export const createBudget = (most: number): Budget => {
  let held = 0
  /** In the order in which they began. */
  const shares = new Set<Share>()
  const waiting = new Set<() => void>()
  const mayGoOn = (share: Share) => held <= most || shares.values().next().value === share

  const pause = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const wake = () => {
        waiting.delete(wake)
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const abort = () => {
        waiting.delete(wake)
        reject(signal.reason)
      }
      waiting.add(wake)
      signal.addEventListener('abort', abort, { once: true })
    })

  return {
    get held() {
      return held
    },
    open() {
      let own = 0
      const share: Share = {
        async take(bytes, signal) {
          own += bytes
          held += bytes
          while (!mayGoOn(share)) {
            signal.throwIfAborted()
            await pause(signal)
          }
        },
        close() {
          held -= own
          own = 0
          shares.delete(share)
          for (const wake of [...waiting]) wake()
        },
      }
      shares.add(share)
      return share
    },
  }
}
