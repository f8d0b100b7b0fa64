import type { Format } from '../metrics/metric.ts'
import type { Bucket, Metric } from '../result.ts'
import { besideBuckets } from './beside.ts'
import { keyText } from './path.ts'
import { simpleValue } from './pipeline.ts'

export const maxBucket = besideBuckets(
  'The largest number of the buckets, and the keys of the buckets that have it.',
  [],
  (_, format) => found => withKeys(found, Math.max(...extreme(found, (a, b) => a > b)), format),
)

/** The extreme value, in a list that is empty where there is none. */
export const extreme = (found: readonly { value: number }[], beats: (a: number, b: number) => boolean): number[] => {
  let best: number | undefined
  for (const { value } of found) if (best === undefined || beats(value, best)) best = value
  return best === undefined ? [] : [best]
}

export const withKeys = (
  found: readonly { bucket: Bucket; value: number }[],
  value: number,
  format: Format,
): Metric => {
  const metric = simpleValue(value, format, 'bucket_metric_value')
  const keys = found.filter(one => one.value === value).map(({ bucket }) => keyText(bucket))
  return { ...metric, body: [...metric.body, ['keys', keys]] }
}
