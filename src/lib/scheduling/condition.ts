/** Lets several callers wait for a change; each then checks its own condition. */
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
    notify() {
      for (const end of [...waiting]) end()
    },
  }
}
