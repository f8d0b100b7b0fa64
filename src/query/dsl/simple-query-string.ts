import { isText } from '../conditions.ts'
import { ALL_FIELDS, type FieldName, fieldsNamed, readFieldNames, type Weighted } from '../field-list.ts'
import { boolean, elements, integer, type JsonNode, known, scalar, unexpected } from '../json-node.ts'
import { checkExpansions, fuzzingOf, leniently, nearOn } from '../leaves.ts'
import { parseSimple, SIMPLE_OPERATORS, type Simple, type SimpleOperator } from '../lucene/simple.ts'
import { bestOf, inFields, weighted } from '../many-fields.ts'
import { minimumOf } from '../minimum.ts'
import type { Scope } from '../scope.ts'
import { EVERY, NEVER, type Scored, sum, sumOfSome } from '../score.ts'
import { and, atLeast, not } from '../simplify.ts'
import { boolPrefixOn, readAnalyzer, readFlag, readOperator, type TextOptions } from '../text-query.ts'
import type { Clause } from './clause.ts'

export const simpleQueryString: Clause = {
  doc: 'Words with simple signs, of which none is ever a fault: + and, | or, - not, "a phrase"~2, begin*, near~1, ( ). Without fields all fields are asked.',
  example: { query: 'transfer | sync -approval', fields: ['event'] },
  lower(place, scope) {
    const keys = known(place, 'an object such as {"query": "transfer | sync", "fields": ["event"]}', KEYS)
    if (keys.query === undefined) throw unexpected(place, 'an object with [query]: query text missing')
    const text = scope.budget.text(scalar(keys.query, 'a text'), keys.query)
    const reading = readOptions(keys, keys.query, scope)
    if (text.trim() === '') return NEVER
    if (text.trim() === '*') return EVERY
    const operators = readFlags(keys.flags)
    const simple = parseSimple(text, { operators, joint: reading.texts.all ? 'and' : 'or' })
    if (simple === undefined) return NEVER
    const { minimum } = reading
    return lower(simple, reading, minimum)
  },
}

const KEYS = [
  'query',
  'fields',
  'default_operator',
  'flags',
  'analyzer',
  'lenient',
  'minimum_should_match',
  'quote_field_suffix',
  'analyze_wildcard',
  'auto_generate_synonyms_phrase_query',
  'fuzzy_prefix_length',
  'fuzzy_max_expansions',
  'fuzzy_transpositions',
] as const

interface Reading {
  place: JsonNode
  fields: readonly Weighted[]
  texts: TextOptions & { all: boolean; lenient: boolean }
  near: ReturnType<typeof fuzzingOf>
  minimum: JsonNode | undefined
  scope: Scope
}

const readOptions = (
  keys: Partial<Record<(typeof KEYS)[number], JsonNode>>,
  place: JsonNode,
  scope: Scope,
): Reading => {
  const { fields, quote_field_suffix, minimum_should_match: minimum } = keys
  for (const flag of [keys.analyze_wildcard, keys.auto_generate_synonyms_phrase_query])
    if (flag !== undefined) boolean(flag)
  checkExpansions(keys.fuzzy_max_expansions)
  if (quote_field_suffix !== undefined && quote_field_suffix.value !== null)
    throw unexpected(quote_field_suffix, 'no such option: [quote_field_suffix] is one of query_string alone')
  const given = fields === undefined ? [] : readFieldNames(elements(fields))
  const names: FieldName[] = given.length > 0 ? given : [{ name: ALL_FIELDS, boost: 1, place }]
  return {
    place,
    fields: fieldsNamed(names, scope),
    texts: {
      all: readOperator(keys.default_operator),
      lenient: readFlag(
        keys.lenient,
        names.some(({ name }) => name === ALL_FIELDS),
      ),
      analyzer: readAnalyzer(keys.analyzer),
    },
    near: fuzzingOf({ prefix_length: keys.fuzzy_prefix_length, transpositions: keys.fuzzy_transpositions }),
    minimum: minimum?.value === null ? undefined : minimum,
    scope,
  }
}

/** `ALL`, `NONE`, names with bars between them, or the number that stands for them; `SLOP` is the old name of `NEAR`. */
const readFlags = (place: JsonNode | undefined): ReadonlySet<SimpleOperator> => {
  if (place === undefined || place.value === null) return new Set(SIMPLE_OPERATORS)
  if (typeof place.value === 'number') {
    const bits = integer(place, EXPECTED)
    return new Set(bits === -1 ? SIMPLE_OPERATORS : SIMPLE_OPERATORS.filter((_, i) => bits & (1 << i)))
  }
  const names = scalar(place, EXPECTED)
    .toUpperCase()
    .split('|')
    .map(name => name.trim())
    .map(name => (name === 'SLOP' ? 'NEAR' : name))
  const wrong = names.find(name => name !== '' && name !== 'ALL' && name !== 'NONE' && !KNOWN.has(name))
  if (wrong !== undefined) throw unexpected(place, EXPECTED)
  if (names.includes('ALL')) return new Set(SIMPLE_OPERATORS)
  return new Set(SIMPLE_OPERATORS.filter(operator => names.includes(operator)))
}
const KNOWN: ReadonlySet<string> = new Set(SIMPLE_OPERATORS)
const EXPECTED = `"ALL", "NONE", or some of ${SIMPLE_OPERATORS.join('|')}`

const lower = (simple: Simple, reading: Reading, minimum?: JsonNode): Scored => {
  const { place, fields, texts, scope } = reading
  scope.budget.clauses(1, place)
  const valueAt = (text: string): JsonNode => ({ path: place.path, value: text })
  switch (simple.is) {
    case 'text':
      return inFields('most_fields', fields, valueAt(simple.text), texts, undefined, scope)
    case 'phrase':
      return inFields('phrase', fields, valueAt(simple.text), { ...texts, slop: simple.slop }, 1, scope)
    case 'prefix':
      return bestOf(
        fields
          .filter(({ field }) => isText(field))
          .map(({ field, boost }) => weighted(boolPrefixOn(field, valueAt(simple.text), texts, scope), boost)),
        1,
      )
    case 'fuzzy': {
      const near = reading.near(String(simple.edits), place)
      const parts = fields.map(({ field, boost }) => {
        const word = field.compare === 'token' ? simple.text.toLowerCase() : simple.text
        return weighted(
          leniently(texts.lenient, () => nearOn(field, word, near)),
          boost,
        )
      })
      return bestOf(parts, 1)
    }
    case 'not': {
      const { node } = lower(simple.of, reading)
      // A negation stands beside everything, as which it counts.
      return { node: not(node), score: EVERY.score }
    }
    case 'and': {
      const parts = simple.of.map(inner => lower(inner, reading))
      return { node: and(parts.map(({ node }) => node)), score: sum(parts.map(({ score }) => score)) }
    }
    case 'or': {
      const parts = simple.of.map(inner => lower(inner, reading))
      const least = minimum === undefined ? 1 : Math.max(1, minimumOf(minimum, parts.length))
      return {
        node: atLeast(
          least,
          parts.map(({ node }) => node),
        ),
        score: sumOfSome([], least, parts),
      }
    }
  }
}
