import type { Computed, State } from '../../../engine/aggs/aggregator.ts'
import type { AggregationType } from '../../../query/aggs/ast.ts'
import { objectIn } from '../answer.ts'
import { nameOf } from '../tree.ts'
import { autoDateHistogram } from './auto-date-histogram.ts'
import { composite, filters, histogram, range, terms } from './buckets.ts'
import type { Gather, Told } from './kind.ts'
import { cardinality, ends, numbers, percentiles, sum, valueCount, weightedAvg } from './metrics.ts'
import { global, single } from './single.ts'
import { untold } from './untold.ts'

const GATHER = {
  terms,
  rare_terms: terms,
  histogram,
  date_histogram: histogram,
  auto_date_histogram: autoDateHistogram,
  range,
  date_range: range,
  filter: single,
  filters,
  missing: single,
  global,
  nested: single,
  reverse_nested: single,
  children: single,
  parent: single,
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
  weighted_avg: weightedAvg,
} satisfies { [K in AggregationType]: Gather<K> }

export interface Gathered {
  told: Told
  /** The aggregation's place in the tree. */
  at: string
  check(): void
  again(at: string, learn: (known: unknown) => unknown): void
}

export type Gatherable = Pick<Computed, 'aggregation'> & {
  aggregator: Pick<Computed['aggregator'], 'keyOf'>
  inner: readonly Gatherable[]
}

export const gather = ({ aggregation, aggregator, inner }: Gatherable, gathered: Gathered): State => {
  const { name, spec } = aggregation
  const { told, at, check, again } = gathered
  const own = GATHER[spec.kind] as Gather<AggregationType>
  check()
  return own(spec, told, {
    name,
    keyOf: values => aggregator.keyOf!(values),
    again: learn => again(at, learn),
    within: buckets =>
      inner.map((one, place) =>
        gather(one, {
          ...gathered,
          told: buckets.map(bucket => objectIn(bucket, nameOf(place))),
          at: `${at}${nameOf(place)}`,
        }),
      ),
  })
}
