import { refuse } from '../../../lib/errors.ts'
import { type JsonNode, where } from '../../json-node.ts'
import { bucketScript, bucketSelector, bucketSort } from './buckets.ts'
import { cumulativeSum, derivative, movingAvg, movingFn, serialDiff } from './histogram.ts'
import type { PipelineAggregation, PipelineKind } from './pipeline.ts'
import {
  avgBucket,
  extendedStatsBucket,
  maxBucket,
  minBucket,
  percentilesBucket,
  statsBucket,
  sumBucket,
} from './siblings.ts'

export const PIPELINES = {
  avg_bucket: avgBucket,
  max_bucket: maxBucket,
  min_bucket: minBucket,
  sum_bucket: sumBucket,
  stats_bucket: statsBucket,
  extended_stats_bucket: extendedStatsBucket,
  percentiles_bucket: percentilesBucket,
  derivative,
  cumulative_sum: cumulativeSum,
  serial_diff: serialDiff,
  moving_fn: movingFn,
  moving_avg: movingAvg,
  bucket_script: bucketScript,
  bucket_selector: bucketSelector,
  bucket_sort: bucketSort,
} satisfies Record<string, PipelineKind>

/** Refused pipeline aggregations of Elasticsearch, with a remedy. */
export const REFUSED_PIPELINES: Readonly<Record<string, string>> = {
  bucket_correlation: 'Compute it from the buckets.',
  bucket_count_ks_test: 'Compute it from the buckets.',
  cumulative_cardinality: 'Use cardinality in searches that begin earlier.',
  inference: 'There are no machine learning models.',
  moving_percentiles: 'Use percentiles in a histogram with longer intervals.',
  normalize: 'Use sum_bucket or max_bucket, and divide by its value.',
}

/** Undefined if the type is no pipeline. */
export const parsePipeline = (name: string, type: string, place: JsonNode): PipelineAggregation | undefined => {
  if (Object.hasOwn(REFUSED_PIPELINES, type)) {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: the aggregation [${type}] is not supported. ${REFUSED_PIPELINES[type]} Supported are ${Object.keys(PIPELINES).join(', ')}.`,
    )
  }
  if (!Object.hasOwn(PIPELINES, type)) return undefined
  const kind: PipelineKind = PIPELINES[type as keyof typeof PIPELINES]
  return { name, type, place, stands: kind.stands, ...kind.read(place) }
}
