import { ChainsieveError, refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup } from '../../mapping/index.ts'
import { NONE_NODE } from '../ast.ts'
import { createDateReader } from '../dates/reader.ts'
import { type BoundPlaces, fuzzingOf, isText, leniently, nearOn, prefixOn, withinNode } from '../field-conditions.ts'
import { elements, type JsonNode, toScalar, toText, where } from '../json-node.ts'
import {
  asInteger,
  asText,
  booleanKey,
  booleanKeyOr,
  doubleKey,
  itself,
  neededKey,
  nodeKey,
  nullableKey,
  optionalKey,
  SCHEMAS,
  type ValuesOf,
} from '../keys.ts'
import { parseLucene, type RangeBound, type Syntax, type SyntaxPart } from '../lucene/parse.ts'
import { REGEXP_OPERATORS } from '../regexp/parse.ts'
import { fieldsBelow, isMeta, onMetaField, type QueryScope, testedMetaField } from '../scope.ts'
import { constantScored, onlyFilters, SCORED_ALL, SCORED_NONE, type ScoredQuery, sumOfSome } from '../score.ts'
import { andNode, atLeastNode, existsNode, notNode, orNode } from '../simplify.ts'
import { analyzeText } from '../text/analysis.ts'
import {
  ALL_FIELDS,
  bestOfFields,
  boostBy,
  fieldsNamed,
  inFields,
  onWeighted,
  orAllFields,
  readFieldName,
  readFieldNames,
  type Weighted,
} from '../text/many-fields.ts'
import { combineWords, matchOn, minimumOf, shapeOn } from '../text/match.ts'
import { matcherOf } from '../text/pattern.ts'
import { objectClause } from './clause.ts'
import { fuzzyRewrite, rewrite } from './patterns.ts'
import { analyzer, expansions, matchType, minimum, operator, slop } from './texts.ts'

const QUERY_STRING_KEYS = {
  query: neededKey(itself, SCHEMAS.text),
  default_field: nodeKey,
  fields: nodeKey,
  default_operator: operator,
  analyzer,
  quote_analyzer: analyzer,
  quote_field_suffix: optionalKey(asText('the end of a name'), SCHEMAS.text),
  allow_leading_wildcard: booleanKeyOr(true),
  analyze_wildcard: booleanKeyOr(false),
  max_determinized_states: optionalKey(asInteger('how many states an automaton may have'), SCHEMAS.whole),
  enable_position_increments: booleanKey,
  escape: booleanKeyOr(false),
  fuzziness: nodeKey,
  fuzzy_prefix_length: nodeKey,
  fuzzy_max_expansions: expansions,
  fuzzy_rewrite: fuzzyRewrite,
  fuzzy_transpositions: nodeKey,
  phrase_slop: slop,
  rewrite,
  minimum_should_match: minimum,
  tie_breaker: doubleKey,
  lenient: nullableKey(place => booleanKeyOr(false).read(place), SCHEMAS.flag),
  time_zone: nullableKey(itself, SCHEMAS.text),
  type: matchType,
  auto_generate_synonyms_phrase_query: booleanKey,
}

export const queryStringClause = objectClause({
  doc: 'A query in the syntax of Lucene: field:value, "a phrase"~2, AND OR NOT + - ( ), ranges [1 TO 5} and >=5, wildcards, /regular expressions/, fuzzy~1, boost^2, _exists_:field. Terms without a field search default_field or fields, and by default all fields.',
  example: { query: 'event:(transfer OR approval) AND blockNumber.num:[1 TO 100]' },
  expected: 'an object such as {"query": "event:transfer"}',
  keys: QUERY_STRING_KEYS,
  lower(keys, { scope }) {
    const text = scope.budget.text(toScalar(keys.query, 'a text'), keys.query)
    const reading = stringReadingOf(keys, scope)
    if (text.trim() === '') return SCORED_NONE
    const syntax = parseLucene(keys.escape ? text.replace(SPECIAL, '\\$&') : text)
    return syntax.is === 'several'
      ? lowerSeveral(syntax.of, keys.minimum_should_match, reading)
      : lowerSyntax(syntax, reading)
  },
})

const SPECIAL = /[\\+\-!():^[\]"{}~*?|&/]/g

type StringReading = ReturnType<typeof stringReadingOf>

const stringReadingOf = (keys: ValuesOf<typeof QUERY_STRING_KEYS>, scope: QueryScope) => {
  const { query: place, default_field, fields: some, time_zone: zone, default_operator: all, analyzer } = keys
  if (default_field !== undefined && some !== undefined)
    throw refuse(
      'parsing_exception',
      `${where(some)}: cannot use [fields] parameter in conjunction with [default_field].`,
    )
  const named = default_field ? [readFieldName(default_field)] : some ? readFieldNames(elements(some)) : []
  const fields = orAllFields(named, place)
  if (zone) scope.budget.timeZone(toText(zone, 'a time zone'), zone)
  const lenient = keys.lenient ?? fields.some(({ name }) => name === ALL_FIELDS)
  const near = fuzzingOf({
    fuzziness: keys.fuzziness,
    prefix_length: keys.fuzzy_prefix_length,
    transpositions: keys.fuzzy_transpositions,
  })
  return { keys, scope, place, fields, lenient, near, texts: { all, lenient, analyzer } }
}

const lowerSyntax = (syntax: Syntax, reading: StringReading): ScoredQuery => {
  const { place, scope } = reading
  scope.budget.clauses(1, place)
  switch (syntax.is) {
    case 'several':
      return lowerSeveral(syntax.of, undefined, reading)
    case 'boosted':
      return boostBy(lowerSyntax(syntax.of, reading), syntax.boost)
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
        make: field =>
          shapeOn('regexp', field, place, syntax.text, { operators: REGEXP_OPERATORS, ...maxStatesOf(reading) }),
        ofMeta: meta => testedMetaField('regexp', meta, place, scope, shape('regexp', syntax.text)),
      })
  }
}

