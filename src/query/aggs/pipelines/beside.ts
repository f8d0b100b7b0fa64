import type { JsonNode } from '../../json-node.ts'
import type { Format } from '../metrics/metric.ts'
import type { Bucket, Metric } from '../result.ts'
import { bodyOf, collect, formatOf, gapPolicyOf, onePath, type PipelineKind } from './pipeline.ts'

/** One that stands beside an aggregation with buckets, and looks at a number of each. */
export const besideBuckets = <Name extends string>(
  doc: string,
  options: readonly Name[],
  read: (
    options: Partial<Record<Name, JsonNode>>,
    format: Format,
  ) => (found: { bucket: Bucket; value: number }[]) => Metric,
  example: object = {},
): PipelineKind => ({
  doc,
  example: { buckets_path: 'days>gas', ...example },
  stands: 'beside',
  read(place) {
    const body = bodyOf(place, ['gap_policy', 'format', ...options])
    const path = onePath(place, body)
    const gaps = gapPolicyOf(body.gap_policy)
    const find = read(body as Partial<Record<Name, JsonNode>>, formatOf(body.format))
    return { paths: [path], beside: results => find(collect(results, path, gaps)) }
  },
})

export const sum = (found: readonly { value: number }[]): number => found.reduce((sum, { value }) => sum + value, 0)
