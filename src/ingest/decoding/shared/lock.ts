const FREE = 0
const HELD = 1
/** Held, and somebody waits for it. */
const AWAITED = 2

/** Longest sleep: who holds the lock may have ended without a word, and the sleeper is to notice that it has to end, too. */
const NAP_MS = 1000
/** Nobody holds it for more than milliseconds: after as many naps, who did has ended. */
const MAX_NAPS = 10

/**
 * Runs while no other thread does under the same lock, which is the first word of `state`. Never to be nested. Throws where it is never given
 * back; whoever owns it starts anew then.
 */
export const locked = <T>(state: Int32Array<SharedArrayBuffer>, run: () => T): T => {
  if (Atomics.compareExchange(state, 0, FREE, HELD) !== FREE)
    for (let naps = 0; Atomics.exchange(state, 0, AWAITED) !== FREE; ) {
      if (naps === MAX_NAPS) throw new Error('a thread ended while it held a lock')
      if (Atomics.wait(state, 0, AWAITED, NAP_MS) === 'timed-out') naps++
    }
  try {
    return run()
  } finally {
    if (Atomics.exchange(state, 0, FREE) === AWAITED) Atomics.notify(state, 0, 1)
  }
}

/** Thrown where shared memory has no room left. Whoever owns it goes on without, and makes room when nobody else uses it. */
export class NoRoom extends Error {
  constructor() {
    super('the shared dictionaries have no room left')
  }
}
