import type { LaneName } from '../messages.ts'

/**
 * Parts of a thread's time. The head goes first as long as it needs no more than its part: then it keeps up with the chain. Once it needs
 * more, it falls behind, and a back-fill has the rest for certain. What reading answers takes is nobody's, and mostly the back-fill's:
 * measured in blocks, the head then has some six tenths of what it does alone, and the back-fill four.
 */
const PARTS: Record<LaneName, number> = { head: 0.68, fill: 0.32 }
/**
 * Time, in ms of the whole thread, that a lane can have left unused and still take. A head that comes back from a pause goes first for a
 * while; a back-fill does not hold up the head because it waited for its node.
 */
const CREDIT: Record<LaneName, number> = { head: 1000, fill: 30 }

export type Shares = ReturnType<typeof createShares>

/** Divides the time of a thread between two lanes. */
export const createShares = () => {
  /** Thread time that each has used. */
  const used: Record<LaneName, number> = { head: 0, fill: 0 }
  return {
    /** Which one goes next, where both wait. */
    next: (): LaneName => (used.head <= used.fill ? 'head' : 'fill'),
    spend(lane: LaneName, ms: number) {
      used[lane] += ms / PARTS[lane]
      const other = otherOf(lane)
      used[other] = Math.max(used[other], used[lane] - CREDIT[other])
    },
  }
}

export const otherOf = (lane: LaneName): LaneName => (lane === 'head' ? 'fill' : 'head')
