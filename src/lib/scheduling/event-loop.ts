/** Grants one turn per round of the event loop, so long work in small pieces delays nobody. */
export const createYield = (): (() => Promise<void>) => {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise(resolve => setImmediate(resolve)))
    return last
  }
}

/** Longest time, in milliseconds, that a piece of work may block the event loop. */
export const LOOP_PIECE_MS = 4

/** Awaited between pieces of work, yields the event loop once the time is up. */
export const createPauses = (): (() => Promise<void> | undefined) => {
  let until = performance.now() + LOOP_PIECE_MS
  const pause = async () => {
    await nextTurn()
    until = performance.now() + LOOP_PIECE_MS
  }
  return () => (performance.now() < until ? undefined : pause())
}

const nextTurn = createYield()

/** Maps elements piece by piece, yielding the event loop. */
export const mapInTurns = async <T, R>(list: readonly T[], make: (one: T) => R): Promise<R[]> => {
  const pause = createPauses()
  const made: R[] = []
  for (const one of list) {
    await pause()
    made.push(make(one))
  }
  return made
}

/** A value, or a promise of it. */
export type Eventually<T> = T | Promise<T>
/** Continues synchronously if the value is there, which keeps its turn. */
export const whenThere = <T, U>(value: Eventually<T>, go: (value: T) => Eventually<U>): Eventually<U> =>
  value instanceof Promise ? value.then(go) : go(value)
