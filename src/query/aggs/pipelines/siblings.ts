import { refuse } from '../../../lib/errors.ts'
import { elements, type JsonNode, toList, unexpected, where } from '../../json-node.ts'
import { booleanKey, type KeyTable, key, optionalKey, readBodyKeys, SCHEMAS, type ValuesOf } from '../../keys.ts'
import { readDouble } from '../../numbers.ts'
import type { Format } from '../ast.ts'
import { extendedStatsOf, type MetricTotals, percentilesOf, statsOf } from '../metric-results.ts'
import type { Bucket, Metric } from '../result.ts'
import {
  COMMON_PIPELINE_KEYS,
  EXPECTED_PIPELINE,
  keyText,
  numbersOfBuckets,
  onePath,
  type PipelineKind,
  simpleValue,
} from './pipeline.ts'

/** Pipeline aggregations whose path leads to buckets of a sibling. */

type FoundNumbers = readonly { bucket: Bucket; value: number }[]

const siblingPipeline = <const K extends KeyTable>(
  doc: string,
  keys: K,
  read: (options: ValuesOf<K>, format: Format) => (found: FoundNumbers) => Metric,
  example: object = {},
): PipelineKind => ({
  doc,
  example: { buckets_path: 'days>gas', ...example },
  stands: 'sibling',
  read(place) {
    const body = readBodyKeys(place, EXPECTED_PIPELINE, { ...COMMON_PIPELINE_KEYS, ...keys }, []) as ValuesOf<
      typeof COMMON_PIPELINE_KEYS
    > &
      ValuesOf<K>
    const path = onePath(place, body.buckets_path)
    const find = read(body, body.format)
    return { paths: [path], sibling: results => find(numbersOfBuckets(results, path, body.gap_policy)) }
  },
})

const sumOfNumbers = (found: FoundNumbers): number => found.reduce((sum, { value }) => sum + value, 0)

export const avgBucket = siblingPipeline(
  'The mean of a number over the buckets.',
  {},
  (_, format) => found => simpleValue(sumOfNumbers(found) / found.length, format),
)

export const sumBucket = siblingPipeline(
  'The sum of a number of the buckets.',
  {},
  (_, format) => found => simpleValue(sumOfNumbers(found), format),
)

export const maxBucket = siblingPipeline(
  'The largest number of the buckets, and the keys of the buckets that have it.',
  {},
  (_, format) => found => withBucketKeys(found, extremeNumber(found, Math.max), format),
)

export const minBucket = siblingPipeline(
  'The smallest number of the buckets, and the keys of the buckets that have it.',
  {},
  (_, format) => found => withBucketKeys(found, extremeNumber(found, Math.min), format),
)

/** Infinite for no numbers, which is shown as null. */
const extremeNumber = (found: FoundNumbers, pick: (...numbers: number[]) => number): number =>
  found.reduce((best, { value }) => pick(best, value), pick())

const withBucketKeys = (found: FoundNumbers, value: number, format: Format): Metric => {
  const metric = simpleValue(value, format, 'bucket_metric_value')
  const keys = found.filter(one => one.value === value).map(({ bucket }) => keyText(bucket))
  return { ...metric, body: [...metric.body, ['keys', keys]] }
}

export const statsBucket = siblingPipeline(
  'Count, minimum, maximum, mean and sum of a number over the buckets.',
  {},
  (_, format) => found => statsOf(totalsOf(found), format, 'stats_bucket'),
)

export const extendedStatsBucket = siblingPipeline(
  'As stats_bucket, with squares, variances and standard deviations.',
  {
    sigma: key(place => {
      const sigma = place === undefined ? 2 : readDouble(place)
      if (sigma < 0) throw unexpected(place!, 'a number from 0 on')
      return sigma
    }, SCHEMAS.number),
  },
  ({ sigma }, format) =>
    found =>
      extendedStatsOf(totalsOf(found), sigma, format, 'extended_stats_bucket'),
  { sigma: 3 },
)

/** Sums are not compensated here, as in Elasticsearch. */
const totalsOf = (found: FoundNumbers): MetricTotals => ({
  count: found.length,
  sum: sumOfNumbers(found),
  sumOfSquares: found.reduce((sum, { value }) => sum + value * value, 0),
  min: extremeNumber(found, Math.min),
  max: extremeNumber(found, Math.max),
})

const percents = (place: JsonNode): number[] => {
  const percents = toList(place, 'a list of percents').map(readDouble)
  for (const [i, percent] of percents.entries()) {
    if (percent >= 0 && percent <= 100) continue
    throw refuse(
      'action_request_validation_exception',
      `${where(elements(place)[i]!)}: percents must only contain non-null doubles from 0.0-100.0 inclusive.`,
    )
  }
  return percents
}

export const percentilesBucket = siblingPipeline(
  'Percentiles of a number of the buckets: each is the number of a bucket.',
  { percents: optionalKey(percents), keyed: booleanKey },
  ({ percents = [1, 5, 25, 50, 75, 95, 99], keyed = true }, format) =>
    found => {
      const sorted = found.map(({ value }) => value).sort((a, b) => a - b)
      const options = { keyed, format, namesTexts: true }
      const metric = percentilesOf({ quantile: (part: number) => nearestRank(sorted, part) }, percents, options)
      return { ...metric, type: 'percentiles_bucket' }
    },
  { percents: [50, 95] },
)

const nearestRank = (sorted: readonly number[], part: number): number =>
  sorted.length === 0 ? Number.NaN : sorted[Math.round(part * (sorted.length - 1))]!
