/**
 * Circuit breaker of a destination. When `MAX_FIRST_FAILURES` messages in a row fail on their first
 * attempt, it opens, longer after every failed probe, then sends one delivery alone. A message that
 * fails again may itself be the cause (poison): only very many in a row pause, and only these.
 */
export interface Breaker {
  /** Failures in a row that open it. */
  readonly most: number
  failures: number
  /** Failed probes since it opened, plus the failure that opened it. */
  opened: number
  /** Time of the next attempt by `clock.elapsed`; 0 while closed. */
  openUntil: number
  /** Time of the first failure in a row. */
  failingSince: number | undefined
}

/** Whether a delivery has failed before. */
export type Turn = 'first' | 'again'

export type Breakers = Readonly<Record<Turn, Breaker>>

export const MAX_FIRST_FAILURES = 5
const FAILURES_AGAIN = 20
const FIRST_OPEN_MS = 5_000
const MAX_OPEN_MS = 5 * 60_000
const CLOSED_BREAKER = { failures: 0, opened: 0, openUntil: 0, failingSince: undefined }

export const createBreakers = (): Breakers => ({
  first: { most: MAX_FIRST_FAILURES, ...CLOSED_BREAKER },
  again: { most: FAILURES_AGAIN, ...CLOSED_BREAKER },
})

/** Allowed concurrency. */
export const allowed = ({ opened, openUntil }: Breaker, now: number, most: number): number =>
  opened === 0 ? most : now < openUntil ? 0 : 1

export const succeeded = ({ first, again }: Breakers) => {
  Object.assign(first, CLOSED_BREAKER)
  Object.assign(again, CLOSED_BREAKER)
}

/** `probe`: the tested breaker. Failures of messages sent before it opened change nothing. */
export const failed = ({ first, again }: Breakers, turn: Turn, now: number, probe?: Breaker) => {
  // If every delivery was attempted before, a failed one is the probe.
  const breaker = turn === 'first' || first.opened > 0 ? first : again
  breaker.failures++
  breaker.failingSince ??= now
  if (breaker.opened > 0 ? probe !== breaker : breaker.failures < breaker.most) return
  breaker.openUntil = now + Math.min(FIRST_OPEN_MS * 2 ** breaker.opened, MAX_OPEN_MS)
  breaker.opened++
}

/** Time of the first failure in a row; undefined after a success. */
export const failingSince = ({ first, again }: Breakers): number | undefined => {
  const since = Math.min(first.failingSince ?? Number.POSITIVE_INFINITY, again.failingSince ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(since) ? since : undefined
}
