/** How long one thing took when it was done many times. In milliseconds. */
export interface Times {
  runs: number
  p50: number
  p99: number
  max: number
}

export const timesOf = (times: readonly number[]): Times => {
  const sorted = times.toSorted((a, b) => a - b)
  /** The least value that a share of all does not exceed. */
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  return { runs: sorted.length, p50: rank(0.5), p99: rank(0.99), max: rank(1) }
}
