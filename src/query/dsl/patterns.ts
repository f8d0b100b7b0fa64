import { refuse } from '../../lib/errors.ts'
import { checkText, EXACT, nearOn, notFuzzy, patternOn, prefixOn, readNear } from '../field-conditions.ts'
import { type JsonNode, toScalar, toWhole, unexpected, where } from '../json-node.ts'
import { asInteger, booleanKeyOr, key, nodeKey, optionalKey, SCHEMAS } from '../keys.ts'
import { REGEXP_OPERATORS, type RegexpOperator } from '../regexp/parse.ts'
import { isMeta, testedMetaField } from '../scope.ts'
import { constantScored } from '../score.ts'
import { shapeOn } from '../text/match.ts'
import { matcherOf } from '../text/pattern.ts'
import { type FieldRequest, fieldClause } from './clause.ts'

const REWRITE_WAYS = ['constant_score', 'constant_score_boolean', 'constant_score_auto']
const EXPECTED_REWRITE =
  '"constant_score", "constant_score_boolean" or "constant_score_auto": other ways to score a pattern are not supported'

/** Checks Lucene's rewrite method for a pattern; it changes neither matches nor scores here. */
export const rewrite = key(place => {
  if (place === undefined || place.value === null) return
  if (!REWRITE_WAYS.includes(toScalar(place, EXPECTED_REWRITE))) throw unexpected(place, EXPECTED_REWRITE)
}, SCHEMAS.text)

/** Whether near values score equally rather than by edit distance. */
export const fuzzyRewrite = key(place => {
  if (place === undefined || place.value === null) return false
  const name = toScalar(place, EXPECTED_REWRITE)
  if (/^top_terms_blended_freqs_\d{1,9}$/.test(name)) return false
  if (!REWRITE_WAYS.includes(name)) throw unexpected(place, `${EXPECTED_REWRITE}, but for "top_terms_blended_freqs_50"`)
  return true
}, SCHEMAS.text)

export const prefixClause = fieldClause({
  name: 'prefix',
  doc: 'A keyword, or a word of a text field, begins with this text; with case_insensitive in any letter case.',
  example: { 'event.raw': 'Trans' },
  keys: { case_insensitive: booleanKeyOr(false), rewrite },
  meta: ({ name, at, value, scope }) =>
    testedMetaField('prefix', name, at, scope, text => text.startsWith(String(value.value))),
  make(field, { value, options, scope }) {
    const ignoreCase = options.case_insensitive
    checkText('prefix', field, value)
    const text = scope.budget.text(toScalar(value, 'a text'), value)
    if (!ignoreCase || field.compare === 'hex') return prefixOn(field, text)
    // Words have small letters.
    if (field.compare === 'token') return prefixOn(field, text.toLowerCase())
    return patternOn('prefix', field, value, { how: 'prefix', text, ignoreCase })
  },
})

const WILDCARD = { case_insensitive: booleanKeyOr(false), rewrite }

const wildcardOptions = ({ value, options, scope }: FieldRequest<typeof WILDCARD>) => ({
  how: 'wildcard' as const,
  text: scope.budget.text(toScalar(value, 'a text'), value),
  ignoreCase: options.case_insensitive,
})

export const wildcardClause = fieldClause({
  name: 'wildcard',
  doc: 'A keyword, or a word of a text field, matches this pattern: * matches any characters, ? for one, and a backslash escapes them. With case_insensitive in any letter case.',
  example: { 'event.raw': { value: 'Trans*' } },
  value: ['value', 'wildcard'],
  keys: WILDCARD,
  meta: asked => testedMetaField('wildcard', asked.name, asked.at, asked.scope, matcherOf(wildcardOptions(asked))),
  make(field, asked) {
    const { how, text, ignoreCase } = wildcardOptions(asked)
    return shapeOn(how, field, asked.value, text, { ignoreCase })
  },
})

const REGEXP = {
  flags: nodeKey,
  flags_value: nodeKey,
  case_insensitive: booleanKeyOr(false),
  max_determinized_states: optionalKey(asInteger('how many states the automaton may have'), SCHEMAS.whole),
  rewrite,
}

