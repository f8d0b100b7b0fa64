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

const SCORES = 'a score cannot be computed by a function. Sort by the field instead.'
const NO_SCRIPT = 'there are no scripts. Write the condition as clauses.'
const NO_PLACES = 'documents have no geographic fields.'
const SPANS = 'write match_phrase, with slop for words in between.'

export const REFUSED_CLAUSES: ReadonlyMap<string, string> = new Map([
  ['function_score', SCORES],
  ['script_score', SCORES],
  ['distance_feature', SCORES],
  ['rank_feature', SCORES],
  ['script', NO_SCRIPT],
  ['terms_set', 'write a bool with a term for each value in should, and minimum_should_match.'],
  ['more_like_this', 'write what the documents have in common as clauses of a bool.'],
  ['percolate', 'stored queries are alert rules: see /alerting/rules/.'],
  ['pinned', 'write ids in the should of a bool, with a boost.'],
  ['combined_fields', 'write multi_match with the type cross_fields.'],
  ['intervals', SPANS],
  ...['containing', 'field_masking', 'first', 'multi', 'near', 'not', 'or', 'within'].map(
    name => [`span_${name}`, SPANS] as const,
  ),
  ...['bounding_box', 'distance', 'grid', 'polygon', 'shape'].map(name => [`geo_${name}`, NO_PLACES] as const),
  ['shape', NO_PLACES],
])
