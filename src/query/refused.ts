/** What Elasticsearch has and is not supported on purpose, with what to use in its place: told where it is met, and in the docs. */

const SCRIPTS = 'There are no scripts.'
const PLACES = 'Documents have no geographic fields.'
const EXACT = 'Aggregations are exact and need no sample: leave it out.'

export const REFUSED_KEYS: ReadonlyMap<string, string> = new Map([
  ['rescore', 'Put the second query into a bool as should.'],
  ['indices_boost', 'Give the clauses of the query a boost.'],
  ['profile', 'Measure the search itself: [took] in the answer is its time in milliseconds.'],
  ['runtime_mappings', SCRIPTS],
  ['suggest', 'Use …/es/suggest/, which suggests names.'],
  ['ext', 'There are no plugins.'],
  ['knn', 'Similar contracts are at …/es/contract/{address}/similar/.'],
])

export const REFUSED_AGGREGATIONS: ReadonlyMap<string, string> = new Map([
  ['scripted_metric', SCRIPTS],
  ['multi_terms', 'Use composite, or terms inside terms.'],
  ['significant_terms', 'Use terms for both sets, and compare.'],
  ['significant_text', 'Use terms for both sets, and compare.'],
  ['sampler', EXACT],
  ['diversified_sampler', EXACT],
  ['random_sampler', EXACT],
  ['adjacency_matrix', 'Use filters, with a bool of each two queries.'],
  ['variable_width_histogram', 'Use histogram or percentiles.'],
  ['rate', 'Use date_histogram.'],
  ['string_stats', 'Use value_count and cardinality.'],
  ['matrix_stats', 'Use extended_stats for each field.'],
  ['t_test', 'Use extended_stats for both sets.'],
  ['geo_bounds', PLACES],
  ['geo_centroid', PLACES],
  ['geo_distance', PLACES],
  ['geo_line', PLACES],
  ['geohash_grid', PLACES],
  ['geohex_grid', PLACES],
  ['geotile_grid', PLACES],
  ['ip_range', 'Documents have no IP addresses.'],
  ['ip_prefix', 'Documents have no IP addresses.'],
  ['categorize_text', 'Use terms.'],
])
