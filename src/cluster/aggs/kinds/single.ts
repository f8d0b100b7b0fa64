import type { AggregationType, SpecOf } from '../../../query/aggs/ast.ts'
import type { SingleBucket } from '../../../query/aggs/result.ts'
import { type Answered, countIn, objectIn } from '../answer.ts'
import { sourceOf } from '../fields.ts'
import { type Asking, type ClusterAggregation, INNER } from '../kind.ts'

/** Aggregations of one bucket. */
const single = <K extends AggregationType>(
  ask: (spec: SpecOf<K>, asking: Asking) => object,
  bucketIn: (found: Answered | undefined) => Answered | undefined = found => found,
): ClusterAggregation<K> => ({
  ask,
  read(spec, found, reading): SingleBucket {
    const bucket = bucketIn(found)
    reading.count(1)
    return { is: 'bucket', type: spec.kind, docCount: countIn(bucket), results: reading.inner(bucket, INNER) }
  },
})

export const filter = single<'filter'>((spec, { query }) => ({ filter: query(spec.query) }))
export const missing = single<'missing'>(({ values }) => {
  const { field, missing } = sourceOf(values)
  // With a value in place of a missing one, no document is without.
  if (missing !== undefined) return { filter: { match_none: {} } }
  // Terms within a missing of OpenSearch 3 that all documents are in count those of other buckets above, too.
  return { filter: { bool: { must_not: { exists: { field } } } } }
})
export const nested = single<'nested'>(({ path }) => ({ nested: { path } }))
export const reverseNested = single<'reverse_nested'>(() => ({ reverse_nested: {} }))
export const global = single<'global'>(
  (_, { everything }) => ({ global: {}, aggs: { [INNER]: { filter: everything } } }),
  found => objectIn(found, INNER),
)