type Occur = 'must' | 'should' | 'not'

/** AND makes both its sides required, whatever follows. */
const lowerSeveral = (
  parts: readonly SyntaxPart[],
  minimum: JsonNode | undefined,
  reading: StringReading,
): ScoredQuery => {
  const { all } = reading.texts
  const clauses: { occur: Occur; scored: ScoredQuery }[] = []
  for (const { sign, joint, syntax } of parts) {
    const last = clauses.at(-1)
    if (last && last.occur !== 'not' && joint === 'and') last.occur = 'must'
    if (last && last.occur !== 'not' && joint === 'or' && all) last.occur = 'should'
    const within = sign === 'not' ? withoutMarks(reading) : reading
    const made = separateWords(syntax, within) ?? [lowerSyntax(syntax, within)]
    const required = all ? joint !== 'or' : sign === 'must' || joint === 'and'
    const occur = sign === 'not' ? 'not' : required ? 'must' : 'should'
    for (const scored of made) if (scored !== NO_WORDS) clauses.push({ occur, scored })
  }
  const [only] = clauses
  if (!only) return SCORED_NONE
  if (clauses.length === 1 && only.occur === 'should') return only.scored
  const of = (occur: Occur) => clauses.filter(clause => clause.occur === occur).map(({ scored }) => scored)
  const [must, should, forbidden] = [of('must'), of('should'), of('not')]
  const wanted = minimum === undefined ? 0 : minimumOf(minimum, should.length)
  const least = should.length === 0 ? 0 : Math.max(wanted, must.length > 0 ? 0 : 1)
  const optional = atLeastNode(
    least,
    should.map(({ node }) => node),
  )
  return {
    node: andNode([...must.map(({ node }) => node), ...forbidden.map(({ node }) => notNode(node)), optional]),
    score: sumOfSome(
      must.map(({ score }) => score),
      least,
      should,
    ),
  }
}

/** Bare words in a single field count one by one. */
const separateWords = (syntax: Syntax, reading: StringReading): ScoredQuery[] | undefined => {
  if (syntax.is !== 'text' || !syntax.words) return undefined
  const { place, scope, texts } = reading
  const [only, other] = fieldsMeant(syntax.field, reading)
  if (!only || other || only.field.compare !== 'token' || reading.keys.analyzer === 'keyword') return undefined
  const words = analyzeText(scope.budget.text(syntax.text, place))
  scope.budget.clauses(words.length, place)
  return words.map(word => onWeighted(only, scope, field => matchOn(field, textNode(word, reading), texts, scope)))
}

const lowerText = (name: string | undefined, words: string, reading: StringReading): ScoredQuery => {
  if (name === '_exists_') return existing(words, reading)
  const [, sign, bound] = (name !== undefined && /^([<>]=?)(.+)$/s.exec(words)) || []
  if (sign !== undefined && bound !== undefined) {
    const limit = { text: bound, included: sign.endsWith('=') }
    return sign.startsWith('>')
      ? lowerRange(name, limit, OPEN_BOUND, reading)
      : lowerRange(name, OPEN_BOUND, limit, reading)
  }
  const value = textNode(words, reading)
  const { scope, keys, texts } = reading
  const meta = name === undefined ? undefined : onMetaField(name, [value], scope)
  if (meta) return constantScored(meta)
  const fields = fieldsMeant(name, reading)
  // A date is compared by the time zone that is given.
  const [only, other] = fields
  if (keys.time_zone && only && !other && only.field.compare === 'instant')
    return lowerRange(name, { text: words, included: true }, { text: words, included: true }, reading)
  if (fields.every(({ field }) => field.compare === 'token') && analyzeText(words).length === 0) return NO_WORDS
  return inFields(keys.type, fields, value, { ...texts, slop: keys.phrase_slop }, keys.tie_breaker, scope)
}

const lowerPhrase = (name: string | undefined, words: string, slop: number, reading: StringReading): ScoredQuery => {
  if (name === '_exists_') return existing(words, reading)
  const { scope, texts, keys } = reading
  const { quote_field_suffix: suffix } = keys
  const value = textNode(words, reading)
  const meta = name === undefined ? undefined : onMetaField(name, [value], scope)
  if (meta) return constantScored(meta)
  const quoted = (field: FieldPath): FieldPath =>
    (suffix === undefined ? undefined : lookup(scope.kind, field.path + suffix)) ?? field
  const fields = fieldsMeant(name, reading).map(({ field, boost }) => ({ field: quoted(field), boost }))
  const how = { ...texts, analyzer: keys.quote_analyzer ?? keys.analyzer, slop }
  return inFields('phrase', fields, value, how, keys.tie_breaker, scope)
}

