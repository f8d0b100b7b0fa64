import { refuse } from '../lib/errors.ts'
import { overLimit } from '../limits/index.ts'
import {
  boolean,
  elements,
  integer,
  isObject,
  type JsonNode,
  known,
  members,
  string,
  unexpected,
  where,
} from './json-node.ts'
import type { HighlightField } from './request.ts'
import { checkKnown } from './scope.ts'
import type { ShownScope } from './shown.ts'

type Options = Omit<HighlightField, 'pattern'>

const DEFAULTS: Options = {
  before: '<em>',
  after: '</em>',
  fragments: 5,
  fragmentSize: 100,
  noMatchSize: 0,
  html: false,
  byScore: false,
  requireFieldMatch: true,
  queries: undefined,
}

/** `{"fields": {"event": {}, "*": {…}}, …}`; what is given beside `fields` holds for all of them. */
export const parseHighlight = (place: JsonNode, scope: ShownScope): HighlightField[] => {
  const { fields, ...given } = known(
    place,
    'an object such as {"fields": {"event": {}}}',
    [...KEYS, ...OUTER, 'fields'],
    [],
  )
  const common = readOptions(given, DEFAULTS, scope)
  if (fields === undefined) return []
  const named = (Array.isArray(fields.value) ? elements(fields) : [fields]).flatMap(at =>
    members(at, 'an object such as {"event": {}}'),
  )
  if (named.length > scope.limits.sourcePatterns) throw overLimit('sourcePatterns', scope.limits)
  return named.map(([pattern, at]) => {
    if (pattern.length > scope.limits.text) throw overLimit('text', scope.limits, where(at))
    if (!pattern.includes('*')) checkKnown(pattern, at, scope)
    const own = known(at, 'an object with options, such as {}', [...KEYS, ...OF_FIELD], [])
    return { pattern, ...readOptions(own, common, scope) }
  })
}

/** Options, beside those that say what Elasticsearch marks with, where one marker does it all. */
const KEYS = [
  'pre_tags',
  'post_tags',
  'number_of_fragments',
  'fragment_size',
  'no_match_size',
  'order',
  'require_field_match',
  'highlight_query',
  'type',
  'fragmenter',
  'boundary_scanner',
  'boundary_scanner_locale',
  'boundary_chars',
  'boundary_max_scan',
  'phrase_limit',
  'force_source',
  'max_analyzed_offset',
] as const
const OUTER = ['tags_schema', 'encoder', 'use_explicit_field_order'] as const
const OF_FIELD = ['matched_fields', 'fragment_offset'] as const

type Places = Partial<Record<(typeof KEYS)[number] | (typeof OUTER)[number] | (typeof OF_FIELD)[number], JsonNode>>

const readOptions = (given: Places, common: Options, scope: ShownScope): Options => {
  const styled = given.tags_schema !== undefined && oneOf(given.tags_schema, ['styled', 'default']) === 'styled'
  const base = styled ? { ...common, before: '<em class="hlt1">' } : common
  if (given.type) oneOf(given.type, ['unified', 'plain', 'fvh'])
  if (given.boundary_scanner) oneOf(given.boundary_scanner, ['sentence'])
  if (given.fragment_offset && count(given.fragment_offset) > 0) throw unexpected(given.fragment_offset, '0')
  if (given.matched_fields) throw notSupported(given.matched_fields)
  return {
    before: given.pre_tags ? firstTag(given.pre_tags, scope) : base.before,
    after: given.post_tags ? firstTag(given.post_tags, scope) : base.after,
    fragments: given.number_of_fragments ? count(given.number_of_fragments) : base.fragments,
    fragmentSize: given.fragment_size ? count(given.fragment_size) : base.fragmentSize,
    noMatchSize: given.no_match_size ? count(given.no_match_size) : base.noMatchSize,
    html: given.encoder ? oneOf(given.encoder, ['html', 'default']) === 'html' : base.html,
    byScore: given.order ? oneOf(given.order, ['score', 'none']) === 'score' : base.byScore,
    requireFieldMatch: given.require_field_match ? boolean(given.require_field_match) : base.requireFieldMatch,
    queries: given.highlight_query ? scope.queries(given.highlight_query) : base.queries,
  }
}

/** All marks are alike, so that the first tag is the one that counts, as for Elasticsearch's own highlighter. */
const firstTag = (place: JsonNode, { limits }: ShownScope): string => {
  const [first] = elements(place)
  if (first === undefined) throw unexpected(place, 'a list of tags, such as ["<em>"]')
  const tag = string(first, 'a text')
  if (tag.length > limits.text) throw overLimit('text', limits, where(first))
  return tag
}

const count = (place: JsonNode): number => {
  const number = integer(place, 'an integer from 0 on')
  if (number < 0) throw unexpected(place, 'an integer from 0 on')
  return number
}

const oneOf = <T extends string>(place: JsonNode, texts: readonly T[]): T => {
  const expected = texts.map(text => JSON.stringify(text)).join(' or ')
  const text = isObject(place.value) ? undefined : string(place, expected)
  if (!texts.includes(text as T)) throw unexpected(place, expected)
  return text as T
}

const notSupported = (place: JsonNode) =>
  refuse(
    'illegal_argument_exception',
    `${where(place)}: matched_fields is not supported. Name each field in [fields], or set "require_field_match": false.`,
  )
