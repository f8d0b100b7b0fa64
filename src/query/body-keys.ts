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
] as const
export type BodyKey = (typeof KEYS)[number]

/** What they mean, for the reference docs. */
export const BODY_KEYS: Record<BodyKey, { doc: string; limit?: string }> = {
  query: { doc: 'One clause; without it, everything is found.' },
  post_filter: { doc: 'A query that hits fulfil as well; aggregations do not see it.' },
  collapse: { doc: 'One hit for each value of a field, with `inner_hits`.', limit: 'Not beside `"size": -1`.' },
  sort: {
    doc: 'Names of fields, with `order`, `missing`, `unmapped_type`, `mode`, `nested`, `format` and `numeric_type`; `_doc` is the order of the chain.',
  },
  size: { doc: 'Number of hits, 10 by default; -1 for all, which Elasticsearch does not have.' },
  from: { doc: 'Number of hits to skip; `from` + `size` is 10,000 at most.' },
  search_after: { doc: 'What the last hit has in its `sort`: the next page.' },
  pit: { doc: 'The point in time that is searched, with `id` and `keep_alive`.' },
  slice: {
    doc: 'One of several parts of a scroll or a point in time.',
    limit: 'Parts are of blocks: `field` is refused.',
  },
  resume: { doc: 'A token that a reader goes on with. Elasticsearch does not have it.' },
  track_total_hits: {
    doc: 'Whether, or up to where, hits are counted. By default all are, where Elasticsearch stops at 10,000.',
  },
  _source: { doc: 'What is shown of a document.' },
  fields: { doc: 'Values of fields as lists, with `format`.' },
  docvalue_fields: { doc: 'Values of fields as lists, with `format`.' },
  stored_fields: { doc: '`_none_` leaves out `_id` and `_source`.', limit: 'No field is stored apart.' },
  highlight: { doc: 'Marks the words that were found.' },
  version: { doc: '`_version`, which is always 1.' },
  seq_no_primary_term: { doc: '`_seq_no` is the position in the chain.' },
  explain: { doc: '`_explanation` of the score.' },
  track_scores: { doc: 'Sorted hits have scores, too.' },
  min_score: { doc: 'Matches that score less are none.' },
  script_fields: { doc: 'Accepted where it is empty.', limit: 'Scripts are not run.' },
  decimals: { doc: '`dec` beside every integer in `_source`. Elasticsearch does not have it.' },
  args_by_name: { doc: 'The arguments once more, by their names. Elasticsearch does not have it.' },
  aggs: { doc: 'Aggregations by their names.' },
  aggregations: { doc: 'The same.' },
  timeout: { doc: 'Time after which the search is given up, with 408.' },
}

/** Keys that clients send along and that cannot change an answer, each with the reason. */
export const IGNORED_KEYS: Readonly<Record<string, string>> = {
  stats: 'names a group of searches in statistics that are not kept',
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
