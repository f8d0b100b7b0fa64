/** Throttles requests: a rate limit for any second. */
export interface RequestPace {
  /** Milliseconds until `cost` may go; 0 if now. */
  waitMs(cost: number): number
  take(cost: number): void
}

/** Learns the rate limit of a node from its refusals. */
export interface LearntPace extends RequestPace {
  /** Calls per second; infinite until the first refusal. */
  readonly most: number
  /** Number of times that `most` was lowered. */
  readonly cuts: number
  /** The node refused `calls`; `cuts`: the count when they were sent. */
  refused(calls: number, cuts: number): void
}

/**
 * Records the last second of requests: no second has more than `most`, wherever it begins. A
 * request above `most` goes alone and delays others by as many seconds.
 */
export const createRequestPace = (most: number, elapsed: () => number): RequestPace & { used(): number } => {
  /** Ascending by the time when it stops counting. */
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
    used() {
      forget()
      return used
    },
  }
}

/**
 * Each refusal lowers the rate to the share of the last second that was accepted, by a tenth to a
 * half, but not for requests sent before. While requests wait, the rate grows: slowly near the
 * refused rate, fast elsewhere. Even spacing lets urgent requests through soon.
 */
export const createLearntPace = (elapsed: () => number): LearntPace => {
  let most = Number.POSITIVE_INFINITY
  let refusedMost = Number.POSITIVE_INFINITY
  let cuts = 0
  let changedAt = elapsed()
  let dueAt = Number.NEGATIVE_INFINITY
  const gone = createRequestPace(Number.POSITIVE_INFINITY, elapsed)
  const refusals = createRequestPace(Number.POSITIVE_INFINITY, elapsed)

  const grow = () => {
    if (elapsed() - changedAt < SECOND_MS) return
    changedAt = elapsed()
    const near = refusedMost * (1 - NEAR_REFUSED)
    if (most < near) most = Math.min(near, most + Math.max(1, most * FAST))
    else most += most < refusedMost * (1 + NEAR_REFUSED) ? most * SLOWLY : Math.max(1, most * FAST)
  }

  return {
    get most() {
      return most
    },
    get cuts() {
      return cuts
    },
    waitMs() {
      const ms = dueAt - elapsed()
      if (ms > 0) grow()
      return Math.max(0, ms)
    },
    take(cost) {
      gone.take(cost)
      dueAt = Math.max(dueAt, elapsed()) + (cost / most) * 1_000
    },
    refused(calls, before) {
      refusals.take(calls)
      const taken = Math.max(gone.used() - refusals.used(), calls / 2)
      // Each of the first refusals reveals more of the accepted rate.
      if (before === 0 && cuts < 2) most = Math.max(1, Math.min(most, taken))
      else if (before === cuts) {
        refusedMost = Math.min(most, taken + calls)
        most = Math.max(1, Math.min(most * CUT, Math.max(most * DEEPEST_CUT, taken)))
      } else return
      if (before === cuts) cuts++
      changedAt = elapsed()
    },
  }
}

/** Part around the refused rate in which growth is slow, since each refusal costs a rest. */
const NEAR_REFUSED = 0.1
const SLOWLY = 0.002
const FAST = 0.25
const CUT = 0.9
const DEEPEST_CUT = 0.5

/** Divisor of the rate for one request, since counting by the second is uneven. */
export const LEARNT_PARTS = 8

/** A second of the other side, allowing for varying latency. */
const SECOND_MS = 1_050
