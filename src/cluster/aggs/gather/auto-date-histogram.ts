import { scalesOf } from '../../../query/aggs/buckets/auto-date-histogram.ts'
import { type Answered, countIn, objectIn } from '../answer.ts'
import { bucketsOf, endsIn, type KnownStarts, startsIn } from '../kinds/auto-date-histogram.ts'
import { type KeyedBucket, keyedBy } from './keyed.ts'
import type { Gather } from './kind.ts'

/**
 * How long buckets are follows from the times of all networks, and no network alone makes them longer than all do. So each tells its documents by
 * units of the buckets that it would have alone, and its first and last time.
 */
export const autoDateHistogram: Gather<'auto_date_histogram'> = (spec, told, gathering) => {
  const scales = scalesOf(spec)
  return keyedBy(told, gathering, found => {
    const ends = endsIn(found)
    if (!ends) return []
    const { name, starts } = scales.unitsOf(...ends)
    const buckets = bucketsOf(found, name)
    if (buckets && starts.every(start => String(start) in buckets)) return withEnds(rangesIn(buckets), ends)
    gathering.again((known): KnownStarts => ({ lists: joined(startsIn(known), name, starts) }))
    return []
  })
}

const rangesIn = (buckets: Answered): KeyedBucket[] =>
  Object.keys(buckets)
    .map((from): KeyedBucket => ({ key: Number(from), bucket: objectIn(buckets, from) }))
    .filter(({ bucket }) => countIn(bucket) > 0)
    .sort((a, b) => a.key - b.key)

/** The first and the last bucket are told by the first and the last time, which lie in them. */
const withEnds = (ranges: readonly KeyedBucket[], [least, greatest]: readonly [number, number]): KeyedBucket[] => {
  const [{ bucket: first }, ...others] = ranges as [KeyedBucket, ...KeyedBucket[]]
  const begun = [{ key: least, bucket: first }, ...others.slice(0, -1)]
  if (least === greatest) return begun
  // With one bucket alone, the last time stands for no more documents.
  return [...begun, { key: greatest, bucket: others.at(-1)?.bucket }]
}

/** One list for all buckets above whose units are the same: what lies between those of two of them holds nothing of either. */
const joined = (lists: KnownStarts['lists'], name: string, starts: readonly number[]): KnownStarts['lists'] => {
  const all = new Set([...(lists.get(name) ?? []), ...starts])
  return new Map(lists).set(
    name,
    [...all].sort((a, b) => a - b),
  )
}
