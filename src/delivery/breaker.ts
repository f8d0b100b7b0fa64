/**
 * Keeps from a destination that fails again and again what would fail as well. After `FAILURES` failures in a row nothing is sent for a
 * time that grows with every failed probe, then one delivery alone.
 */
export interface Breaker {
  /** Failures in a row. */
  failures: number
  /** Probes that have failed since it opened, and the failure that opened it. */
  opened: number
  /** Epoch milliseconds before which nothing is sent; 0 while it is closed. */
  restUntil: number
  /** Of the first failure in a row. */
  failingSince: number | undefined
}

export const FAILURES = 5
const FIRST_REST_MS = 5_000
const LONGEST_REST_MS = 5 * 60_000

export const createBreaker = (): Breaker => ({ failures: 0, opened: 0, restUntil: 0, failingSince: undefined })

/** How many may be under way at once. */
export const allowed = ({ opened, restUntil }: Breaker, now: number, most: number): number =>
  opened === 0 ? most : now < restUntil ? 0 : 1

export const succeeded = (breaker: Breaker) => Object.assign(breaker, createBreaker())

/** `probe`: it was sent while the breaker was open. Failures of what was sent before it opened change nothing more. */
export const failed = (breaker: Breaker, now: number, probe: boolean) => {
  breaker.failures++
  breaker.failingSince ??= now
  if (breaker.opened > 0 ? !probe : breaker.failures < FAILURES) return
  breaker.restUntil = now + Math.min(FIRST_REST_MS * 2 ** breaker.opened, LONGEST_REST_MS)
  breaker.opened++
}
