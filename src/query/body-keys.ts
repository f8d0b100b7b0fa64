import { refuse } from '../lib/errors.ts'
import { isObject, type JsonNode, members, where } from './json-node.ts'
import { REFUSED_KEYS } from './refused.ts'

/** Keys of the body of a search. */
export const KEYS = [
  'query',
  'post_filter',
  'collapse',
  'sort',
  'size',
  'from',
  'search_after',
  'pit',
  'slice',
  'resume',
  'track_total_hits',
  '_source',
  'fields',
  'docvalue_fields',
  'stored_fields',
  'highlight',
  'version',
  'seq_no_primary_term',
  'explain',
  'track_scores',
  'min_score',
  'script_fields',
  'decimals',
  'args_by_name',
  'aggs',
  'aggregations',
  'timeout',
  'terminate_after',
] as const
export type BodyKey = (typeof KEYS)[number]

/** What they mean, for the reference docs. */
export const BODY_KEYS: Record<BodyKey, { doc: string; limit?: string }> = {
  query: { doc: 'One clause. Without it, all documents match.' },
  post_filter: { doc: 'A query that hits must match, too. Aggregations ignore it.' },
  collapse: { doc: 'One hit for each value of a field, with `inner_hits`.', limit: 'Not with `"size": -1`.' },
  sort: {
    doc: 'Names of fields, with `order`, `missing`, `unmapped_type`, `mode`, `nested`, `format` and `numeric_type`; `_id`, `_score`; `_doc` is the order of the chain.',
  },
  size: { doc: 'Number of hits, 10 by default; -1 for all, which Elasticsearch does not have.' },
  from: { doc: 'Number of hits to skip; `from` + `size` is 10,000 at most.' },
  search_after: { doc: 'The `sort` of the last hit: asks for the next page.' },
  pit: { doc: 'The point in time to search, with `id` and `keep_alive`.' },
  slice: {
    doc: 'One of several parts of a scroll or a point in time.',
    limit: 'Parts are of blocks: `field` is refused.',
  },
  resume: { doc: 'The token of a reader that follows the chain. Elasticsearch does not have it.' },
  track_total_hits: {
    doc: 'Whether, or up to where, hits are counted. By default all are, where Elasticsearch stops at 10,000.',
  },
  _source: { doc: 'The parts of a document to show.' },
  fields: { doc: 'Values of fields as lists, with `format`.' },
  docvalue_fields: { doc: 'Values of fields as lists, with `format`.' },
  stored_fields: { doc: '`_none_` leaves out `_id` and `_source`.', limit: 'No field is stored separately.' },
  highlight: { doc: 'Marks the words that matched.' },
  version: { doc: '`_version`, which is always 1.' },
  seq_no_primary_term: { doc: '`_seq_no`, which is the position in the chain.' },
  explain: { doc: '`_explanation` of the score.' },
  track_scores: { doc: 'Sorted hits have scores, too.' },
  min_score: { doc: 'Documents that score less do not match.' },
  script_fields: { doc: 'Accepted if it is empty.', limit: 'There are no scripts.' },
  decimals: { doc: 'Adds `dec` to every integer in `_source`. Elasticsearch does not have it.' },
  args_by_name: { doc: 'Adds the arguments by name. Elasticsearch does not have it.' },
  aggs: { doc: 'Aggregations, by name.' },
  aggregations: { doc: 'The same.' },
  timeout: { doc: 'Time after which the search fails with 408.' },
  terminate_after: {
    doc: 'Of each entity only so many matches count, the first ones in the chain. `terminated_early` tells whether there were more.',
    limit:
      'Not with `"size": -1`, cursors, `slice`, `resume` or `inner_hits` of `collapse`, nor with both `post_filter` and aggregations.',
  },
}

/** Keys that clients send along and that cannot change an answer, each with the reason. */
export const IGNORED_KEYS: Readonly<Record<string, string>> = {
  stats: 'names a group of searches for statistics, which are not kept',
}

/** What asks for nothing, such as an empty object, is accepted. */
export const checkRefused = (body: JsonNode, expected: string): void => {
  for (const [name, place] of members(body, expected)) {
    const remedy = REFUSED_KEYS.get(name)
    if (remedy === undefined || asksNothing(place)) continue
    throw refuse('illegal_argument_exception', `${where(place)}: [${name}] is not supported. ${remedy}`)
  }
}

const asksNothing = ({ value }: JsonNode): boolean =>
  value === null ||
  value === false ||
  value === 0 ||
  (isObject(value) && value.size === 0) ||
  (Array.isArray(value) && value.length === 0)
