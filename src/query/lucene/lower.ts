import { ChainsieveError, refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup } from '../../mapping/index.ts'
import { NONE } from '../ast.ts'
import { type BoundPlaces, isText, within } from '../conditions.ts'
import { createDateReader } from '../dates/reader.ts'
import { type JsonNode, where } from '../json-node.ts'
import { type Fuzzing, leniently, nearOn, prefixOn } from '../leaves.ts'
import { isMeta, onMetaField, testedMetaField } from '../meta.ts'
import { OPERATORS } from '../regexp/parse.ts'
import { fieldsBelow, type Scope } from '../scope.ts'
import { constant, EVERY, NEVER, onlyFilters, type Scored, sumOfSome } from '../score.ts'
import { and, atLeast, exists, not, or } from '../simplify.ts'
import { analyze } from '../text/analysis.ts'
import {
  ALL_FIELDS,
  bestOf,
  type FieldName,
  fieldsNamed,
  inFields,
  type MatchType,
  type Weighted,
  weighted,
} from '../text/many-fields.ts'
import { type Analyzer, joined, matchOn, minimumOf, shapeOn, type TextOptions } from '../text/match.ts'
import { matcherOf } from '../text/pattern.ts'
import type { Bound, Part, Syntax } from './parse.ts'

/** How a query string is read. */
export interface StringOptions {
  place: JsonNode
  /** What is asked where the string names no field. */
  fields: readonly FieldName[]
  /** Whether words without an operator between them have all to be there. */
  all: boolean
  lenient: boolean
  /** Whether names of fields that nothing has are no fault. */
  forgivesNames: boolean
  analyzer: Analyzer | undefined
  quoteAnalyzer: Analyzer | undefined
  quoteSuffix: string | undefined
  analyzesPatterns: boolean
  allowsLeading: boolean
  type: MatchType
  tie: number | undefined
  slop: number
  zone: JsonNode | undefined
  minimum: JsonNode | undefined
  /** Makes what is near of the edits that are given behind `~`. */
  near: Fuzzing
  states: number | undefined
}

/** The meaning of a query string. */
export const lowerString = (syntax: Syntax, options: StringOptions, scope: Scope): Scored => {
  const { all, lenient, analyzer } = options
  const reading: StringReading = { ...options, scope, texts: { all, lenient, analyzer } }
  return syntax.is === 'several' ? lowerSeveral(syntax.of, options.minimum, reading) : lower(syntax, reading)
}

interface StringReading extends StringOptions {
  scope: Scope
  texts: TextOptions
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
      return lowerPhrase(syntax.field, syntax.text, syntax.slop ?? reading.slop, reading)
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
  const { all } = reading
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
  if (!only || other || only.field.compare !== 'token' || reading.analyzer === 'keyword') return undefined
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
  const meta = name === undefined ? undefined : onMetaField(name, [value], reading.scope)
  if (meta) return constant(meta)
  const fields = fieldsMeant(name, reading)
  // A date is compared by the time zone that is given.
  const [only, other] = fields
  if (reading.zone && only && !other && only.field.compare === 'instant')
    return lowerRange(name, { text: words, included: true }, { text: words, included: true }, reading)
  if (fields.every(({ field }) => field.compare === 'token') && analyze(words).length === 0) return NO_WORDS
  return inFields(reading.type, fields, value, { ...reading.texts, slop: reading.slop }, reading.tie, reading.scope)
}

const lowerPhrase = (name: string | undefined, words: string, slop: number, reading: StringReading): Scored => {
  if (name === '_exists_') return existing(words, reading)
  const { scope, texts, quoteSuffix, tie } = reading
  const value = valueAt(words, reading)
  const meta = name === undefined ? undefined : onMetaField(name, [value], scope)
  if (meta) return constant(meta)
  const quoted = (field: FieldPath): FieldPath =>
    (quoteSuffix === undefined ? undefined : lookup(scope.kind, field.path + quoteSuffix)) ?? field
  const fields = fieldsMeant(name, reading).map(({ field, boost }) => ({ field: quoted(field), boost }))
  const how = { ...texts, analyzer: reading.quoteAnalyzer ?? reading.analyzer, slop }
  return inFields('phrase', fields, value, how, tie, scope)
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
  if (!reading.allowsLeading && /^[*?]/.test(words))
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
  const words = reading.analyzesPatterns ? analyze(start) : [start.toLowerCase()]
  const last = words.pop()
  if (last === undefined) return NEVER
  const before = words.map(word => matchOn(field, valueAt(word, reading), reading.texts, reading.scope))
  return joined([...before, prefixOn(field, last)], reading.all, undefined)
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
      const zone = reading.zone && { place: reading.zone, text: String(reading.zone.value) }
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
  return bestOf(parts, reading.tie ?? 0)
}

const fieldsMeant = (name: string | undefined, reading: StringReading): Weighted[] =>
  name === undefined
    ? fieldsNamed(reading.fields, reading.scope)
    : forgiving(reading, [], () => fieldsNamed([{ name, boost: 1, place: reading.place }], reading.scope))

/** What a name that nothing has stands for, where that is no fault. */
const forgiving = <T>({ forgivesNames }: StringReading, otherwise: T, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (forgivesNames && error instanceof ChainsieveError && error.code === 'query_shard_exception') return otherwise
    throw error
  }
}

const valueAt = (text: string, { place }: StringReading): JsonNode => ({ path: place.path, value: text })

const OPEN_BOUND: Bound = { text: undefined, included: true }

const statesOf = ({ states }: StringOptions) => (states === undefined ? {} : { states })

/** Words that are none, which are left out of what stands around them. */
const NO_WORDS: Scored = onlyFilters(NONE)
