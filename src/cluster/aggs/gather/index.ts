import type { Computed, State } from '../../../engine/aggs/aggregator.ts'
import type { AggregationType } from '../../../query/aggs/ast.ts'
import { objectIn } from '../answer.ts'
import { nameOf } from '../tree.ts'
import { adjacencyMatrix, composite, filters, histogram, range, terms } from './buckets.ts'
import type { Gather, Told } from './kind.ts'
import { cardinality, ends, numbers, percentiles, sum, valueCount } from './metrics.ts'
import { untold } from './refused.ts'
import { global, single } from './single.ts'

const GATHER = {
  terms,
  rare_terms: terms,
  histogram,
  date_histogram: histogram,
  auto_date_histogram: untold,
  range,
  date_range: range,
  filter: single,
  filters,
  adjacency_matrix: adjacencyMatrix,
  missing: single,
  global,
  nested: single,
  reverse_nested: single,
  children: single,
  parent: single,
  sampler: untold,
  composite,
  top_hits: untold,
  top_metrics: untold,
  avg: numbers,
  sum,
  min: ends,
  max: ends,
  stats: numbers,
  extended_stats: numbers,
  value_count: valueCount,
  cardinality,
  percentiles,
  percentile_ranks: percentiles,
  median_absolute_deviation: percentiles,
  boxplot: percentiles,
  weighted_avg: untold,
} satisfies { [K in AggregationType]: Gather<K> }

export const gather = ({ aggregation, aggregator, inner }: Computed, told: Told, check: () => void): State => {
  const { name, spec } = aggregation
  const own = GATHER[spec.kind] as Gather<AggregationType>
  check()
  return own(spec, told, {
    name,
    keyOf: values => aggregator.keyOf!(values),
    within: buckets =>
      inner.map((one, place) =>
        gather(
          one,
          buckets.map(bucket => objectIn(bucket, nameOf(place))),
          check,
        ),
      ),
  })
}
