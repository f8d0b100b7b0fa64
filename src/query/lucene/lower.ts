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
import { constant, EVERY, NEVER, onlyFilters, type Scored, sumOfSome, times } from '../score.ts'
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
  const reading = createReading(options, scope)
  return syntax.is === 'several' ? reading.several(syntax.of, options.minimum) : reading.lower(syntax)
}

const createReading = (options: StringOptions, scope: Scope) => {
  const { place, lenient } = options
  const valueAt = (text: string): JsonNode => ({ path: place.path, value: text })
  const texts: TextOptions = { all: options.all, lenient, analyzer: options.analyzer }

  /** Several parts, of which AND makes both sides required, whatever stands further on. */
  const several = (parts: readonly Part[], minimum: JsonNode | undefined): Scored => {
    const clauses: { occur: 'must' | 'should' | 'not'; scored: Scored }[] = []
    for (const { sign, joint, syntax } of parts) {
      const last = clauses.at(-1)
      if (last && last.occur !== 'not' && joint === 'and') last.occur = 'must'
      if (last && last.occur !== 'not' && joint === 'or' && options.all) last.occur = 'should'
      const made = wordsOf(syntax) ?? [lower(syntax)]
      const required = options.all ? joint !== 'or' : sign === 'must' || joint === 'and'
      const occur = sign === 'not' ? 'not' : required ? 'must' : 'should'
      for (const scored of made) if (scored !== ABSENT) clauses.push({ occur, scored })
    }
    const of = (occur: 'must' | 'should' | 'not') =>
      clauses.filter(clause => clause.occur === occur).map(({ scored }) => scored)
    const [must, should, forbidden] = [of('must'), of('should'), of('not')]
    const [only] = clauses
    if (!only) return NEVER
    if (clauses.length === 1 && only.occur === 'should') return only.scored
    const wanted = minimum === undefined ? 0 : minimumOf(minimum, should.length)
    const least = should.length === 0 ? 0 : Math.max(wanted, must.length > 0 ? 0 : 1)
    const node = and([
      ...must.map(({ node }) => node),
      ...forbidden.map(({ node }) => not(node)),
      atLeast(
        least,
        should.map(({ node }) => node),
      ),
    ])
    const scores = must.map(({ score }) => score)
    return { node, score: sumOfSome(scores, least, should) }
  }

  /** Words beside each other in the one field that is meant count each for itself. */
  const wordsOf = (syntax: Syntax): Scored[] | undefined => {
    if (syntax.is !== 'text' || !syntax.words) return undefined
    const fields = fieldsOf(syntax.field)
    const [only] = fields
    if (!only || fields.length > 1 || only.field.compare !== 'token' || options.analyzer === 'keyword') return undefined
    const words = analyze(scope.budget.text(syntax.text, place))
    scope.budget.clauses(words.length, place)
    return words.map(word => weighted(matchOn(only.field, valueAt(word), texts, scope), only.boost))
  }

  const lower = (syntax: Syntax): Scored => {
    scope.budget.clauses(1, place)
    switch (syntax.is) {
      case 'several':
        return several(syntax.of, undefined)
      case 'boosted': {
        const { node, score } = lower(syntax.of)
        return { node, score: times(score, syntax.boost) }
      }
      case 'text':
        return text(syntax.field, syntax.text)
      case 'phrase':
        return phrase(syntax.field, syntax.text, syntax.slop ?? options.slop)
      case 'range':
        return range(syntax.field, syntax.low, syntax.high)
      case 'fuzzy':
        return fuzzy(syntax.field, syntax.text, syntax.edits)
      case 'prefix':
        return onFields(
          syntax.field,
          field => prefix(field, syntax.text),
          meta => testedMetaField('prefix', meta, place, scope, it => it.startsWith(syntax.text)),
        )
      case 'wildcard':
        return wildcard(syntax.field, syntax.text)
      case 'regexp':
        return onFields(
          syntax.field,
          field => shapeOn('regexp', field, place, syntax.text, { operators: OPERATORS, ...statesOf(options) }),
          meta => testedMetaField('regexp', meta, place, scope, shape('regexp', syntax.text)),
        )
    }
  }

  const shape = (how: 'wildcard' | 'regexp', text: string) =>
    matcherOf({ how, text, ignoreCase: false, operators: OPERATORS })

  const text = (name: string | undefined, words: string): Scored => {
    if (name === '_exists_') return existing(words)
    const [, sign, bound] = (name !== undefined && /^([<>]=?)(.+)$/s.exec(words)) || []
    if (sign !== undefined && bound !== undefined) {
      const limit = { text: bound, included: sign.endsWith('=') }
      return sign.startsWith('>') ? range(name, limit, OPEN) : range(name, OPEN, limit)
    }
    const meta = name === undefined ? undefined : onMetaField(name, [valueAt(words)], scope)
    if (meta) return constant(meta)
    const fields = fieldsOf(name)
    // A date is compared by the time zone that is given.
    const [only] = fields
    if (options.zone && only && fields.length === 1 && only.field.compare === 'instant')
      return range(name, { text: words, included: true }, { text: words, included: true })
    if (fields.every(({ field }) => field.compare === 'token') && analyze(words).length === 0) return ABSENT
    const type = options.type === 'phrase' && name !== undefined ? 'phrase' : options.type
    return inFields(type, fields, valueAt(words), { ...texts, slop: options.slop }, options.tie, scope)
  }

  const phrase = (name: string | undefined, words: string, slop: number): Scored => {
    if (name === '_exists_') return existing(words)
    const meta = name === undefined ? undefined : onMetaField(name, [valueAt(words)], scope)
    if (meta) return constant(meta)
    const fields = fieldsOf(name).map(({ field, boost }) => ({ field: quotedFieldOf(field), boost }))
    const how = { ...texts, analyzer: options.quoteAnalyzer ?? options.analyzer, slop }
    return inFields('phrase', fields, valueAt(words), how, options.tie, scope)
  }

  const quotedFieldOf = (field: FieldPath): FieldPath =>
    (options.quoteSuffix === undefined ? undefined : lookup(scope.kind, field.path + options.quoteSuffix)) ?? field

  const existing = (name: string): Scored => {
    if (isMeta(name)) return EVERY
    if (name.includes('*')) return constant(or(fieldsOf(name).map(({ field }) => exists(field))))
    return forgiving(() => constant(or(fieldsBelow(name, place, scope).map(exists))))
  }

  const wildcard = (name: string | undefined, words: string): Scored => {
    if (words === '*') {
      const [only, other] = options.fields
      const asked = name ?? (other === undefined ? only?.name : undefined)
      if (asked === ALL_FIELDS) return EVERY
      if (asked !== undefined) return existing(asked)
    }
    if (name === '_exists_') return existing(words)
    if (!options.allowsLeading && /^[*?]/.test(words))
      throw refuse(
        'query_shard_exception',
        `${where(place)}: '*' or '?' not allowed as first character in WildcardQuery, since allow_leading_wildcard is false.`,
      )
    return onFields(
      name,
      field => shapeOn('wildcard', field, place, words, { normalized: true }),
      meta => testedMetaField('wildcard', meta, place, scope, shape('wildcard', words)),
    )
  }

  const prefix = (field: FieldPath, start: string): Scored => {
    if (!isText(field)) return shapeOn('wildcard', field, place, '*', {})
    if (field.compare !== 'token') return prefixOn(field, start)
    const words = options.analyzesPatterns ? analyze(start) : [start.toLowerCase()]
    const last = words.pop()
    if (last === undefined) return NEVER
    const before = words.map(word => matchOn(field, valueAt(word), texts, scope))
    return joined([...before, prefixOn(field, last)], options.all, undefined)
  }

  const fuzzy = (name: string | undefined, word: string, edits: string | undefined): Scored => {
    if (name === '_exists_') return existing(word)
    const near = options.near(edits, place)
    const skips = name === undefined || name.includes('*')
    return onFields(
      name,
      field => {
        if (skips && field.kind !== 'text' && field.kind !== 'keyword') return NEVER
        return nearOn(field, field.compare === 'token' ? word.toLowerCase() : word, near)
      },
      () => undefined,
    )
  }

  const range = (name: string | undefined, low: Bound, high: Bound): Scored =>
    onFields(
      name,
      field => {
        const bound = ({ text }: Bound) =>
          text === undefined ? undefined : valueAt(field.compare === 'token' ? text.toLowerCase() : text)
        const bounds: BoundPlaces = {
          ...{ [low.included ? 'gte' : 'gt']: bound(low) },
          ...{ [high.included ? 'lte' : 'lt']: bound(high) },
        }
        const zone = options.zone && { place: options.zone, text: String(options.zone.value) }
        return constant(within(field, bounds, createDateReader({ ...scope, zone })))
      },
      () => undefined,
    )

  /** One of the fields that are meant fulfils the condition. */
  const onFields = (
    name: string | undefined,
    make: (field: FieldPath) => Scored,
    onMeta: (name: string) => ReturnType<typeof onMetaField>,
  ): Scored => {
    if (name !== undefined && isMeta(name)) {
      const node = onMeta(name)
      if (node) return constant(node)
      throw refuse('query_shard_exception', `${where(place)}: [${name}] can be searched by exact values only.`)
    }
    const parts = fieldsOf(name).map(({ field, boost }) =>
      weighted(
        leniently(lenient, () => make(field)),
        boost,
      ),
    )
    return bestOf(parts, options.tie ?? 0)
  }

  const fieldsOf = (name: string | undefined): Weighted[] => {
    if (name === undefined) return fieldsNamed(options.fields, scope)
    const asked: FieldName[] = [{ name, boost: 1, place }]
    try {
      return fieldsNamed(asked, scope)
    } catch (error) {
      if (options.forgivesNames && isUnknownName(error)) return []
      throw error
    }
  }

  const forgiving = (make: () => Scored): Scored => {
    try {
      return make()
    } catch (error) {
      if (options.forgivesNames && isUnknownName(error)) return NEVER
      throw error
    }
  }

  return { several, lower }
}

const isUnknownName = (error: unknown): boolean =>
  error instanceof ChainsieveError && error.code === 'query_shard_exception'

const OPEN: Bound = { text: undefined, included: true }

const statesOf = ({ states }: StringOptions) => (states === undefined ? {} : { states })

/** Words that are none, which are left out of what stands around them. */
const ABSENT: Scored = onlyFilters(NONE)
