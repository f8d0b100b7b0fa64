/** What a lane has of a thread's time. */
export interface LanePart {
  /** Part of the time, of which all lanes together have 1. */
  part: number
  /**
   * Time, in milliseconds of the whole thread, that the lane can have left unused and still take: for so long it goes first when it comes back from
   * a pause.
   */
  creditMs: number
}

/** Divides the time of a thread between lanes: one that needs no more than its part goes first, and others have the rest. */
export const createLaneShares = <L extends string>(parts: Readonly<Record<L, LanePart>>) => {
  const lanes = Object.keys(parts) as L[]
  /** Thread time that each has used. */
  const used = Object.fromEntries(lanes.map(lane => [lane, 0])) as Record<L, number>
  return {
    /** Which of those that wait goes next. */
    next: (waiting: readonly L[] = lanes): L | undefined => {
      let first: L | undefined
      for (const lane of waiting) if (first === undefined || used[lane] < used[first]) first = lane
      return first
    },
    spend(lane: L, ms: number) {
      used[lane] += ms / parts[lane].part
      for (const other of lanes)
        if (other !== lane) used[other] = Math.max(used[other], used[lane] - parts[other].creditMs)
    },
  }
}
