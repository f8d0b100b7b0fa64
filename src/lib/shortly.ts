/** Does something once for all who ask at the same time, and within `ms` after that. */
export const shortly = <T>(work: () => Promise<T>, ms: number): (() => Promise<T>) => {
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
