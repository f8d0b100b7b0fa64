import { seenOf } from '../engine/query/snapshot.ts'
import { type Reader, readingIn, wholeRanges } from '../engine/reader.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { gapsIn, partsIn, type Range } from '../lib/ranges.ts'
import type { Seen } from '../query/request.ts'
import { scopedIn } from '../search/coverage.ts'

/** Which of a network's blocks are in the cluster, by the state of its store that the reader sees. */

export const newestShelved = ({ ranges }: Pick<Visible, 'ranges'>): number => ranges.at(-1)?.to ?? -1

export const shelvedNow = ({ ranges }: Pick<Visible, 'ranges'>, reader: Reader): Seen =>
  seenOf(
    ranges.map(({ from, to }) => [from, to] as const),
    reader,
  )

/** The newest block up to which all that is stored above another block is in the cluster: who reads on from there misses none. */
export const shelvedUpTo = (visible: Pick<Visible, 'ranges'>, above: number, reader: Reader): number => {
  const newest = newestShelved(visible)
  for (const { from, to } of wholeRanges(reader.segments())) {
    if (to <= above) continue
    const [gap] = gapsIn(visible.ranges, Math.max(from, above + 1), to)
    if (gap) return Math.min(newest, gap.from - 1)
  }
  return newest
}

/** Of blocks in a cluster those that are held whole, and what was looked for in others. */
export const heldInCluster = (reader: Reader, shelved: readonly Range[]) =>
  readingIn(reader)(() => {
    const ranges = wholeRanges(reader.segments()).flatMap(({ from, to }) => partsIn(shelved, from, to))
    return { ranges, ...scopedIn(reader) }
  })
