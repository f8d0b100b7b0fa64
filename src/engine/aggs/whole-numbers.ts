import { MISSING } from '../index/column-codec.ts'
import type { Batch } from './batch.ts'
import type { RawNumbers } from './values.ts'

/** Totals of whole numbers, by bucket. None of them is so large that a double does not hold it. */
export interface WholeTotals {
  counts: Float64Array
  sums: Float64Array
}

/** Without a look at anything but the numbers and, where they are mixed, the buckets. */
export const totalsOfWhole = (raw: RawNumbers, batch: Batch): WholeTotals => {
  const { buckets, count, runs } = batch
  const totals = { counts: new Float64Array(buckets), sums: new Float64Array(buckets) }
  if (!runs && batch.owners) byOwners(raw, batch, batch.owners, totals)
  else {
    const ends = runs ?? [count]
    for (let bucket = 0, start = 0; bucket < ends.length; bucket++) {
      addRun(raw, batch, { bucket, start, end: ends[bucket]! }, totals)
      start = ends[bucket]!
    }
  }
  return totals
}

interface Run {
  bucket: number
  start: number
  end: number
}

const addRun = ({ values, base }: RawNumbers, { list, from }: Batch, { bucket, start, end }: Run, to: WholeTotals) => {
  let sum = 0
  let zeros = 0
  if (list)
    for (let i = start; i < end; i++) {
      const value = values[list[i]!]!
      sum += value
      if (value === 0) zeros++
    }
  else
    for (let i = from + start; i < from + end; i++) {
      const value = values[i]!
      sum += value
      if (value === 0) zeros++
    }
  const present = end - start - (base === MISSING ? zeros : 0)
  to.counts[bucket] = present
  to.sums[bucket] = sum + base * present
}

const byOwners = (
  { values, base }: RawNumbers,
  { list, from, count }: Batch,
  owners: Uint32Array,
  { counts, sums }: WholeTotals,
) => {
  const none = base === MISSING ? 0 : -1
  for (let i = 0; i < count; i++) {
    const value = values[list ? list[i]! : from + i]!
    if (value === none) continue
    counts[owners[i]!]!++
    sums[owners[i]!]! += base + value
  }
}

/** The least and the greatest of whole numbers, by bucket. */
export const endsOfWhole = (
  { values, base }: RawNumbers,
  { list, from, count, owners, buckets }: Batch,
): Record<'least' | 'greatest', Float64Array> => {
  const none = base === MISSING ? 0 : -1
  const least = new Float64Array(buckets).fill(Number.POSITIVE_INFINITY)
  const greatest = new Float64Array(buckets).fill(Number.NEGATIVE_INFINITY)
  for (let i = 0; i < count; i++) {
    const value = values[list ? list[i]! : from + i]!
    if (value === none) continue
    const owner = owners ? owners[i]! : 0
    if (base + value < least[owner]!) least[owner] = base + value
    if (base + value > greatest[owner]!) greatest[owner] = base + value
  }
  return { least, greatest }
}
