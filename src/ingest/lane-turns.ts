import type { LaneName } from './messages.ts'
import { createShares } from './writer/lane-shares.ts'

/** A turn that lasts as long waits for something itself, a node say: the other lane goes on beside it. */
const STUCK_MS = 100

/** Has the lanes take turns, a block each, by their shares. */
export type Turns = ReturnType<typeof createTurns>

/** `now` in milliseconds. */
export const createTurns = (now: () => number = () => performance.now()) => {
  const shares = createShares()
  const waiting: Record<LaneName, (() => void)[]> = { head: [], fill: [] }
  let current: { lane: LaneName; since: number } | undefined
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  const isAwaited = () => waiting.head.length + waiting.fill.length > 0
  /** Not before the event loop has come round: a lane that goes on at once is among those that wait by then. */
  const admitLater = () => {
    if (isDue) return
    isDue = true
    setImmediate(admit)
  }
  const admit = () => {
    isDue = false
    const left = current === undefined ? 0 : current.since + STUCK_MS - now()
    if (left > 0) return lookAgain(left)
    const both = waiting.head.length > 0 && waiting.fill.length > 0
    const lane = both ? shares.next() : waiting.head.length > 0 ? 'head' : 'fill'
    const run = waiting[lane].shift()
    if (!run) return
    if (current) end(current)
    run()
    // This turn may get stuck.
    if (isAwaited()) lookAgain(STUCK_MS)
  }
  const lookAgain = (ms: number) => {
    if (timer) return
    timer = setTimeout(() => {
      timer = undefined
      admit()
    }, Math.ceil(ms))
  }
  const end = (turn: { lane: LaneName; since: number }) => {
    if (turn !== current) return
    shares.spend(turn.lane, Math.min(STUCK_MS, now() - turn.since))
    current = undefined
  }

  return {
    /** Resolves when it is this lane's turn, after whatever else the thread has at hand; the function that comes back ends it. */
    async enter(lane: LaneName): Promise<() => void> {
      await new Promise<void>(resolve => {
        waiting[lane].push(() => {
          current = { lane, since: now() }
          resolve()
        })
        admitLater()
      })
      const own = current!
      return () => {
        end(own)
        if (isAwaited()) admitLater()
      }
    },
    /** The lane used so much time outside of its turns. */
    spend: shares.spend,
  }
}
