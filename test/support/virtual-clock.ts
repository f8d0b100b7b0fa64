import type { Clock } from '../../src/lib/retry.ts'

/** Time that stands still until `run` lets it go by: an hour of it takes as long as what happens in it. */
export interface VirtualClock extends Clock {
  /** Lets time go by; what is asleep wakes in its order, and does what it can before the next does. */
  run(ms: number): Promise<void>
  /** Sets the clock by so much, ahead or back: nobody has waited for it. */
  step(ms: number): void
}

export const createVirtualClock = (start = 1_700_000_000_000): VirtualClock => {
  let now = 0
  let from = start
  let sleepers: { at: number; wake(): void }[] = []
  const settle = async () => {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  }
  return {
    now: () => Math.floor(from + now),
    elapsed: () => now,
    step(ms) {
      from += ms
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const one = { at: now + Math.max(0, ms), wake: resolve }
        sleepers.push(one)
        const abort = () => {
          sleepers = sleepers.filter(it => it !== one)
          reject(signal!.reason)
        }
        signal?.addEventListener('abort', abort, { once: true })
      }),
    async run(ms) {
      const end = now + ms
      for (;;) {
        await settle()
        const next = sleepers.toSorted((a, b) => a.at - b.at)[0]
        if (!next || next.at > end) break
        sleepers = sleepers.filter(it => it !== next)
        now = Math.max(now, next.at)
        next.wake()
      }
      now = end
    },
  }
}
