/** Lets several wait until something has changed; each then looks for itself whether that is what it waits for. */
export const createCondition = () => {
  const waiting = new Set<() => void>()
  return {
    /** Resolves with the next change; rejects with the signal's reason. */
    changed: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const end = () => {
          waiting.delete(end)
          signal.removeEventListener('abort', end)
          if (signal.aborted) reject(signal.reason)
          else resolve()
        }
        waiting.add(end)
        signal.addEventListener('abort', end, { once: true })
      }),
    /** Something has changed. */
    notify() {
      for (const end of [...waiting]) end()
    },
  }
}
