/** Clauses of Elasticsearch that are refused by name, each with what to do instead. */
const SCORES = 'a score cannot be computed by a function. Sort by the field instead.'
const SCRIPTS = 'there are no scripts. Write the condition as clauses.'
const PLACES = 'documents have no geographic fields.'
const SPANS = 'write match_phrase, with slop for words in between.'

export const REFUSED_CLAUSES: ReadonlyMap<string, string> = new Map([
  ['function_score', SCORES],
  ['script_score', SCORES],
  ['distance_feature', SCORES],
  ['rank_feature', SCORES],
  ['script', SCRIPTS],
  ['terms_set', 'write a bool with a term for each value in should, and minimum_should_match.'],
  ['more_like_this', 'write what the documents have in common as clauses of a bool.'],
  ['percolate', 'stored queries are alert rules: see /alerting/rules/.'],
  ['pinned', 'write ids in the should of a bool, with a boost.'],
  ['combined_fields', 'write multi_match with the type cross_fields.'],
  ['intervals', SPANS],
  ...['containing', 'field_masking', 'first', 'multi', 'near', 'not', 'or', 'within'].map(
    name => [`span_${name}`, SPANS] as const,
  ),
  ...['bounding_box', 'distance', 'grid', 'polygon', 'shape'].map(name => [`geo_${name}`, PLACES] as const),
  ['shape', PLACES],
])