const regexpOptions = ({ value, options }: FieldRequest<typeof REGEXP>) => {
  const text = toScalar(value, 'a text')
  const operators = readRegexpFlags(options)
  checkLength(text, value)
  return { how: 'regexp' as const, text, ignoreCase: options.case_insensitive, operators }
}

export const regexpClause = fieldClause({
  name: 'regexp',
  doc: 'A keyword, or a word of a text field, matches this regular expression as a whole, in the syntax of Lucene: . ? * + {2,5} | ( ) [a-z] "literal" and, depending on flags, & ~ <1-99> @ #.',
  example: { 'event.raw': { value: 'Trans.*|Sw[a-z]+' } },
  keys: REGEXP,
  meta(asked) {
    const pattern = regexpOptions(asked)
    return testedMetaField('regexp', asked.name, asked.at, asked.scope, value => matcherOf(pattern)(value))
  },
  make(field, asked) {
    const { how, text, ...rest } = regexpOptions(asked)
    const states = asked.options.max_determinized_states
    return shapeOn(how, field, asked.value, text, { ...rest, ...(states !== undefined && { states }) })
  },
})

/** As Elasticsearch's `index.max_regex_length`. */
const MAX_REGEXP_LENGTH = 1000

export const checkLength = (text: string, place: JsonNode): void => {
  if (text.length <= MAX_REGEXP_LENGTH) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: the regular expression has ${text.length} characters, and may have at most ${MAX_REGEXP_LENGTH}.`,
  )
}

/** `ALL`, `NONE`, names joined by `|`, or their bits as a number. `AUTOMATON` has no effect. */
const readRegexpFlags = ({ flags, flags_value }: FieldRequest<typeof REGEXP>['options']): readonly RegexpOperator[] => {
  if (flags_value !== undefined) {
    const bits = toWhole(flags_value, 'a number whose bits are flags')
    if (flags === undefined)
      return (bits & 0xffff) === 0xffff
        ? REGEXP_OPERATORS
        : REGEXP_OPERATORS.filter((_, i) => bits & REGEXP_FLAG_BITS[i]!)
  }
  if (flags === undefined || flags.value === null) return REGEXP_OPERATORS
  return readFlagNames(flags, [...REGEXP_OPERATORS, 'AUTOMATON'], EXPECTED_REGEXP_FLAGS).filter(
    name => name !== 'AUTOMATON',
  )
}

/** `ALL`, `NONE`, or names with bars between them, in any letter case. */
export const readFlagNames = <Name extends string>(
  place: JsonNode,
  names: readonly Name[],
  expected: string,
): Name[] => {
  const given = toScalar(place, expected)
    .toUpperCase()
    .split('|')
    .map(name => name.trim())
  if (given.some(name => !['ALL', 'NONE', '', ...names].includes(name))) throw unexpected(place, expected)
  return names.filter(name => given.includes('ALL') || given.includes(name))
}

const REGEXP_FLAG_BITS = [1, 2, 32, 8, 4]
const EXPECTED_REGEXP_FLAGS = `"ALL", "NONE", or some of ${REGEXP_OPERATORS.join('|')}`

export const fuzzyClause = fieldClause({
  name: 'fuzzy',
  doc: 'A name, or a word of a text field, differs from this one in at most so many letters (fuzziness: 0, 1, 2, "AUTO" or "AUTO:low,high"); the first ones (prefix_length) are the same.',
  example: { event: { value: 'trnsfer' } },
  keys: {
    fuzziness: nodeKey,
    prefix_length: nodeKey,
    max_expansions: nodeKey,
    transpositions: nodeKey,
    rewrite: fuzzyRewrite,
  },
  meta({ name, value, options }) {
    readNear(options, undefined)
    if (isMeta(name)) throw notFuzzy(value, name, EXACT)
    return undefined
  },
  make(field, { value, options, scope }) {
    const near = readNear(options, { path: value.path, value: 'AUTO' })!
    const scored = nearOn(field, scope.budget.text(toScalar(value, 'a text'), value), near)
    return options.rewrite ? constantScored(scored.node) : scored
  },
})
