import { besideBuckets, sum } from './beside.ts'
import { simpleValue } from './pipeline.ts'

export const sumBucket = besideBuckets(
  'The sum of a number of the buckets.',
  [],
  (_, format) => found => simpleValue(sum(found), format),
)
