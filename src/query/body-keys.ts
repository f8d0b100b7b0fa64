import { refuse } from '../lib/errors.ts'
import { isObject, type JsonNode, members, where } from './json-node.ts'
import { SCHEMAS } from './keys.ts'
import { REFUSED_KEYS } from './refused.ts'

const OBJECT = { type: 'object' }
const WHOLE = { type: 'integer' }
const NAMES = { anyOf: [SCHEMAS.text, { type: 'array', items: SCHEMAS.text }] }
const AGGREGATIONS = { ...OBJECT, additionalProperties: { $ref: '#/components/schemas/Aggregation' } }
/** An empty object or null asks for all documents, as no query does. */
const QUERY = { anyOf: [SCHEMAS.query, { type: ['object', 'null'], maxProperties: 0 }] }

/** Keys of the body of a search: what they mean, for the reference docs, and what they hold, for the description of the API. */
export const BODY_KEYS = {
  query: { doc: 'One clause. Without it, all documents match.', schema: QUERY },
  post_filter: { doc: 'A query that hits must match, too. Aggregations ignore it.', schema: QUERY },
  collapse: {
    doc: 'One hit for each value of a field, with `inner_hits`.',
    limit: 'Not with `"size": -1`.',
    schema: OBJECT,
  },
  sort: {
    doc: 'Names of fields, with `order`, `missing`, `unmapped_type`, `mode`, `nested`, `format` and `numeric_type`; `_id`, `_score`; `_doc` is the order of the chain.',
    schema: { type: ['string', 'object', 'array'] },
  },
  size: { doc: 'Number of hits, 10 by default; -1 for all, which Elasticsearch does not have.', schema: SCHEMAS.whole },
  from: { doc: 'Number of hits to skip; `from` + `size` is 10,000 at most.', schema: SCHEMAS.whole },
  search_after: { doc: 'The `sort` of the last hit: asks for the next page.', schema: { type: 'array' } },
  pit: {
    doc: 'The point in time to search, with `id` and `keep_alive`.',
    schema: { ...OBJECT, properties: { id: SCHEMAS.text, keep_alive: SCHEMAS.text } },
  },
  slice: {
    doc: 'One of several parts of a scroll or a point in time.',
    limit: 'Parts are of blocks: `field` is refused.',
    schema: { ...OBJECT, properties: { id: WHOLE, max: WHOLE } },
  },
  resume: {
    doc: 'The token of a reader that follows the chain. Elasticsearch does not have it.',
    schema: SCHEMAS.text,
  },
  track_total_hits: {
    doc: 'Whether, or up to where, hits are counted. By default all are, where Elasticsearch stops at 10,000.',
    schema: { type: ['boolean', 'integer', 'string'] },
  },
  _source: { doc: 'The parts of a document to show.', schema: { anyOf: [{ type: 'boolean' }, NAMES, OBJECT] } },
  fields: { doc: 'Values of fields as lists, with `format`.', schema: { type: ['array', 'string'] } },
  docvalue_fields: { doc: 'Values of fields as lists, with `format`.', schema: { type: ['array', 'string'] } },
  stored_fields: {
    doc: '`_none_` leaves out `_id` and `_source`.',
    limit: 'No field is stored separately.',
    schema: NAMES,
  },
  highlight: { doc: 'Marks the words that matched.', schema: OBJECT },
  version: { doc: '`_version`, which is always 1.', schema: SCHEMAS.flag },
  seq_no_primary_term: { doc: '`_seq_no`, which is the position in the chain.', schema: SCHEMAS.flag },
  explain: { doc: '`_explanation` of the score.', schema: SCHEMAS.flag },
  track_scores: { doc: 'Sorted hits have scores, too.', schema: SCHEMAS.flag },
  min_score: { doc: 'Documents that score less do not match.', schema: SCHEMAS.number },
  script_fields: { doc: 'Accepted if it is empty.', limit: 'There are no scripts.', schema: OBJECT },
  decimals: { doc: 'Adds `dec` to every integer in `_source`. Elasticsearch does not have it.', schema: SCHEMAS.flag },
  args_by_name: { doc: 'Adds the arguments by name. Elasticsearch does not have it.', schema: SCHEMAS.flag },
  aggs: { doc: 'Aggregations, by name.', schema: AGGREGATIONS },
  aggregations: { doc: 'The same.', schema: AGGREGATIONS },
  timeout: { doc: 'Time after which the search fails with 408.', schema: SCHEMAS.text },
  terminate_after: {
    doc: 'Of each entity only so many matches count, the first ones in the chain. `terminated_early` tells whether there were more.',
    limit:
      'Not with `"size": -1`, cursors, `slice`, `resume` or `inner_hits` of `collapse`, nor with both `post_filter` and aggregations.',
    schema: SCHEMAS.whole,
  },
} satisfies Record<string, { doc: string; limit?: string; schema: object }>

export type BodyKey = keyof typeof BODY_KEYS
export const KEYS = Object.keys(BODY_KEYS) as readonly BodyKey[]

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
