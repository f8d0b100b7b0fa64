/** What Elasticsearch has and is not supported on purpose, with what to use in its place: told where it is met, and in the docs. */

const SCRIPTS = 'Scripts are not run.'
const PLACES = 'Documents have no places on a map.'
const SPANS = 'Ask match_phrase, or several clauses in one bool.'

export const REFUSED_CLAUSES: ReadonlyMap<string, string> = new Map([
  ['script', SCRIPTS],
  ['script_score', SCRIPTS],
  ['function_score', 'Scores are not computed by functions: sort by fields.'],
  ['more_like_this', 'Contracts like another one are at …/es/contract/{address}/similar/.'],
  ['percolate', 'Queries that wait for documents are alert rules: see /alerting/rules/.'],
  ['geo_bounding_box', PLACES],
  ['geo_distance', PLACES],
  ['geo_polygon', PLACES],
  ['geo_shape', PLACES],
  ['shape', PLACES],
  ['span_containing', SPANS],
  ['span_field_masking', SPANS],
  ['span_first', SPANS],
  ['span_multi', SPANS],
  ['span_near', SPANS],
  ['span_not', SPANS],
  ['span_or', SPANS],
  ['span_term', SPANS],
  ['span_within', SPANS],
  ['intervals', SPANS],
  ['distance_feature', 'Sort by the field.'],
  ['rank_feature', 'Sort by the field.'],
  ['pinned', 'Ask for the documents by their ids in a search of their own.'],
  ['knn', 'Vectors are not kept.'],
])

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
  ['significant_terms', 'Ask for terms of both sets, and compare.'],
  ['significant_text', 'Ask for terms of both sets, and compare.'],
  ['rare_terms', 'Ask for terms with "order": {"_count": "asc"}.'],
  ['sampler', 'Aggregations are over all that is found.'],
  ['diversified_sampler', 'Aggregations are over all that is found.'],
  ['random_sampler', 'Aggregations are over all that is found.'],
  ['matrix_stats', 'Ask for extended_stats of each field.'],
  ['variable_width_histogram', 'Ask for histogram or percentiles.'],
  ['geo_bounds', PLACES],
  ['geo_centroid', PLACES],
  ['geo_distance', PLACES],
  ['geohash_grid', PLACES],
  ['geotile_grid', PLACES],
  ['ip_range', 'Documents have no IP addresses.'],
  ['categorize_text', 'Ask for terms.'],
])
