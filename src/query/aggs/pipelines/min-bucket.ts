import { besideBuckets } from './beside.ts'
import { extreme, withKeys } from './max-bucket.ts'

export const minBucket = besideBuckets(
  'The least number of the buckets, and the keys of those that have it.',
  [],
  (_, format) => found => withKeys(found, Math.min(...extreme(found, (a, b) => a < b)), format),
)
