/** Backoff of retries in milliseconds, by Standard Webhooks: ten tries in about three days. */
export const SCHEDULE_MS: readonly number[] = [
  0,
  5_000,
  5 * 60_000,
  30 * 60_000,
  ...[2, 5, 10, 14, 20, 24].map(hours => hours * 3_600_000),
]

const JITTER = 0.1

/**
 * When to retry after `tries` tries; undefined after the last. Jitter of a tenth separates
 * deliveries that failed together; never earlier than the receiver requested.
 */
export const nextTry = (
  tries: number,
  now: number,
  {
    schedule = SCHEDULE_MS,
    retryAfterMs = 0,
    random = Math.random,
  }: { schedule?: readonly number[]; retryAfterMs?: number | undefined; random?: () => number } = {},
): number | undefined => {
  const wait = schedule[tries]
  if (wait === undefined) return undefined
  const jittered = wait * (1 - JITTER + 2 * JITTER * random())
  return now + Math.ceil(Math.max(jittered, retryAfterMs * (1 + JITTER * random())))
}

export const scheduleSpan = (schedule: readonly number[]): number => schedule.reduce((sum, wait) => sum + wait, 0)
