/** A longer turn awaits something itself, such as a node, so other lanes continue. */
const STUCK_MS = 100

/** Lets lanes take turns on the event loop by their parts of the thread's time (`now` in ms). */
export const createLaneTurns = <L extends string>(
  parts: Readonly<Record<L, LanePart>>,
  now: () => number = () => performance.now(),
) => {
  const shares = createLaneShares(parts)
  const waiting = new Map<L, (() => void)[]>((Object.keys(parts) as L[]).map(lane => [lane, []]))
  let current: { lane: L; since: number } | undefined
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  const awaited = (): L[] => [...waiting].flatMap(([lane, all]) => (all.length > 0 ? [lane] : []))
  /** Waits one round, so a lane that continues at once is among the waiting. */
  const admitLater = () => {
    if (isDue) return
    isDue = true
    setImmediate(admit)
  }
  const admit = () => {
    isDue = false
    const left = current === undefined ? 0 : current.since + STUCK_MS - now()
    if (left > 0) return lookAgain(left)
    const lane = shares.next(awaited())
    if (lane === undefined) return
    if (current) end(current)
    waiting.get(lane)!.shift()!()
    // This turn may get stuck.
    if (awaited().length > 0) lookAgain(STUCK_MS)
  }
  const lookAgain = (ms: number) => {
    if (timer) return
    timer = setTimeout(() => {
      timer = undefined
      admit()
    }, Math.ceil(ms))
  }
  const end = (turn: { lane: L; since: number }) => {
    if (turn !== current) return
    shares.spend(turn.lane, Math.min(STUCK_MS, now() - turn.since))
    current = undefined
  }

  return {
    /** Resolves when the lane's turn begins; the returned function ends it. */
    async enter(lane: L): Promise<() => void> {
      await new Promise<void>(resolve => {
        waiting.get(lane)!.push(() => {
          current = { lane, since: now() }
          resolve()
        })
        admitLater()
      })
      const own = current!
      return () => {
        end(own)
        if (awaited().length > 0) admitLater()
      }
    },
    /** Records time that the lane used outside of its turns. */
    spend: shares.spend,
  }
}

export type LaneTurns<L extends string> = ReturnType<typeof createLaneTurns<L>>

export interface LanePart {
  /** Share of the time; those of all lanes add up to 1. */
  part: number
  /** Unused milliseconds of the thread that a lane saves up, for priority after a pause. */
  creditMs: number
}

/** Divides a thread's time: lanes that need less than their part go first, others share. */
export const createLaneShares = <L extends string>(parts: Readonly<Record<L, LanePart>>) => {
  const lanes = Object.keys(parts) as L[]
  const used = Object.fromEntries(lanes.map(lane => [lane, 0])) as Record<L, number>
  return {
    /** Waiting lane to serve next. */
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
