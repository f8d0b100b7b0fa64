/**
 * Gives out turns on the event loop, one in each of its rounds, so that long work which is done in small pieces holds up nobody, however much
 * of it goes on at once.
 */
export const createTurns = (): (() => Promise<void>) => {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise(resolve => setImmediate(resolve)))
    return last
  }
}
