/** Has no more go in any second than there may. */
export interface Pace {
  /** Milliseconds until so much may go; 0 where it may now. */
  waitMs(cost: number): number
  /** Counts what goes now. */
  take(cost: number): void
}

/**
 * All that went within the last second is kept, so that no second has more than `most`, wherever one begins to count. What costs more than a
 * second has goes alone, and keeps the others waiting for as many seconds.
 */
export const createPace = (most: number, elapsed: () => number): Pace => {
  /** Ascending by the time at which it counts no more. */
  const gone: { until: number; cost: number }[] = []
  let used = 0

  const forget = (): number => {
    const at = elapsed()
    let past = 0
    while (past < gone.length && gone[past]!.until <= at) used -= gone[past++]!.cost
    if (past > 0) gone.splice(0, past)
    if (gone.length === 0) used = 0
    return at
  }

  return {
    waitMs(cost) {
      const at = forget()
      let left = used
      let until = at
      for (const one of gone) {
        if (left + cost <= most) break
        left -= one.cost
        until = one.until
      }
      return until - at
    },
    take(cost) {
      if (cost <= 0) return
      const at = forget()
      gone.push({ until: at + SECOND_MS * Math.max(1, cost / most), cost })
      used += cost
    },
  }
}

/** A second as the other side may count it: requests take longer and shorter to get there. */
const SECOND_MS = 1_050
