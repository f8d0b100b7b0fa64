import type { Clock } from './retry.ts'

/** Slower changes are those of a clock that is kept right; shorter ones make no wait too long. */
const LEAST_MS = 5_000

/** Milliseconds that the clock was set ahead since the last call, or back where they are negative; 0 where it went on as time does. */
export const createStepWatch = ({ now, elapsed }: Pick<Clock, 'now' | 'elapsed'>): (() => number) => {
  let known = now() - elapsed()
  return () => {
    const before = known
    known = now() - elapsed()
    return Math.abs(known - before) < LEAST_MS ? 0 : known - before
  }
}
