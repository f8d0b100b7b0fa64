/** What Elasticsearch has and is not supported on purpose, with what to use in its place: told where it is met, and in the docs. */

const SCRIPTS = 'Scripts are not run.'
const PLACES = 'Documents have no places on a map.'
const EXACT = 'Aggregations are over all that is found.'

export const REFUSED_KEYS: ReadonlyMap<string, string> = new Map([
  ['profile', 'Time the search itself: the answer tells how long it took.'],
  ['runtime_mappings', SCRIPTS],
  ['indices_boost', 'Search one kind at a time.'],
  ['rescore', 'Sort by a field, or put what counts into the query.'],
  ['suggest', 'Ask …/es/suggest/ for names.'],
  ['terminate_after', 'Use track_total_hits, timeout or size, which say what an answer may cost.'],
  ['ext', 'There are no plugins.'],
  ['knn', 'Contracts like another one are at …/es/contract/{address}/similar/.'],
])

export const REFUSED_AGGREGATIONS: ReadonlyMap<string, string> = new Map([
  ['scripted_metric', SCRIPTS],
  ['multi_terms', 'Ask for composite, or for terms inside of terms.'],
  ['significant_terms', 'Ask for terms of both sets, and compare.'],
  ['significant_text', 'Ask for terms of both sets, and compare.'],
  ['rare_terms', 'Ask for terms with "order": {"_count": "asc"}, which is exact here.'],
  ['sampler', EXACT],
  ['diversified_sampler', EXACT],
  ['random_sampler', EXACT],
  ['variable_width_histogram', 'Ask for histogram or percentiles.'],
  ['rate', 'Ask for date_histogram.'],
  ['top_metrics', 'Ask for top_hits with a sort.'],
  ['string_stats', 'Ask for value_count and cardinality.'],
  ['matrix_stats', 'Ask for extended_stats of each field.'],
  ['t_test', 'Ask for extended_stats of both sets.'],
  ['parent', 'Ask for the other kind, with has_child in its query.'],
  ['children', 'Ask for the other kind, with has_parent in its query.'],
  ['categorize_text', 'Ask for terms.'],
  ['geo_bounds', PLACES],
  ['geo_centroid', PLACES],
  ['geo_distance', PLACES],
  ['geo_line', PLACES],
  ['geohash_grid', PLACES],
  ['geohex_grid', PLACES],
  ['geotile_grid', PLACES],
  ['ip_range', 'Documents have no IP addresses.'],
  ['ip_prefix', 'Documents have no IP addresses.'],
])
