import { refuse } from '../../lib/errors.ts'
import { elements, type JsonNode, scalar, string, where } from '../json-node.ts'
import {
  asInteger,
  asText,
  double,
  flag,
  flagOr,
  given,
  itself,
  needed,
  optional,
  orNull,
  SCHEMAS,
  type ValuesOf,
} from '../keys.ts'
import { fuzzingOf } from '../leaves.ts'
import { lowerString, type StringOptions } from '../lucene/lower.ts'
import { parseLucene } from '../lucene/parse.ts'
import type { Scope } from '../scope.ts'
import { NEVER } from '../score.ts'
import { ALL_FIELDS, type FieldName, readFieldName, readFieldNames } from '../text/many-fields.ts'
import { clause } from './clause.ts'
import { fuzzyRewrite, rewrite } from './patterns.ts'
import { analyzer, expansions, matchType, minimum, operator, slop } from './texts.ts'

const QUERY_STRING_KEYS = {
  query: needed(itself, SCHEMAS.text),
  default_field: given,
  fields: given,
  default_operator: operator,
  analyzer,
  quote_analyzer: analyzer,
  quote_field_suffix: optional(asText('the end of a name'), SCHEMAS.text),
  allow_leading_wildcard: flagOr(true),
  analyze_wildcard: flagOr(false),
  max_determinized_states: optional(asInteger('how many states an automaton may have'), SCHEMAS.whole),
  enable_position_increments: flag,
  escape: flagOr(false),
  fuzziness: given,
  fuzzy_prefix_length: given,
  fuzzy_max_expansions: expansions,
  fuzzy_rewrite: fuzzyRewrite,
  fuzzy_transpositions: given,
  phrase_slop: slop,
  rewrite,
  minimum_should_match: minimum,
  tie_breaker: double,
  lenient: orNull(place => flagOr(false).read(place), SCHEMAS.flag),
  time_zone: orNull(itself, SCHEMAS.text),
  type: matchType,
  auto_generate_synonyms_phrase_query: flag,
}

export const queryString = clause({
  doc: 'A query in the syntax of Lucene: field:value, "a phrase"~2, AND OR NOT + - ( ), ranges [1 TO 5} and >=5, wildcards, /regular expressions/, fuzzy~1, boost^2, _exists_:field. Terms without a field search default_field or fields, and by default all fields.',
  example: { query: 'event:(transfer OR approval) AND blockNumber.num:[1 TO 100]' },
  expected: 'an object such as {"query": "event:transfer"}',
  keys: QUERY_STRING_KEYS,
  lower(keys, { scope }) {
    const text = scope.budget.text(scalar(keys.query, 'a text'), keys.query)
    const options = stringOptionsOf(keys, scope)
    if (text.trim() === '') return NEVER
    return lowerString(parseLucene(keys.escape ? text.replace(SPECIAL, '\\$&') : text), options, scope)
  },
})

const SPECIAL = /[\\+\-!():^[\]"{}~*?|&/]/g

const stringOptionsOf = (keys: ValuesOf<typeof QUERY_STRING_KEYS>, scope: Scope): StringOptions => {
  const { query: place, default_field, fields, time_zone: zone } = keys
  if (default_field !== undefined && fields !== undefined)
    throw refuse(
      'parsing_exception',
      `${where(fields)}: cannot use [fields] parameter in conjunction with [default_field].`,
    )
  const names = fieldNamesOf(default_field, fields, place)
  if (zone) scope.budget.timeZone(string(zone, 'a time zone'), zone)
  return {
    place,
    fields: names,
    all: keys.default_operator,
    lenient: keys.lenient ?? names.some(({ name }) => name === ALL_FIELDS),
    forgivesNames: keys.lenient ?? false,
    analyzer: keys.analyzer,
    quoteAnalyzer: keys.quote_analyzer,
    quoteSuffix: keys.quote_field_suffix,
    analyzesPatterns: keys.analyze_wildcard,
    allowsLeading: keys.allow_leading_wildcard,
    type: keys.type,
    tie: keys.tie_breaker,
    slop: keys.phrase_slop,
    zone,
    minimum: keys.minimum_should_match,
    near: fuzzingOf({
      fuzziness: keys.fuzziness,
      prefix_length: keys.fuzzy_prefix_length,
      transpositions: keys.fuzzy_transpositions,
    }),
    states: keys.max_determinized_states,
  }
}

const fieldNamesOf = (field: JsonNode | undefined, fields: JsonNode | undefined, place: JsonNode): FieldName[] => {
  const given = field ? [readFieldName(field)] : fields ? readFieldNames(elements(fields)) : []
  return given.length > 0 ? given : [{ name: ALL_FIELDS, boost: 1, place }]
}
