/** What Elasticsearch has and is not supported on purpose, with what to use in its place: told where it is met, and in the docs. */

const SCRIPTS = 'There are no scripts.'

export const REFUSED_KEYS: ReadonlyMap<string, string> = new Map([
  ['profile', 'Measure the search itself: [took] in the answer is its time in milliseconds.'],
  ['runtime_mappings', SCRIPTS],
  ['indices_boost', 'Search one index at a time, or give clauses a [boost].'],
  ['rescore', 'Sort by a field, or put the second query into the first.'],
  ['suggest', 'Use …/es/suggest/, which suggests names.'],
  ['terminate_after', 'Use track_total_hits, timeout or size, which bound the cost of a search.'],
  ['ext', 'There are no plugins.'],
  ['knn', 'Similar contracts are at …/es/contract/{address}/similar/.'],
])
