import { refuse } from '../lib/errors.ts'
import { PIT_KEYS, TIME_UNIT_MS, type TimeUnit } from './dates/time-value.ts'
import { HIT_OPTION_KEYS } from './hits/hit-options.ts'
import { SLICE_KEYS } from './hits/paging.ts'
import type { JsonValue } from './json.ts'
import {
  isJsonMap,
  type JsonNode,
  placeMember,
  toBoolean,
  toObject,
  toScalar,
  toWhole,
  unexpected,
  where,
} from './json-node.ts'
import { type BodyKey, booleanKey, keyOr, nodeKey, optionalKey, SCHEMAS, schemaOf } from './keys.ts'
import { readDouble } from './numbers.ts'
import { REFUSED_KEYS } from './refused.ts'

const OBJECT_SCHEMA = { type: 'object' }
const LIST_SCHEMA = { type: ['array', 'string'] }
const AGGREGATIONS_SCHEMA = { ...OBJECT_SCHEMA, additionalProperties: { $ref: '#/components/schemas/Aggregation' } }
/** An empty object or null matches all documents, as no query does. */
const QUERY_SCHEMA = { anyOf: [SCHEMAS.query, { type: ['object', 'null'], maxProperties: 0 }] }

const readHitCount = (place: JsonNode): number => {
  const size = toWhole(place, 'an integer: the number of hits, or -1 for all')
  if (size >= -1) return size
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: [size] parameter cannot be negative but was [${size}]. Only -1 has a meaning: all hits.`,
  )
}

const readSkippedHits = (place: JsonNode): number => {
  const from = toWhole(place, 'an integer: the number of hits to skip')
  if (from >= 0) return from
  throw refuse('illegal_argument_exception', `${where(place)}: [from] parameter cannot be negative but was [${from}].`)
}

const readTrackTotal = (place: JsonNode): boolean | number => {
  if (typeof place.value !== 'number') return toBoolean(place)
  if (place.value < 0) throw unexpected(place, 'true, false or a number from 0 on')
  return place.value
}

/** Milliseconds; undefined for no limit. */
const readTimeout = (place: JsonNode): number | undefined => {
  const text = toScalar(place, EXPECTED_TIME)
  if (text === '-1' || text === '0') return undefined
  const [, amount, unit] = /^(\d{1,12}(?:\.\d{1,9})?) *(nanos|micros|ms|s|m|h|d)$/i.exec(text) ?? []
  if (amount === undefined || unit === undefined) throw unexpected(place, EXPECTED_TIME)
  return Number(amount) * TIME_UNIT_MS[unit.toLowerCase() as TimeUnit]
}

const EXPECTED_TIME = 'a time with its unit, such as "10s"'

/** Keys of a search body: parser, meaning for the docs, and schema for the API description. */
export const BODY_KEYS = {
  query: { ...nodeKey, doc: 'One clause. Without it, all documents match.', schema: QUERY_SCHEMA },
  post_filter: { ...nodeKey, doc: 'A query that hits must match, too. Aggregations ignore it.', schema: QUERY_SCHEMA },
  collapse: {
    ...nodeKey,
    doc: 'One hit for each value of a field, with `inner_hits`.',
    limit: 'Not with `"size": -1`.',
    schema: OBJECT_SCHEMA,
  },
  sort: {
    ...nodeKey,
    doc: 'Names of fields, with `order`, `missing`, `unmapped_type`, `mode`, `nested`, `format` and `numeric_type`; `_id`, `_score`; `_doc` is the order of the chain.',
    schema: { type: ['string', 'object', 'array'] },
  },
  size: {
    ...keyOr(10, readHitCount, SCHEMAS.whole),
    doc: 'Number of hits, 10 by default; -1 for all, which Elasticsearch does not have.',
  },
  from: {
    ...keyOr(0, readSkippedHits, SCHEMAS.whole),
    doc: 'Number of hits to skip; `from` + `size` is 10,000 at most.',
  },
  search_after: { ...nodeKey, doc: 'The `sort` of the last hit: asks for the next page.', schema: { type: 'array' } },
  pit: {
    ...nodeKey,
    doc: 'The point in time to search, with `id` and `keep_alive`.',
    schema: { ...OBJECT_SCHEMA, properties: schemaOf(PIT_KEYS).properties },
  },
  slice: {
    ...nodeKey,
    doc: 'One of several parts of a scroll or a point in time.',
    limit: 'Parts are of blocks: `field` is refused.',
    schema: { ...OBJECT_SCHEMA, properties: { id: SLICE_KEYS.id.schema, max: SLICE_KEYS.max.schema } },
  },
  resume: {
    ...nodeKey,
    doc: 'The token of a reader that follows the chain. Elasticsearch does not have it.',
    schema: SCHEMAS.text,
  },
  track_total_hits: {
    ...keyOr<boolean | number>(true, readTrackTotal, { type: ['boolean', 'integer', 'string'] }),
    doc: 'Whether, or up to where, hits are counted. By default all are, where Elasticsearch stops at 10,000.',
  },
  _source: {
    ...HIT_OPTION_KEYS._source,
    doc: 'The parts of a document to show.',
    schema: { anyOf: [{ type: 'boolean' }, SCHEMAS.texts, OBJECT_SCHEMA] },
  },
  fields: { ...HIT_OPTION_KEYS.fields, doc: 'Values of fields as lists, with `format`.', schema: LIST_SCHEMA },
  docvalue_fields: {
    ...HIT_OPTION_KEYS.docvalue_fields,
    doc: 'Values of fields as lists, with `format`.',
    schema: LIST_SCHEMA,
  },
  stored_fields: {
    ...HIT_OPTION_KEYS.stored_fields,
    doc: '`_none_` leaves out `_id` and `_source`.',
    limit: 'No field is stored separately.',
  },
  highlight: { ...HIT_OPTION_KEYS.highlight, doc: 'Marks the words that matched.', schema: OBJECT_SCHEMA },
  version: { ...HIT_OPTION_KEYS.version, doc: '`_version`, which is always 1.' },
  seq_no_primary_term: {
    ...HIT_OPTION_KEYS.seq_no_primary_term,
    doc: '`_seq_no`, which is the position in the chain.',
  },
  explain: { ...HIT_OPTION_KEYS.explain, doc: '`_explanation` of the score.' },
  track_scores: { ...HIT_OPTION_KEYS.track_scores, doc: 'Sorted hits have scores, too.' },
  min_score: { ...optionalKey(readDouble, SCHEMAS.number), doc: 'Documents that score less do not match.' },
  script_fields: { ...HIT_OPTION_KEYS.script_fields, doc: 'Accepted if it is empty.', limit: 'There are no scripts.' },
  decimals: { ...booleanKey, doc: 'Adds `dec` to every integer in `_source`. Elasticsearch does not have it.' },
  args_by_name: { ...booleanKey, doc: 'Adds the arguments by name. Elasticsearch does not have it.' },
  aggs: { ...nodeKey, doc: 'Aggregations, by name.', schema: AGGREGATIONS_SCHEMA },
  aggregations: { ...nodeKey, doc: 'The same.', schema: AGGREGATIONS_SCHEMA },
  timeout: { ...optionalKey(readTimeout, SCHEMAS.text), doc: 'Time after which the search fails with 408.' },
  terminate_after: {
    ...nodeKey,
    doc: 'Of each entity only so many matches count, the first ones in the chain. `terminated_early` says whether there were more.',
    limit:
      'Not with `"size": -1`, cursors, `slice`, `resume` or `inner_hits` of `collapse`, nor with both `post_filter` and aggregations.',
    schema: SCHEMAS.whole,
  },
} satisfies Record<string, BodyKey & { doc: string; limit?: string }>

export const BODY_KEY_NAMES = Object.keys(BODY_KEYS) as readonly (keyof typeof BODY_KEYS)[]

/** Accepted keys that cannot change an answer, each with the reason. */
export const IGNORED_KEYS: Readonly<Record<string, string>> = {
  stats: 'names a group of searches for statistics, which are not kept',
}

/** Accepts unsupported keys with an empty value, such as an empty object. */
export const checkRefused = (body: JsonNode, expected: string): void => {
  for (const [name, value] of toObject(body, expected)) {
    const remedy = REFUSED_KEYS.get(name)
    if (remedy === undefined || asksNothing(value)) continue
    throw refuse(
      'illegal_argument_exception',
      `${where(placeMember(body, name, value))}: [${name}] is not supported. ${remedy}`,
    )
  }
}

const asksNothing = (value: JsonValue): boolean =>
  value === null ||
  value === false ||
  value === 0 ||
  (isJsonMap(value) && value.size === 0) ||
  (Array.isArray(value) && value.length === 0)
