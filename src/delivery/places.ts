/** The state of a destination after its last attempt. */
export const HEALTHS = ['well', 'unknown', 'failing'] as const
export type Health = (typeof HEALTHS)[number]

/**
 * Places for attempts under way, of one account or of all together. The worse two classes are kept from taking every place, so that
 * however many receivers are dead, one that works finds room. What takes long is counted apart, so that hanging receivers take none.
 */
export interface Places {
  /** How many more attempts of that class may start. */
  room(health: Health): number
  enter(health: Health): void
  leave(health: Health, slow: boolean): void
  /** Whether one more may be counted apart. */
  hasSlowRoom(): boolean
  setApart(health: Health): void
}

/** So many times `total` may be slow. */
const SLOW_FACTOR = 4
/** Shares of `total`: of those that fail, and of those together with the unknown. */
const FAILING_SHARE = 1 / 4
const DOUBTFUL_SHARE = 3 / 4

export const createPlaces = (total: number): Places => {
  const young: Record<Health, number> = { well: 0, unknown: 0, failing: 0 }
  let slow = 0
  return {
    room(health) {
      const { well, unknown, failing } = young
      const all = total - well - unknown - failing
      if (health === 'well') return all
      const doubtful = Math.min(all, Math.ceil(total * DOUBTFUL_SHARE) - unknown - failing)
      return health === 'unknown' ? doubtful : Math.min(doubtful, Math.ceil(total * FAILING_SHARE) - failing)
    },
    enter: health => void young[health]++,
    leave(health, wasSlow) {
      if (wasSlow) slow--
      else young[health]--
    },
    hasSlowRoom: () => slow < total * SLOW_FACTOR,
    setApart(health) {
      young[health]--
      slow++
    },
  }
}
