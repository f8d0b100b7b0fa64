/** Unsupported features of Elasticsearch with replacements, for error messages and the docs. */

const NO_SCRIPTS = 'There are no scripts.'
const NO_GEOGRAPHY = 'Documents have no geographic fields.'
const NO_SAMPLE = 'Aggregations are exact and need no sample: leave it out.'

export const REFUSED_KEYS: ReadonlyMap<string, string> = new Map([
  ['rescore', 'Put the second query into a bool as should.'],
  ['indices_boost', 'Give the clauses of the query a boost.'],
  ['profile', 'Measure the search itself: [took] in the answer is its time in milliseconds.'],
  ['runtime_mappings', NO_SCRIPTS],
  ['suggest', 'Use …/es/suggest/, which suggests names.'],
  ['ext', 'There are no plugins.'],
  ['knn', 'Similar contracts are at …/es/contract/{address}/similar/.'],
])

export const REFUSED_AGGREGATIONS: ReadonlyMap<string, string> = new Map([
  ['scripted_metric', NO_SCRIPTS],
  ['significant_terms', 'Use terms for both sets, and compare.'],
  ['significant_text', 'Use terms for both sets, and compare.'],
  ['sampler', NO_SAMPLE],
  ['diversified_sampler', NO_SAMPLE],
  ['random_sampler', NO_SAMPLE],
  ['adjacency_matrix', 'Use filters, with a bool of each two queries.'],
  ['variable_width_histogram', 'Use histogram or percentiles.'],
  ['string_stats', 'Use value_count and cardinality.'],
  ['matrix_stats', 'Use extended_stats for each field.'],
  ['t_test', 'Use extended_stats for both sets.'],
  ['geo_bounds', NO_GEOGRAPHY],
  ['geo_centroid', NO_GEOGRAPHY],
  ['geo_distance', NO_GEOGRAPHY],
  ['geo_line', NO_GEOGRAPHY],
  ['geohash_grid', NO_GEOGRAPHY],
  ['geohex_grid', NO_GEOGRAPHY],
  ['geotile_grid', NO_GEOGRAPHY],
  ['ip_range', 'Documents have no IP addresses.'],
  ['ip_prefix', 'Documents have no IP addresses.'],
  ['categorize_text', 'Use terms.'],
])

const NO_SCORE_FUNCTION = 'a score cannot be computed by a function. Sort by the field instead.'
const NO_SCRIPT_CLAUSE = 'there are no scripts. Write the condition as clauses.'
const NO_GEOGRAPHY_CLAUSE = 'documents have no geographic fields.'
const NO_SPANS = 'write match_phrase, with slop for words in between.'

export const REFUSED_CLAUSES: ReadonlyMap<string, string> = new Map([
  ['function_score', NO_SCORE_FUNCTION],
  ['script_score', NO_SCORE_FUNCTION],
  ['distance_feature', NO_SCORE_FUNCTION],
  ['rank_feature', NO_SCORE_FUNCTION],
  ['script', NO_SCRIPT_CLAUSE],
  ['more_like_this', 'write what the documents have in common as clauses of a bool.'],
  ['percolate', 'stored queries are alert rules: see /alerting/rules/.'],
  ['pinned', 'write ids in the should of a bool, with a boost.'],
  ['combined_fields', 'write multi_match with the type cross_fields.'],
  ['intervals', NO_SPANS],
  ...['containing', 'field_masking', 'first', 'multi', 'near', 'not', 'or', 'within'].map(
    name => [`span_${name}`, NO_SPANS] as const,
  ),
  ...['bounding_box', 'distance', 'grid', 'polygon', 'shape'].map(
    name => [`geo_${name}`, NO_GEOGRAPHY_CLAUSE] as const,
  ),
  ['shape', NO_GEOGRAPHY_CLAUSE],
])
