/**
 * Works on several items at once and yields the results in the order of the items. `ahead` bounds how many results may be
 * under way or waiting to be taken; it is asked again before each start. Ends with the first error in that order, or with the signal's
 * reason; work that is still under way then gets its signal aborted.
 */
export async function* mapInOrder<T, R>(
  items: Iterable<T>,
  ahead: () => number,
  work: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): AsyncGenerator<R, void> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const source = items[Symbol.iterator]()
  const under: Promise<R>[] = []
  try {
    for (;;) {
      while (under.length < Math.max(1, ahead())) {
        const next = source.next()
        if (next.done) break
        const result = work(next.value, controller.signal)
        // Handled when its turn comes; until then it must not count as unhandled.
        result.catch(() => {})
        under.push(result)
      }
      const first = under.shift()
      if (first === undefined) return
      yield await first
      signal.throwIfAborted()
    }
  } finally {
    signal.removeEventListener('abort', abort)
    controller.abort(new Error('no longer wanted'))
    source.return?.()
  }
}
