import { seenOf } from '../engine/query/snapshot.ts'
import { readingIn, type StoreReader, wholeRanges } from '../engine/reader.ts'
import { type Hidden, laterThan, type Visible } from '../engine/shipping/shipped-ranges.ts'
import { gapsIn, partsIn, type Range } from '../lib/ranges.ts'
import { coalesce } from '../lib/scheduling/coalesce.ts'
import type { SeenBlocks } from '../query/request.ts'
import { scopedIn } from '../search/coverage.ts'
import type { Cluster, ClusterOptions } from './connection/cluster.ts'
import { beforeDeadline } from './connection/faults.ts'
import type { AskOptions } from './query-client.ts'
import { readState, stateIndexOf } from './ship/shared-state.ts'

/** What tells which documents may be shown. */
export interface VisibilitySource {
  /** At this moment, as far as this process knows. */
  visible(): Visible
  /** The same as who writes tells it in the cluster by now; undefined where this process writes, and knows all. */
  told?: (() => Promise<Visible | undefined> | undefined) | undefined
}

/** Does work that asks for what is visible at one moment, again where some of that was removed or written anew meanwhile. */
export type ConsistentRead = <T>(work: (visible: Visible) => Promise<T>, options: AskOptions) => Promise<T>

/**
 * Documents of blocks that were left, or pruned, are removed once it is noted that they are hidden, and never before. So an answer is
 * whole if nothing more is hidden when it has come than was when it was asked for.
 */
export const createConsistentRead =
  ({ visible, told }: VisibilitySource): ConsistentRead =>
  async (work, options) => {
    for (let now = visible(); ; ) {
      const done = await work(now)
      const later = (await toldBefore(told, options)) ?? visible()
      if (isStill(now, later)) return done
      now = later
    }
  }

const toldBefore = (told: VisibilitySource['told'], options: AskOptions): Promise<Visible | undefined> | undefined => {
  const asking = told?.()
  // Past the deadline nobody waits for it.
  asking?.catch(() => {})
  return asking && beforeDeadline(() => asking, options)
}

/** Whether all that a search sees of one moment is still there at a later one. Batches that began between are hidden anyway. */
export const isStill = (before: Visible, later: Visible): boolean => {
  if (before === later) return true
  const known = new Set(before.hidden.map(hiddenKey))
  const next = before.hidden.find(isUnbegun)?.batches.from ?? Number.POSITIVE_INFINITY
  return (
    later.hidden.every(one => one.batches.from >= next || known.has(hiddenKey(one))) &&
    before.ranges.every(({ from, to }) => gapsIn(later.ranges, from, to).length === 0)
  )
}

/** What may be shown of a state of the indices that was taken at one moment, as far as it may still be at a later one. */
export const bothVisible = (before: Visible, later: Visible): Visible => {
  const hidden = new Map([...before.hidden, ...later.hidden].map(one => [hiddenKey(one), one]))
  return { hidden: [...hidden.values()], ranges: later.ranges }
}

const isUnbegun = ({ batches }: Hidden): boolean => batches.to === Number.MAX_SAFE_INTEGER

const hiddenKey = ({ batches: { from, to }, above, below }: Hidden): string => `${from} ${to} ${above} ${below}`

interface PublishedVisibilityOptions {
  cluster: Cluster
  naming: Pick<ClusterOptions, 'prefix'>
  network: string
  /** Whether another process may ship. */
  isFollowing(): boolean
}

const PUBLISHED_TIMES = { timeoutMs: 5_000, retries: 1 }

/**
 * What tells what may be shown, as who ships has told it in the cluster by now; undefined where this process ships. Searches that come together
 * ask once.
 */
export const createPublishedVisibility = ({ cluster, naming, network, isFollowing }: PublishedVisibilityOptions) => {
  const index = stateIndexOf(naming, network)
  const patient: Pick<Cluster, 'ask'> = { ask: request => cluster.ask({ ...request, ...PUBLISHED_TIMES }) }
  const read = coalesce(() => readState(patient, index))
  const visible = async (): Promise<Visible | undefined> => {
    const state = await read()
    return state && { hidden: [...state.hidden, laterThan(state.committed)], ranges: state.ranges }
  }
  return (): Promise<Visible | undefined> | undefined => (isFollowing() ? visible() : undefined)
}

/** Which of a network's blocks are in the cluster, by the state of its store that the reader sees. */

export const newestShipped = ({ ranges }: Pick<Visible, 'ranges'>): number => ranges.at(-1)?.to ?? -1
export const shippedNow = ({ ranges }: Pick<Visible, 'ranges'>, reader: StoreReader): SeenBlocks =>
  seenOf(
    ranges.map(({ from, to }) => [from, to] as const),
    reader,
  )
/** The newest block up to which all that is stored above another block is in the cluster: who reads on from there misses none. */
export const shippedUpTo = (visible: Pick<Visible, 'ranges'>, above: number, reader: StoreReader): number => {
  const newest = newestShipped(visible)
  for (const { from, to } of wholeRanges(reader.segments())) {
    if (to <= above) continue
    const [gap] = gapsIn(visible.ranges, Math.max(from, above + 1), to)
    if (gap) return Math.min(newest, gap.from - 1)
  }
  return newest
}
/** Of blocks in a cluster those that are held whole, and what was looked for in others. */
export const readShippedBlocks = (reader: StoreReader, shelved: readonly Range[]) =>
  readingIn(reader)(() => {
    const ranges = wholeRanges(reader.segments()).flatMap(({ from, to }) => partsIn(shelved, from, to))
    return { ranges, ...scopedIn(reader) }
  })
