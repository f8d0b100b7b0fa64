import type { Kind } from '../../mapping/index.ts'
import type { SegmentView } from '../query/segment-matcher.ts'
import type { Elements } from './elements.ts'

/** Documents of one kind in one segment, or elements of a nested list of theirs. */
export interface At extends SegmentView {
  kind: Kind
  /** Undefined: the documents themselves. Else ordinals are places among the elements. */
  elements: Elements | undefined
}

/** Some of them, in buckets of the level above, which are numbered from 0. */
export interface Batch {
  count: number
  /** Ordinals; undefined where they are the `count` ones from `from` on. One may occur several times. */
  list: Uint32Array | undefined
  from: number
  /** The bucket of each; undefined where there is but one. */
  owners: Uint32Array | undefined
  /** Buckets. */
  buckets: number
}

export const ordinalAt = ({ list, from }: Batch, i: number): number => (list ? list[i]! : from + i)

/** Those of a batch for which `keep` holds. `keep` is asked by place in the batch. */
export const filtered = (batch: Batch, keep: (ordinal: number, i: number) => boolean): Batch => {
  const { count, owners, buckets } = batch
  const list = new Uint32Array(count)
  const kept = owners && new Uint32Array(count)
  let size = 0
  for (let i = 0; i < count; i++) {
    const ordinal = ordinalAt(batch, i)
    if (!keep(ordinal, i)) continue
    list[size] = ordinal
    if (kept) kept[size] = owners[i]!
    size++
  }
  if (size === count) return batch
  return { count: size, list: list.subarray(0, size), from: 0, owners: kept?.subarray(0, size), buckets }
}

/** How many of a batch lie in each bucket. */
export const countsOf = ({ count, owners, buckets }: Batch): Float64Array => {
  const counts = new Float64Array(buckets)
  if (owners) for (let i = 0; i < count; i++) counts[owners[i]!]!++
  else if (buckets > 0) counts[0] = count
  return counts
}
