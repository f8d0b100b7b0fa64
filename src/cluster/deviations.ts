import { type ChainsieveError, refuse } from '../lib/errors.ts'

/** A difference between OpenSearch and SQLite, listed in docs/opensearch.md#searches. */
export interface Deviation {
  what: string
  answer: string
}

export const DEVIATIONS: readonly Deviation[] = [
  { what: 'Scores, `min_score` and `explain`', answer: 'Those of OpenSearch, over all shards of the search.' },
  {
    what: 'Scores of `has_child` and `has_parent`',
    answer: 'The boost of the clause for each document that matches; scores of relatives do not count.',
  },
  { what: 'A negative boost', answer: 'Refused: give boosts of 0 or more.' },
  {
    what: '`terms`, `multi_terms`',
    answer:
      'Each shard counts by itself: `doc_count_error_upper_bound` says by how much counts may be too low. A larger `shard_size` reduces it.',
  },
  {
    what: '`terms` with `min_doc_count` 0, with `~` in `include` or `exclude`, or with one of them as a list and the other as an expression',
    answer: 'Refused: leave it out, or put the condition into the query.',
  },
  { what: '`rare_terms`', answer: 'OpenSearch leaves out some terms by chance, where there are many.' },
  {
    what: '`cardinality`, `percentiles`, `percentile_ranks`, `median_absolute_deviation`',
    answer: 'Estimated by OpenSearch.',
  },
  {
    what: 'Numbers of lists, such as `args.value.num`',
    answer: 'A value that a list has several times counts as often; in SQLite it may count once.',
  },
  {
    what: '`sum` with `exact`',
    answer: 'From up to 50,000 different values; refused where there are more, and of arguments.',
  },
  {
    what: '`auto_date_histogram`',
    answer: 'OpenSearch chooses the interval, so nested buckets may differ from those at the top.',
  },
  { what: '`boxplot`', answer: 'Refused: use `percentiles`.' },
  { what: '`top_metrics`', answer: 'Refused: use `top_hits` with `_source`.' },
  { what: '`children` and `parent`', answer: 'Refused: search the related documents by `has_parent` or `has_child`.' },
  { what: '`top_hits` inside `nested`', answer: 'Refused: use `top_hits` of the documents.' },
  { what: '`weighted_avg` of a list', answer: 'Refused: use `avg`.' },
  { what: '`composite` of `_index` or `_type`', answer: 'Refused: use `terms` of it, or search one entity.' },
  {
    what: 'Aggregations of `.dec` fields and of members of `extra`',
    answer: 'Refused: use `.raw` or `.num` of the same field; members of `extra` are not indexed.',
  },
  {
    what: 'Aggregations of a field that has another path in each entity, or filters inside `nested` over several entities',
    answer: 'Refused: search one of the entities.',
  },
  {
    what: 'More buckets than `search.max_buckets`, 65,535 by default',
    answer: 'Refused: narrow the aggregation, or page through a `composite`.',
  },
  {
    what: 'Aggregations of several networks of which one is in OpenSearch',
    answer: 'Refused: ask each network.',
  },
]

/** Refuses a feature that works only with SQLite. `remedy`: what to do instead. */
export const notInCluster = (what: string, remedy: string) =>
  refuse(
    'illegal_argument_exception',
    `${what} does not work on a network whose documents lie in a cluster: ${remedy}.`,
  )
/** Refuses a member of a request that clusters cannot handle. `remedy`: what to do instead. */
export const unsupported = (part: string, remedy: string): ChainsieveError => notInCluster(`[${part}]`, remedy)
