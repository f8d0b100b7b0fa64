/** Asks once for all that want to know while it asks before them: each is told what was asked after it wanted to know. */
export const together = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= running.then(() => {
      next = undefined
      const now = ask()
      running = now.catch(() => {})
      return now
    })
    return next
  }
}
