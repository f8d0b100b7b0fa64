import type { Kind } from '../../mapping/index.ts'
import type { SegmentView } from '../query/fields/ordinals.ts'
import { and, count, eachOrdinal, isEmptySet, type OrdinalSet, run, toArray } from '../query/match/ordinal-set.ts'
import type { Elements } from './elements.ts'

/** The documents of one kind in a segment, or elements of their nested lists. */
export interface BatchView extends SegmentView {
  kind: Kind
  /** If set, ordinals are places among these elements. */
  elements: Elements | undefined
}

/** Some documents or elements, in buckets numbered from 0. */
export interface Batch {
  count: number
  /** Ordinals, possibly repeated; undefined for `count` consecutive ones from `from` on. */
  readonly list: Uint32Array | undefined
  from: number
  /** The ordinals as a mask, without repeats; `list` is then computed lazily. */
  bits?: Uint32Array
  /** The bucket of each; undefined if there is only one. */
  owners: Uint32Array | undefined
  buckets: number
  /** If sorted by bucket: the end of each bucket. */
  runs?: Uint32Array
}

export const emptyBatch = ({ buckets }: Batch): Batch => ({
  ...{ count: 0, list: undefined, from: 0, buckets },
  owners: new Uint32Array(0),
})

/** Splits a batch into consecutive buckets; `owners` is computed lazily. */
export const cutIntoRuns = (batch: Batch, runs: Uint32Array): Batch => {
  if (runs.length === 1) return batch
  const { count, from, bits } = batch
  let owners: Uint32Array | undefined
  return {
    ...{ count, from, buckets: runs.length, runs },
    ...(bits && { bits }),
    get list() {
      return batch.list
    },
    get owners() {
      owners ??= ownersOf(runs, count)
      return owners
    },
  }
}

const ownersOf = (runs: Uint32Array, count: number): Uint32Array => {
  const owners = new Uint32Array(count)
  for (let bucket = 0, start = 0; bucket < runs.length; bucket++) {
    owners.fill(bucket, start, runs[bucket]!)
    start = runs[bucket]!
  }
  return owners
}

export const ordinalAt = ({ list, from }: Batch, i: number): number => (list ? list[i]! : from + i)

export const filterBatch = (batch: Batch, keep: (ordinal: number, i: number) => boolean): Batch => {
  const { count, list: all, from, owners, buckets } = batch
  const list = new Uint32Array(count)
  const kept = owners && new Uint32Array(count)
  let size = 0
  for (let i = 0; i < count; i++) {
    const ordinal = all ? all[i]! : from + i
    if (!keep(ordinal, i)) continue
    list[size] = ordinal
    if (kept) kept[size] = owners[i]!
    size++
  }
  if (size === count) return batch
  return { count: size, list: list.subarray(0, size), from: 0, owners: kept?.subarray(0, size), buckets }
}

export const batchOf = (set: OrdinalSet): Batch => {
  const shared = { count: count(set), owners: undefined, buckets: 1 }
  if (set.form === 'run') return { ...shared, list: undefined, from: set.from }
  if (set.form === 'list') return { ...shared, list: set.list, from: 0 }
  let list: Uint32Array | undefined
  return {
    ...{ ...shared, from: 0, bits: set.bits },
    get list() {
      list ??= toArray(set)
      return list
    },
  }
}

/** The ordinals of a batch that has them all once. */
const distinctOrdinals = ({ bits, count, from }: Batch): OrdinalSet =>
  bits ? { form: 'bits', bits, count } : run(from, from + count)

/** The documents of a batch that are in the mask. */
export const maskBatch = (
  batch: Batch,
  mask: OrdinalSet,
  { size, elements }: Pick<BatchView, 'size' | 'elements'>,
): Batch => {
  const all = elements ? elements.size : size
  if (mask.form === 'run' && mask.from === 0 && mask.to >= all) return batch
  if (isEmptySet(mask)) return emptyBatch(batch)
  if (!batch.runs && !batch.owners && (batch.bits || !batch.list)) {
    const left = and(mask, distinctOrdinals(batch), all)
    return count(left) === batch.count ? batch : batchOf(left)
  }
  const bits = maskBits(mask, all)
  return filterBatch(batch, ordinal => (bits[ordinal >>> 5]! & (1 << (ordinal & 31))) !== 0)
}

const maskBits = (set: OrdinalSet, size: number): Uint32Array => {
  if (set.form === 'bits') return set.bits
  const bits = new Uint32Array((size + 31) >>> 5)
  eachOrdinal(set, ordinal => {
    bits[ordinal >>> 5]! |= 1 << (ordinal & 31)
  })
  return bits
}

export const countsByBucket = (batch: Batch): Float64Array => {
  const { count, buckets, runs } = batch
  if (runs) return Float64Array.from(runs, (end, bucket) => end - (bucket === 0 ? 0 : runs[bucket - 1]!))
  const counts = new Float64Array(buckets)
  const { owners } = batch
  if (owners) for (let i = 0; i < count; i++) counts[owners[i]!]!++
  else if (buckets > 0) counts[0] = count
  return counts
}
