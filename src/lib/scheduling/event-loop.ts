/** Grants one turn per round of the event loop, so long work in small pieces delays nobody. */
export const createYield = (): (() => Promise<void>) => {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise(resolve => setImmediate(resolve)))
    return last
  }
}

/** Milliseconds that a piece of long work may block the event loop. */
export const LOOP_PIECE_MS = 4

/** To await between pieces of work: yields the event loop once the time is up. */
export const createPauses = (): (() => Promise<void> | undefined) => {
  let until = performance.now() + LOOP_PIECE_MS
  const pause = async () => {
    await nextTurn()
    until = performance.now() + LOOP_PIECE_MS
  }
  return () => (performance.now() < until ? undefined : pause())
}

const nextTurn = createYield()

/** Makes something of each element, piece by piece. */
export const mapInTurns = async <T, R>(list: readonly T[], make: (one: T) => R): Promise<R[]> => {
  const pause = createPauses()
  const made: R[] = []
  for (const one of list) {
    await pause()
    made.push(make(one))
  }
  return made
}

/** A value that is there at once, or that has to be waited for. */
export type Eventually<T> = T | Promise<T>
/** Continues at once if the value is there, so that it stays in its turn. */
export const whenThere = <T, U>(value: Eventually<T>, go: (value: T) => Eventually<U>): Eventually<U> =>
  value instanceof Promise ? value.then(go) : go(value)