const existing = (name: string, reading: StringReading): ScoredQuery => {
  if (isMeta(name)) return SCORED_ALL
  if (name.includes('*'))
    return constantScored(orNode(fieldsMeant(name, reading).map(({ field }) => existsNode(field))))
  return forgiving(reading, SCORED_NONE, () =>
    constantScored(orNode(fieldsBelow(name, reading.place, reading.scope).map(existsNode))),
  )
}

const shape = (how: 'wildcard' | 'regexp', text: string) =>
  matcherOf({ how, text, ignoreCase: false, operators: REGEXP_OPERATORS })

const lowerWildcard = (name: string | undefined, words: string, reading: StringReading): ScoredQuery => {
  const { place, scope, fields } = reading
  if (words === '*') {
    const [only, other] = fields
    const asked = name ?? (other === undefined ? only?.name : undefined)
    if (asked === ALL_FIELDS) return SCORED_ALL
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

const lowerPrefix = (field: FieldPath, start: string, reading: StringReading): ScoredQuery => {
  if (!isText(field)) return shapeOn('wildcard', field, reading.place, '*', {})
  if (field.compare !== 'token') return prefixOn(field, start)
  const words = reading.keys.analyze_wildcard ? analyzeText(start) : [start.toLowerCase()]
  const last = words.pop()
  if (last === undefined) return SCORED_NONE
  const before = words.map(word => matchOn(field, textNode(word, reading), reading.texts, reading.scope))
  return combineWords([...before, prefixOn(field, last)], reading.texts.all, undefined)
}

const lowerFuzzy = (
  name: string | undefined,
  word: string,
  edits: string | undefined,
  reading: StringReading,
): ScoredQuery => {
  if (name === '_exists_') return existing(word, reading)
  const near = reading.near(edits, reading.place)
  const skips = name === undefined || name.includes('*')
  return onFields(name, reading, {
    make: field =>
      skips && field.kind !== 'text' && field.kind !== 'keyword'
        ? SCORED_NONE
        : nearOn(field, field.compare === 'token' ? word.toLowerCase() : word, near),
  })
}

const lowerRange = (name: string | undefined, low: RangeBound, high: RangeBound, reading: StringReading): ScoredQuery =>
  onFields(name, reading, {
    make(field) {
      const bound = ({ text }: RangeBound) =>
        text === undefined ? undefined : textNode(field.compare === 'token' ? text.toLowerCase() : text, reading)
      const bounds: BoundPlaces = {
        ...{ [low.included ? 'gte' : 'gt']: bound(low) },
        ...{ [high.included ? 'lte' : 'lt']: bound(high) },
      }
      const { time_zone } = reading.keys
      const zone = time_zone && { place: time_zone, text: String(time_zone.value) }
      return constantScored(withinNode(field, bounds, createDateReader({ ...reading.scope, zone })))
    },
  })

/** One of the named fields fulfils the condition. */
const onFields = (
  name: string | undefined,
  reading: StringReading,
  { make, ofMeta }: { make(field: FieldPath): ScoredQuery; ofMeta?(name: string): ReturnType<typeof onMetaField> },
): ScoredQuery => {
  if (name !== undefined && isMeta(name)) {
    const node = ofMeta?.(name)
    if (node) return constantScored(node)
    throw refuse('query_shard_exception', `${where(reading.place)}: [${name}] can be searched by exact values only.`)
  }
  const parts = fieldsMeant(name, reading).map(one =>
    onWeighted(one, reading.scope, field => leniently(reading.lenient, () => make(field))),
  )
  return bestOfFields(parts, reading.keys.tie_breaker ?? 0)
}

const fieldsMeant = (name: string | undefined, reading: StringReading): Weighted[] =>
  name === undefined
    ? fieldsNamed(reading.fields, reading.scope)
    : forgiving(reading, [], () => fieldsNamed([{ name, boost: 1, place: reading.place }], reading.scope))

/** Replaces an unknown name of a field by `otherwise` if the query is lenient. */
const forgiving = <T>({ keys }: StringReading, otherwise: T, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (keys.lenient && error instanceof ChainsieveError && error.code === 'query_shard_exception') return otherwise
    throw error
  }
}

const withoutMarks = (reading: StringReading): StringReading => ({
  ...reading,
  scope: { ...reading.scope, marks: undefined },
})

const textNode = (text: string, { place }: StringReading): JsonNode => ({ path: place.path, value: text })

const OPEN_BOUND: RangeBound = { text: undefined, included: true }

const maxStatesOf = ({ keys: { max_determinized_states: states } }: StringReading) =>
  states === undefined ? {} : { states }

/** Text without words, which is left out. */
const NO_WORDS: ScoredQuery = onlyFilters(NONE_NODE)
