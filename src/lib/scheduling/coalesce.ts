/** Merges calls during a run into one more run; each caller's result is begun after its call. */
export const coalesce = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= running.then(() => {
      next = undefined
      const now = work()
      running = now.catch(() => {})
      return now
    })
    return next
  }
}

/** Caches a result with a TTL of `ms`; calls during a run share it. Failures are not cached. */
export const coalesceFor = <T>(work: () => Promise<T>, ms: number): (() => Promise<T>) => {
  let last: { result: Promise<T>; until: number } | undefined
  return () => {
    if (last && performance.now() < last.until) return last.result
    const result = work()
    const now = { result, until: Number.POSITIVE_INFINITY }
    last = now
    const over = () => {
      now.until = performance.now() + ms
    }
    result.then(over, () => {
      if (last === now) last = undefined
    })
    return result
  }
}

/** Coalesces calls within one turn of the event loop, in which nothing can change. */
export const oncePerTick = <T>(read: () => T): (() => T) => {
  let known: { value: T } | undefined
  const forget = () => {
    known = undefined
  }
  return () => {
    if (!known) {
      known = { value: read() }
      process.nextTick(forget)
    }
    return known.value
  }
}
