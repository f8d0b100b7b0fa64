import { refuse } from '../../lib/errors.ts'
import { ALL_FIELDS, type FieldName, readFieldName, readFieldNames } from '../field-list.ts'
import { boolean, elements, integer, type JsonNode, known, scalar, string, unexpected, where } from '../json-node.ts'
import { checkExpansions, fuzzingOf } from '../leaves.ts'
import { parseLucene } from '../lucene/parse.ts'
import { readDouble } from '../numbers.ts'
import { lowerString, type StringOptions } from '../query-string.ts'
import type { Scope } from '../scope.ts'
import { NEVER } from '../score.ts'
import { readAnalyzer, readFlag, readOperator, readSlop } from '../text-query.ts'
import type { Clause } from './clause.ts'
import { readType } from './multi-match.ts'
import { checkRewrite, isConstantRewrite } from './rewrite.ts'

export const queryString: Clause = {
  doc: 'A query in the syntax of Lucene: field:value, "a phrase"~2, AND OR NOT + - ( ), ranges [1 TO 5} and >=5, wildcards, /regular expressions/, fuzzy~1, boost^2, _exists_:field. Terms without a field search default_field or fields, and by default all fields.',
  example: { query: 'event:(transfer OR approval) AND blockNumber.num:[1 TO 100]' },
  lower(place, scope) {
    const keys = known(place, 'an object such as {"query": "event:transfer"}', KEYS)
    if (keys.query === undefined) throw unexpected(place, 'an object with [query]')
    const text = scope.budget.text(scalar(keys.query, 'a text'), keys.query)
    const options = readOptions(keys, keys.query, scope)
    if (text.trim() === '') return NEVER
    const escapes = readFlag(keys.escape, false)
    return lowerString(parseLucene(escapes ? text.replace(SPECIAL, '\\$&') : text), options, scope)
  },
}

const KEYS = [
  'query',
  'default_field',
  'fields',
  'default_operator',
  'analyzer',
  'quote_analyzer',
  'quote_field_suffix',
  'allow_leading_wildcard',
  'analyze_wildcard',
  'max_determinized_states',
  'enable_position_increments',
  'escape',
  'fuzziness',
  'fuzzy_prefix_length',
  'fuzzy_max_expansions',
  'fuzzy_rewrite',
  'fuzzy_transpositions',
  'phrase_slop',
  'rewrite',
  'minimum_should_match',
  'tie_breaker',
  'lenient',
  'time_zone',
  'type',
  'auto_generate_synonyms_phrase_query',
] as const

const SPECIAL = /[\\+\-!():^[\]"{}~*?|&/]/g

type Keys = Partial<Record<(typeof KEYS)[number], JsonNode>>

const readOptions = (keys: Keys, place: JsonNode, scope: Scope): StringOptions => {
  const { default_field, fields, minimum_should_match: minimum, tie_breaker, time_zone, max_determinized_states } = keys
  if (default_field !== undefined && fields !== undefined)
    throw refuse(
      'parsing_exception',
      `${where(fields)}: cannot use [fields] parameter in conjunction with [default_field].`,
    )
  checkRewrite(keys.rewrite)
  isConstantRewrite(keys.fuzzy_rewrite)
  checkExpansions(keys.fuzzy_max_expansions)
  for (const flag of [keys.enable_position_increments, keys.auto_generate_synonyms_phrase_query])
    if (flag !== undefined) boolean(flag)
  const names = namesOf(default_field, fields, place)
  const isAll = names.some(({ name }) => name === ALL_FIELDS)
  const states = max_determinized_states && integer(max_determinized_states, 'how many states an automaton may have')
  const zone = time_zone?.value === null ? undefined : time_zone
  if (zone) scope.budget.timeZone(string(zone, 'a time zone'), zone)
  return {
    place,
    fields: names,
    all: readOperator(keys.default_operator),
    lenient: readFlag(keys.lenient, isAll),
    forgivesNames: readFlag(keys.lenient, false),
    analyzer: readAnalyzer(keys.analyzer),
    quoteAnalyzer: readAnalyzer(keys.quote_analyzer),
    quoteSuffix: keys.quote_field_suffix && string(keys.quote_field_suffix, 'the end of a name'),
    analyzesPatterns: readFlag(keys.analyze_wildcard, false),
    allowsLeading: readFlag(keys.allow_leading_wildcard, true),
    type: keys.type === undefined ? 'best_fields' : readType(keys.type),
    tie: tie_breaker === undefined || tie_breaker.value === null ? undefined : readDouble(tie_breaker),
    slop: readSlop(keys.phrase_slop),
    zone,
    minimum: minimum?.value === null ? undefined : minimum,
    near: fuzzingOf({
      fuzziness: keys.fuzziness,
      prefix_length: keys.fuzzy_prefix_length,
      transpositions: keys.fuzzy_transpositions,
    }),
    states,
  }
}

const namesOf = (field: JsonNode | undefined, fields: JsonNode | undefined, place: JsonNode): FieldName[] => {
  const given = field ? [readFieldName(field)] : fields ? readFieldNames(elements(fields)) : []
  return given.length > 0 ? given : [{ name: ALL_FIELDS, boost: 1, place }]
}
