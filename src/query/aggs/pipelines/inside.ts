import type { JsonNode } from '../../json-node.ts'
import type { Format } from '../metrics/metric.ts'
import type { Bucket, Metric } from '../result.ts'
import { valueIn } from './path.ts'
import { bodyOf, formatOf, gapPolicyOf, onePath, type PipelineKind } from './pipeline.ts'

/** One that goes along the buckets of a histogram: told the number of each, it finds something or nothing. */
export type Along = (value: number | undefined, bucket: Bucket) => Metric | undefined

export const alongHistogram = <Name extends string>(
  doc: string,
  options: readonly (Name | 'gap_policy')[],
  read: (
    options: Partial<Record<Name, JsonNode>>,
    format: Format,
    place: JsonNode,
  ) => (values: () => (number | undefined)[]) => Along,
  example: object = {},
): PipelineKind => ({
  doc,
  example: { buckets_path: 'gas', ...example },
  stands: 'in histogram',
  read(place) {
    const body = bodyOf(place, ['format', ...options])
    const path = onePath(place, body)
    // What takes no policy takes nothing for gaps.
    const gaps = options.includes('gap_policy') ? gapPolicyOf(body.gap_policy) : 'insert_zeros'
    const start = read(body as Partial<Record<Name, JsonNode>>, formatOf(body.format), place)
    return {
      paths: [path],
      inside({ buckets }, put) {
        const along = start(() => buckets.map(bucket => valueIn(bucket, path, gaps)))
        for (const bucket of buckets) {
          const found = along(valueIn(bucket, path, gaps), bucket)
          if (found) put(bucket, found)
        }
      },
    }
  },
})
