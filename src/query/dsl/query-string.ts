import { ChainsieveError, refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup } from '../../mapping/index.ts'
import { NONE } from '../ast.ts'
import { createDateReader } from '../dates/reader.ts'
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
import { type BoundPlaces, fuzzingOf, isText, leniently, nearOn, prefixOn, within } from '../leaves.ts'
import { type Bound, type Part, parseLucene, type Syntax } from '../lucene/parse.ts'
import { OPERATORS } from '../regexp/parse.ts'
import { fieldsBelow, isMeta, onMetaField, type Scope, testedMetaField } from '../scope.ts'
import { constant, EVERY, NEVER, onlyFilters, type Scored, sumOfSome } from '../score.ts'
import { and, atLeast, exists, not, or } from '../simplify.ts'
import { analyze } from '../text/analysis.ts'
import {
  ALL_FIELDS,
  bestOf,
  fieldsNamed,
  inFields,
  orAllFields,
  readFieldName,
  readFieldNames,
  type Weighted,
  weighted,
} from '../text/many-fields.ts'
import { joined, matchOn, minimumOf, shapeOn } from '../text/match.ts'
import { matcherOf } from '../text/pattern.ts'
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
    const reading = stringReadingOf(keys, scope)
    if (text.trim() === '') return NEVER
    const syntax = parseLucene(keys.escape ? text.replace(SPECIAL, '\\$&') : text)
    return syntax.is === 'several'
      ? lowerSeveral(syntax.of, keys.minimum_should_match, reading)
      : lower(syntax, reading)
  },
})

