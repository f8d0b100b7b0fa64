import { besideBuckets } from './beside.ts'
import { extreme, withKeys } from './max-bucket.ts'

export const minBucket = besideBuckets(
  'The smallest number of the buckets, and the keys of the buckets that have it.',
  [],
  (_, format) => found => withKeys(found, Math.min(...extreme(found, (a, b) => a < b)), format),
)
