import { fuzzingOf, isText, leniently, nearOn } from '../field-conditions.ts'
import { elements, type JsonNode, toBoolean, toScalar, toWhole, unexpected } from '../json-node.ts'
import { booleanKey, itself, neededKey, nodeKey, nullableKey, optionalKey, SCHEMAS, type ValuesOf } from '../keys.ts'
import { parseSimple, SIMPLE_OPERATORS, type Simple, type SimpleOperator } from '../lucene/simple.ts'
import type { QueryScope } from '../scope.ts'
import { SCORED_ALL, SCORED_NONE, type ScoredQuery } from '../score.ts'
import { notNode } from '../simplify.ts'
import {
  ALL_FIELDS,
  bestOfFields,
  fieldsNamed,
  inFields,
  onWeighted,
  orAllFields,
  readFieldNames,
  type Weighted,
} from '../text/many-fields.ts'
import { boolPrefixOn, combineWords, type TextOptions } from '../text/match.ts'
import { objectClause } from './clause.ts'
import { readFlagNames } from './patterns.ts'
import { analyzer, expansions, minimum, operator } from './texts.ts'

const SIMPLE_STRING_KEYS = {
  query: neededKey(itself, SCHEMAS.text, ': query text missing'),
  fields: optionalKey(place => readFieldNames(elements(place))),
  default_operator: operator,
  flags: nodeKey,
  analyzer,
  lenient: nullableKey(toBoolean, SCHEMAS.flag),
  minimum_should_match: minimum,
  quote_field_suffix: nullableKey((place): never => {
    throw unexpected(place, 'no such option: [quote_field_suffix] is one of query_string alone')
  }),
  analyze_wildcard: booleanKey,
  auto_generate_synonyms_phrase_query: booleanKey,
  fuzzy_prefix_length: nodeKey,
  fuzzy_max_expansions: expansions,
  fuzzy_transpositions: nodeKey,
}

export const simpleQueryStringClause = objectClause({
  doc: 'A simple query syntax that never fails: + and, | or, - not, "a phrase"~2, prefix*, fuzzy~1, ( ). Without fields, it searches all fields.',
  example: { query: 'transfer | sync -approval', fields: ['event'] },
  expected: 'an object such as {"query": "transfer | sync", "fields": ["event"]}',
  keys: SIMPLE_STRING_KEYS,
  lower(keys, { scope }) {
    const text = scope.budget.text(toScalar(keys.query, 'a text'), keys.query)
    const reading = simpleReadingOf(keys, scope)
    if (text.trim() === '') return SCORED_NONE
    if (text.trim() === '*') return SCORED_ALL
    const operators = readSimpleFlags(keys.flags)
    const simple = parseSimple(text, { operators, joint: reading.texts.all ? 'and' : 'or' })
    return simple === undefined ? SCORED_NONE : lowerSimple(simple, reading, keys.minimum_should_match)
  },
})

interface SimpleReading {
  place: JsonNode
  fields: readonly Weighted[]
  texts: TextOptions & { all: boolean; lenient: boolean }
  near: ReturnType<typeof fuzzingOf>
  scope: QueryScope
}

const simpleReadingOf = (keys: ValuesOf<typeof SIMPLE_STRING_KEYS>, scope: QueryScope): SimpleReading => {
  const { query: place, fields = [], default_operator: all, lenient, analyzer } = keys
  const names = orAllFields(fields, place)
  return {
    place,
    fields: fieldsNamed(names, scope),
    texts: { all, lenient: lenient ?? names.some(({ name }) => name === ALL_FIELDS), analyzer },
    near: fuzzingOf({ prefix_length: keys.fuzzy_prefix_length, transpositions: keys.fuzzy_transpositions }),
    scope,
  }
}

/** `ALL`, `NONE`, names joined by `|`, or their bits. `SLOP` is the old name of `NEAR`. */
const readSimpleFlags = (place: JsonNode | undefined): ReadonlySet<SimpleOperator> => {
  if (place === undefined || place.value === null) return new Set(SIMPLE_OPERATORS)
  if (typeof place.value === 'number') {
    const bits = toWhole(place, EXPECTED_SIMPLE_FLAGS)
    return new Set(bits === -1 ? SIMPLE_OPERATORS : SIMPLE_OPERATORS.filter((_, i) => bits & (1 << i)))
  }
  const names = readFlagNames(place, [...SIMPLE_OPERATORS, 'SLOP'], EXPECTED_SIMPLE_FLAGS)
  return new Set(names.map(name => (name === 'SLOP' ? 'NEAR' : name)))
}

const EXPECTED_SIMPLE_FLAGS = `"ALL", "NONE", or some of ${SIMPLE_OPERATORS.join('|')}`

const lowerSimple = (simple: Simple, reading: SimpleReading, minimum?: JsonNode): ScoredQuery => {
  const { place, fields, texts, scope } = reading
  scope.budget.clauses(1, place)
  const valueAt = (text: string): JsonNode => ({ path: place.path, value: text })
  switch (simple.is) {
    case 'text':
      return inFields('most_fields', fields, valueAt(simple.text), texts, undefined, scope)
    case 'phrase':
      return inFields('phrase', fields, valueAt(simple.text), { ...texts, slop: simple.slop }, 1, scope)
    case 'prefix':
      return bestOfFields(
        fields
          .filter(({ field }) => isText(field))
          .map(one => onWeighted(one, scope, field => boolPrefixOn(field, valueAt(simple.text), texts, scope))),
        1,
      )
    case 'fuzzy': {
      const near = reading.near(String(simple.edits), place)
      const parts = fields.map(one =>
        onWeighted(one, scope, field => {
          const word = field.compare === 'token' ? simple.text.toLowerCase() : simple.text
          return leniently(texts.lenient, () => nearOn(field, word, near))
        }),
      )
      return bestOfFields(parts, 1)
    }
    case 'not': {
      const { node } = lowerSimple(simple.of, { ...reading, scope: { ...scope, marks: undefined } })
      // A negation scores like `match_all`.
      return { node: notNode(node), score: SCORED_ALL.score }
    }
    case 'and':
    case 'or': {
      const parts = simple.of.map(inner => lowerSimple(inner, reading))
      return combineWords(parts, simple.is === 'and', minimum)
    }
  }
}