const SPECIAL = /[\\+\-!():^[\]"{}~*?|&/]/g

type StringReading = ReturnType<typeof stringReadingOf>

/** How a query string is read, by its keys. */
const stringReadingOf = (keys: ValuesOf<typeof QUERY_STRING_KEYS>, scope: Scope) => {
  const { query: place, default_field, fields: some, time_zone: zone, default_operator: all, analyzer } = keys
  if (default_field !== undefined && some !== undefined)
    throw refuse(
      'parsing_exception',
      `${where(some)}: cannot use [fields] parameter in conjunction with [default_field].`,
    )
  const named = default_field ? [readFieldName(default_field)] : some ? readFieldNames(elements(some)) : []
  /** What is asked where the string names no field. */
  const fields = orAllFields(named, place)
  if (zone) scope.budget.timeZone(string(zone, 'a time zone'), zone)
  const lenient = keys.lenient ?? fields.some(({ name }) => name === ALL_FIELDS)
  const near = fuzzingOf({
    fuzziness: keys.fuzziness,
    prefix_length: keys.fuzzy_prefix_length,
    transpositions: keys.fuzzy_transpositions,
  })
  return { keys, scope, place, fields, lenient, near, texts: { all, lenient, analyzer } }
}

const lower = (syntax: Syntax, reading: StringReading): Scored => {
  const { place, scope } = reading
  scope.budget.clauses(1, place)
  switch (syntax.is) {
    case 'several':
      return lowerSeveral(syntax.of, undefined, reading)
    case 'boosted':
      return weighted(lower(syntax.of, reading), syntax.boost)
    case 'text':
      return lowerText(syntax.field, syntax.text, reading)
    case 'phrase':
      return lowerPhrase(syntax.field, syntax.text, syntax.slop ?? reading.keys.phrase_slop, reading)
    case 'range':
      return lowerRange(syntax.field, syntax.low, syntax.high, reading)
    case 'fuzzy':
      return lowerFuzzy(syntax.field, syntax.text, syntax.edits, reading)
    case 'prefix':
      return onFields(syntax.field, reading, {
        make: field => lowerPrefix(field, syntax.text, reading),
        ofMeta: meta => testedMetaField('prefix', meta, place, scope, it => it.startsWith(syntax.text)),
      })
    case 'wildcard':
      return lowerWildcard(syntax.field, syntax.text, reading)
    case 'regexp':
      return onFields(syntax.field, reading, {
        make: field => shapeOn('regexp', field, place, syntax.text, { operators: OPERATORS, ...statesOf(reading) }),
        ofMeta: meta => testedMetaField('regexp', meta, place, scope, shape('regexp', syntax.text)),
      })
  }
}

type Occur = 'must' | 'should' | 'not'

/** Several parts, of which AND makes both sides required, whatever stands further on. */
const lowerSeveral = (parts: readonly Part[], minimum: JsonNode | undefined, reading: StringReading): Scored => {
  const { all } = reading.texts
  const clauses: { occur: Occur; scored: Scored }[] = []
  for (const { sign, joint, syntax } of parts) {
    const last = clauses.at(-1)
    if (last && last.occur !== 'not' && joint === 'and') last.occur = 'must'
    if (last && last.occur !== 'not' && joint === 'or' && all) last.occur = 'should'
    const made = separateWords(syntax, reading) ?? [lower(syntax, reading)]
    const required = all ? joint !== 'or' : sign === 'must' || joint === 'and'
    const occur = sign === 'not' ? 'not' : required ? 'must' : 'should'
    for (const scored of made) if (scored !== NO_WORDS) clauses.push({ occur, scored })
  }
  const [only] = clauses
  if (!only) return NEVER
  if (clauses.length === 1 && only.occur === 'should') return only.scored
  const of = (occur: Occur) => clauses.filter(clause => clause.occur === occur).map(({ scored }) => scored)
  const [must, should, forbidden] = [of('must'), of('should'), of('not')]
  const wanted = minimum === undefined ? 0 : minimumOf(minimum, should.length)
  const least = should.length === 0 ? 0 : Math.max(wanted, must.length > 0 ? 0 : 1)
  const optional = atLeast(
    least,
    should.map(({ node }) => node),
  )
  return {
    node: and([...must.map(({ node }) => node), ...forbidden.map(({ node }) => not(node)), optional]),
    score: sumOfSome(
      must.map(({ score }) => score),
      least,
      should,
    ),
  }
}

/** Words beside each other in the one field that is meant count each for itself. */
const separateWords = (syntax: Syntax, reading: StringReading): Scored[] | undefined => {
  if (syntax.is !== 'text' || !syntax.words) return undefined
  const { place, scope, texts } = reading
  const [only, other] = fieldsMeant(syntax.field, reading)
  if (!only || other || only.field.compare !== 'token' || reading.keys.analyzer === 'keyword') return undefined
  const words = analyze(scope.budget.text(syntax.text, place))
  scope.budget.clauses(words.length, place)
  return words.map(word => weighted(matchOn(only.field, valueAt(word, reading), texts, scope), only.boost))
}

const lowerText = (name: string | undefined, words: string, reading: StringReading): Scored => {
  if (name === '_exists_') return existing(words, reading)
  const [, sign, bound] = (name !== undefined && /^([<>]=?)(.+)$/s.exec(words)) || []
  if (sign !== undefined && bound !== undefined) {
    const limit = { text: bound, included: sign.endsWith('=') }
    return sign.startsWith('>')
      ? lowerRange(name, limit, OPEN_BOUND, reading)
      : lowerRange(name, OPEN_BOUND, limit, reading)
  }
  const value = valueAt(words, reading)
  const { scope, keys, texts } = reading
  const meta = name === undefined ? undefined : onMetaField(name, [value], scope)
  if (meta) return constant(meta)
  const fields = fieldsMeant(name, reading)
  // A date is compared by the time zone that is given.
  const [only, other] = fields
  if (keys.time_zone && only && !other && only.field.compare === 'instant')
    return lowerRange(name, { text: words, included: true }, { text: words, included: true }, reading)
  if (fields.every(({ field }) => field.compare === 'token') && analyze(words).length === 0) return NO_WORDS
  return inFields(keys.type, fields, value, { ...texts, slop: keys.phrase_slop }, keys.tie_breaker, scope)
}

const lowerPhrase = (name: string | undefined, words: string, slop: number, reading: StringReading): Scored => {
  if (name === '_exists_') return existing(words, reading)
  const { scope, texts, keys } = reading
  const { quote_field_suffix: suffix } = keys
  const value = valueAt(words, reading)
  const meta = name === undefined ? undefined : onMetaField(name, [value], scope)
  if (meta) return constant(meta)
  const quoted = (field: FieldPath): FieldPath =>
    (suffix === undefined ? undefined : lookup(scope.kind, field.path + suffix)) ?? field
  const fields = fieldsMeant(name, reading).map(({ field, boost }) => ({ field: quoted(field), boost }))
  const how = { ...texts, analyzer: keys.quote_analyzer ?? keys.analyzer, slop }
  return inFields('phrase', fields, value, how, keys.tie_breaker, scope)
}

const existing = (name: string, reading: StringReading): Scored => {
  if (isMeta(name)) return EVERY
  if (name.includes('*')) return constant(or(fieldsMeant(name, reading).map(({ field }) => exists(field))))
  return forgiving(reading, NEVER, () => constant(or(fieldsBelow(name, reading.place, reading.scope).map(exists))))
}

const shape = (how: 'wildcard' | 'regexp', text: string) =>
  matcherOf({ how, text, ignoreCase: false, operators: OPERATORS })

const lowerWildcard = (name: string | undefined, words: string, reading: StringReading): Scored => {
  const { place, scope, fields } = reading
  if (words === '*') {
    const [only, other] = fields
    const asked = name ?? (other === undefined ? only?.name : undefined)
    if (asked === ALL_FIELDS) return EVERY
    if (asked !== undefined) return existing(asked, reading)
  }
  if (name === '_exists_') return existing(words, reading)
  if (!reading.keys.allow_leading_wildcard && /^[*?]/.test(words))
    throw refuse(
      'query_shard_exception',
      `${where(place)}: '*' or '?' not allowed as first character in WildcardQuery, since allow_leading_wildcard is false.`,
    )
  return onFields(name, reading, {
    make: field => shapeOn('wildcard', field, place, words, { normalized: true }),
    ofMeta: meta => testedMetaField('wildcard', meta, place, scope, shape('wildcard', words)),
  })
}

const lowerPrefix = (field: FieldPath, start: string, reading: StringReading): Scored => {
  if (!isText(field)) return shapeOn('wildcard', field, reading.place, '*', {})
  if (field.compare !== 'token') return prefixOn(field, start)
  const words = reading.keys.analyze_wildcard ? analyze(start) : [start.toLowerCase()]
  const last = words.pop()
  if (last === undefined) return NEVER
  const before = words.map(word => matchOn(field, valueAt(word, reading), reading.texts, reading.scope))
  return joined([...before, prefixOn(field, last)], reading.texts.all, undefined)
}

const lowerFuzzy = (
  name: string | undefined,
  word: string,
  edits: string | undefined,
  reading: StringReading,
): Scored => {
  if (name === '_exists_') return existing(word, reading)
  const near = reading.near(edits, reading.place)
  const skips = name === undefined || name.includes('*')
  return onFields(name, reading, {
    make: field =>
      skips && field.kind !== 'text' && field.kind !== 'keyword'
        ? NEVER
        : nearOn(field, field.compare === 'token' ? word.toLowerCase() : word, near),
  })
}

const lowerRange = (name: string | undefined, low: Bound, high: Bound, reading: StringReading): Scored =>
  onFields(name, reading, {
    make(field) {
      const bound = ({ text }: Bound) =>
        text === undefined ? undefined : valueAt(field.compare === 'token' ? text.toLowerCase() : text, reading)
      const bounds: BoundPlaces = {
        ...{ [low.included ? 'gte' : 'gt']: bound(low) },
        ...{ [high.included ? 'lte' : 'lt']: bound(high) },
      }
      const { time_zone } = reading.keys
      const zone = time_zone && { place: time_zone, text: String(time_zone.value) }
      return constant(within(field, bounds, createDateReader({ ...reading.scope, zone })))
    },
  })

/** One of the fields that are meant fulfils the condition. */
const onFields = (
  name: string | undefined,
  reading: StringReading,
  { make, ofMeta }: { make(field: FieldPath): Scored; ofMeta?(name: string): ReturnType<typeof onMetaField> },
): Scored => {
  if (name !== undefined && isMeta(name)) {
    const node = ofMeta?.(name)
    if (node) return constant(node)
    throw refuse('query_shard_exception', `${where(reading.place)}: [${name}] can be searched by exact values only.`)
  }
  const parts = fieldsMeant(name, reading).map(({ field, boost }) =>
    weighted(
      leniently(reading.lenient, () => make(field)),
      boost,
    ),
  )
  return bestOf(parts, reading.keys.tie_breaker ?? 0)
}

const fieldsMeant = (name: string | undefined, reading: StringReading): Weighted[] =>
  name === undefined
    ? fieldsNamed(reading.fields, reading.scope)
    : forgiving(reading, [], () => fieldsNamed([{ name, boost: 1, place: reading.place }], reading.scope))

/** What a name that nothing has stands for, where that is no fault. */
const forgiving = <T>({ keys }: StringReading, otherwise: T, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (keys.lenient && error instanceof ChainsieveError && error.code === 'query_shard_exception') return otherwise
    throw error
  }
}

const valueAt = (text: string, { place }: StringReading): JsonNode => ({ path: place.path, value: text })

const OPEN_BOUND: Bound = { text: undefined, included: true }

const statesOf = ({ keys: { max_determinized_states: states } }: StringReading) =>
  states === undefined ? {} : { states }

/** Words that are none, which are left out of what stands around them. */
const NO_WORDS: Scored = onlyFilters(NONE)
