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

/** Source of which documents may be shown. */
export interface VisibilitySource {
  /** Current state, as far as this process knows it. */
  visible(): Visible
  /** State that the writing process published; undefined if this process writes, and knows all. */
  told?: (() => Promise<Visible | undefined> | undefined) | undefined
}

/** Runs work on one visible state; repeats it if documents were removed or rewritten in between. */
export type ConsistentRead = <T>(work: (visible: Visible) => Promise<T>, options: AskOptions) => Promise<T>

/**
 * Documents of reorganised or pruned blocks are noted as hidden before they are removed. An answer
 * is thus complete if no more is hidden when it arrives than when it was requested.
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
  // After the deadline, nobody waits for it.
  asking?.catch(() => {})
  return asking && beforeDeadline(() => asking, options)
}

/** Whether a later state still has all documents of an earlier one. Newer batches are hidden. */
export const isStill = (before: Visible, later: Visible): boolean => {
  if (before === later) return true
  const known = new Set(before.hidden.map(hiddenKey))
  const next = before.hidden.find(isUnbegun)?.batches.from ?? Number.POSITIVE_INFINITY
  return (
    later.hidden.every(one => one.batches.from >= next || known.has(hiddenKey(one))) &&
    before.ranges.every(({ from, to }) => gapsIn(later.ranges, from, to).length === 0)
  )
}

/** Visible documents of a state of the indices, as far as they are still visible later. */
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
 * Reads which documents may be shown, as the shipping process published it; undefined if this
 * process ships. Concurrent searches share one request.
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

/** Blocks of a network in the cluster, by the reader's snapshot of its store. */

export const newestShipped = ({ ranges }: Pick<Visible, 'ranges'>): number => ranges.at(-1)?.to ?? -1
export const shippedNow = ({ ranges }: Pick<Visible, 'ranges'>, reader: StoreReader): SeenBlocks =>
  seenOf(
    ranges.map(({ from, to }) => [from, to] as const),
    reader,
  )
/** Newest block up to which all stored blocks above `above` are in the cluster. */
export const shippedUpTo = (visible: Pick<Visible, 'ranges'>, above: number, reader: StoreReader): number => {
  const newest = newestShipped(visible)
  for (const { from, to } of wholeRanges(reader.segments())) {
    if (to <= above) continue
    const [gap] = gapsIn(visible.ranges, Math.max(from, above + 1), to)
    if (gap) return Math.min(newest, gap.from - 1)
  }
  return newest
}
/** Blocks in a cluster that are stored in full, and what scopes searched for in others. */
export const readShippedBlocks = (reader: StoreReader, shelved: readonly Range[]) =>
  readingIn(reader)(() => {
    const ranges = wholeRanges(reader.segments()).flatMap(({ from, to }) => partsIn(shelved, from, to))
    return { ranges, ...scopedIn(reader) }
  })
