import { refuse } from '../../lib/errors.ts'
import { checkExpansions, EXACT, notFuzzy, readNear } from '../field-conditions.ts'
import { elements, type JsonNode, toText, unexpected, where } from '../json-node.ts'
import {
  booleanKeyOr,
  doubleKey,
  itself,
  key,
  neededKey,
  nodeKey,
  nullableKey,
  optionalKey,
  SCHEMAS,
  type ValuesOf,
} from '../keys.ts'
import { isMeta, onMetaField } from '../scope.ts'
import {
  ALL_FIELDS,
  fieldsNamed,
  inFields,
  isMatchType,
  MATCH_TYPES,
  type MatchType,
  orAllFields,
  readFieldNames,
} from '../text/many-fields.ts'
import {
  boolPrefixOn,
  matchOn,
  phraseOn,
  phrasePrefixOn,
  readAnalyzer,
  readOperator,
  readSlop,
  type TextOptions,
} from '../text/match.ts'
import { fieldClause, objectClause } from './clause.ts'
import { fuzzyRewrite } from './patterns.ts'

export const analyzer = key(readAnalyzer, SCHEMAS.text)
export const operator = key(readOperator, SCHEMAS.text)
export const slop = key(readSlop, SCHEMAS.whole)
export const minimum = nullableKey(itself)
export const expansions = key(checkExpansions, SCHEMAS.whole)

const MATCH = {
  operator,
  minimum_should_match: minimum,
  fuzziness: nodeKey,
  prefix_length: nodeKey,
  max_expansions: nodeKey,
  fuzzy_transpositions: nodeKey,
  fuzzy_rewrite: fuzzyRewrite,
  lenient: booleanKeyOr(false),
  zero_terms_query: nodeKey,
  analyzer,
  // There are no synonyms, so that phrases need not be made of them.
  auto_generate_synonyms_phrase_query: booleanKeyOr(true),
}

const matchOptions = (keys: ValuesOf<typeof MATCH>): TextOptions => ({
  ...{ all: keys.operator, minimum: keys.minimum_should_match, near: readNear(keys, undefined) },
  ...{ lenient: keys.lenient, zero: keys.zero_terms_query, analyzer: keys.analyzer },
})

export const matchClause = fieldClause({
  name: 'match',
  doc: 'A text field contains one of the words of the query, or all of them with the operator "and", in any letter case. Any other field is compared as by term. With fuzziness (0, 1, 2, "AUTO" or "AUTO:low,high") it also finds names that differ in so many letters.',
  example: { event: { query: 'Tranfser', fuzziness: 'AUTO' } },
  value: ['query'],
  keys: MATCH,
  meta({ name, value, options, scope }) {
    if (readNear(options, undefined) && isMeta(name)) throw notFuzzy(options.fuzziness!, name, EXACT)
    return onMetaField(name, [value], scope)
  },
  make: (field, { value, options, scope }) => matchOn(field, value, matchOptions(options), scope),
})

export const matchBoolPrefixClause = fieldClause({
  name: 'match_bool_prefix',
  doc: 'As match; the last word is a prefix.',
  example: { event: 'tr' },
  value: ['query'],
  keys: MATCH,
  meta({ name, value, options, scope }) {
    readNear(options, undefined)
    return onMetaField(name, [value], scope)
  },
  make: (field, { value, options, scope }) => boolPrefixOn(field, value, matchOptions(options), scope),
})

const PHRASE = { analyzer, slop, zero_terms_query: nodeKey }

const phraseOptions = ({ analyzer, slop, zero_terms_query }: ValuesOf<typeof PHRASE>): TextOptions => ({
  ...{ analyzer, slop, zero: zero_terms_query },
})

export const matchPhraseClause = fieldClause({
  name: 'match_phrase',
  doc: 'A text field has the words of the query in a row, in any letter case. With slop, the words may be moved by so many places in total. Any other field is compared as by term.',
  example: { event: { query: 'Transfer', slop: 1 } },
  value: ['query'],
  keys: PHRASE,
  make: (field, { value, options, scope }) => phraseOn(field, value, phraseOptions(options), scope),
})

export const matchPhrasePrefixClause = fieldClause({
  name: 'match_phrase_prefix',
  doc: 'As match_phrase, on text fields; the last word is a prefix.',
  example: { event: 'trans' },
  value: ['query'],
  keys: { ...PHRASE, max_expansions: expansions },
  make: (field, { value, options, scope }) => phrasePrefixOn(field, value, phraseOptions(options), scope),
})

const EXPECTED_MATCH_TYPE = `one of ${Object.keys(MATCH_TYPES).join(', ')}`
export const matchType = key((place): MatchType => {
  if (place === undefined) return 'best_fields'
  const name = toText(place, EXPECTED_MATCH_TYPE).toLowerCase()
  if (isMatchType(name)) return name
  throw unexpected(place, EXPECTED_MATCH_TYPE)
}, SCHEMAS.text)

const UNFUZZY: ReadonlySet<MatchType> = new Set<MatchType>(['cross_fields', 'phrase', 'phrase_prefix'])

export const multiMatchClause = objectClause({
  doc: 'As match, in several fields. Names may contain *, and end in ^2, which doubles their score; without fields, in all of them. The type says how scores are combined: best_fields, most_fields, cross_fields (as one field), phrase, phrase_prefix or bool_prefix.',
  example: { query: 'transfer', fields: ['event^2', 'event.*'] },
  expected: 'an object such as {"query": "transfer", "fields": ["event"]}',
  keys: {
    query: neededKey(itself, {}, ': No text specified for multi_match query'),
    fields: optionalKey(place => readFieldNames(elements(place))),
    type: matchType,
    tie_breaker: doubleKey,
    slop,
    cutoff_frequency: nullableKey((place: JsonNode): never => {
      throw refuse('illegal_argument_exception', `${where(place)}: [cutoff_frequency] is not supported.`)
    }),
    ...{ ...MATCH, lenient: nullableKey(place => booleanKeyOr(false).read(place), SCHEMAS.flag) },
  },
  lower({ query, fields: given = [], type, tie_breaker: tie, slop, lenient, ...how }, { place, scope }) {
    const isAll = given.length === 0 || given.some(({ name }) => name === ALL_FIELDS)
    const names = orAllFields(given, place)
    const options = { ...matchOptions({ ...how, lenient: lenient ?? isAll }), slop }
    if (options.near && UNFUZZY.has(type))
      throw refuse('parsing_exception', `${where(how.fuzziness!)}: Fuzziness not allowed for type [${type}].`)
    checkExpansions(how.max_expansions)
    const weighted = fieldsNamed(names, scope)
    scope.budget.clauses(weighted.length, place)
    return inFields(type, weighted, query, { ...options, skipsFuzzy: isAll }, tie, scope)
  },
})
