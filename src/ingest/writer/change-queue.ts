import { createLaneShares } from '../../lib/scheduling/lane-turns.ts'
import { type Change, LANE_PARTS, type LaneName } from '../messages.ts'

/** A change that waits to be written, by the number under which it is answered. */
export type QueuedChange = Change & { id: number }

/** Blocks of the head that wait, from which on they share the time with shipping. */
const MANY_OF_HEAD = 8

/** Changes that wait for the writer: those of the head go before those of a back-fill, as long as they need no more than their part of the time. */
export const createChangeQueue = () => {
  const lanes: Record<LaneName, QueuedChange[]> = { head: [], fill: [] }
  const shares = createLaneShares(LANE_PARTS)
  return {
    add: (change: QueuedChange) => void lanes[laneOf(change)].push(change),
    /** It could not be written, and is the next one of its lane again. */
    putBack: (change: QueuedChange) => void lanes[laneOf(change)].unshift(change),
    /** Whose turn it is; undefined where nothing waits of the head: then merging goes before a back-fill. */
    urgent(): LaneName | undefined {
      if (lanes.head.length === 0) return undefined
      // Changes of rules and reorganisations apply to everything that is written after them.
      const isPlain = lanes.fill.length > 0 && lanes.head.every(({ type }) => type === 'batch')
      return isPlain ? shares.next() : 'head'
    },
    first: (lane: LaneName = 'fill'): QueuedChange | undefined => lanes[lane][0],
    take: (lane: LaneName = 'fill'): QueuedChange | undefined => lanes[lane].shift(),
    hasFill: () => lanes.fill.length > 0,
    /** It took so much time to write it; whether that may go to shipping as well: the head does not wait, unless it takes all of the time. */
    spend(change: QueuedChange, ms: number): boolean {
      shares.spend(laneOf(change), ms)
      return laneOf(change) === 'fill' || lanes.head.length >= MANY_OF_HEAD
    },
  }
}

/** Decoding again takes turns with a back-fill, as what is restored does. */
const laneOf = (change: Change): LaneName =>
  change.type === 'batch' || change.type === 'replace' ? change.lane : ASIDE.has(change.type) ? 'fill' : 'head'
const ASIDE: ReadonlySet<Change['type']> = new Set(['revise', 'restore', 'verified', 'forget'])
