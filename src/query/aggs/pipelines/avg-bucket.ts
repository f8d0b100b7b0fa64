import { besideBuckets, sum } from './beside.ts'
import { simpleValue } from './pipeline.ts'

export const avgBucket = besideBuckets(
  'The mean of a number over the buckets.',
  [],
  (_, format) => found => simpleValue(sum(found) / found.length, format),
)
