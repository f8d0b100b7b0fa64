import type { Totals } from '../metrics/moments.ts'
import { statsOf } from '../metrics/stats.ts'
import { besideBuckets, sum } from './beside.ts'

export const statsBucket = besideBuckets(
  'Count, minimum, maximum, mean and sum of a number over the buckets.',
  [],
  (_, format) => found => statsOf(totalsOf(found), format, 'stats_bucket'),
)

/** Added up without compensation, as Elasticsearch does here. */
export const totalsOf = (found: readonly { value: number }[]): Totals => {
  const totals: Totals = { count: found.length, sum: sum(found), sumOfSquares: 0, min: Infinity, max: -Infinity }
  for (const { value } of found) {
    totals.sumOfSquares += value * value
    totals.min = Math.min(totals.min, value)
    totals.max = Math.max(totals.max, value)
  }
  return totals
}
