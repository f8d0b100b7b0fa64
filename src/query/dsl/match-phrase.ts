import type { JsonNode } from '../json-node.ts'
import { checkExpansions } from '../leaves.ts'
import { onMetaField } from '../meta.ts'
import { onField, type Scope } from '../scope.ts'
import { constant, type Scored } from '../score.ts'
import { boolPrefixOn, phraseOn, phrasePrefixOn, readAnalyzer, readSlop } from '../text-query.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { MATCH_OPTIONS, readMatch } from './match.ts'

export const matchPhrase: Clause = {
  doc: 'A text field has the words of the query in a row, in any letter case. With slop, the words may be moved by so many places in total. Any other field is compared as by term.',
  example: { event: { query: 'Transfer', slop: 1 } },
  fieldwise: true,
  lower: (place, scope) => phraseClause('match_phrase', place, scope, phraseOn, []),
}

export const matchPhrasePrefix: Clause = {
  doc: 'As match_phrase, on text fields; the last word is a prefix.',
  example: { event: 'trans' },
  fieldwise: true,
  lower: (place, scope) => phraseClause('match_phrase_prefix', place, scope, phrasePrefixOn, ['max_expansions']),
}

export const matchBoolPrefix: Clause = {
  doc: 'As match; the last word is a prefix.',
  example: { event: 'tr' },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('match_bool_prefix', place)
    const { value, ...how } = shortOrLong(at, 'query', MATCH_OPTIONS)
    const options = readMatch(how)
    const meta = onMetaField(name, [value], scope)
    return meta ? constant(meta) : onField(name, at, scope, field => boolPrefixOn(field, value, options, scope))
  },
}

const phraseClause = (
  clause: string,
  place: JsonNode,
  scope: Scope,
  on: typeof phraseOn,
  more: readonly 'max_expansions'[],
): Scored => {
  const [name, at] = onlyField(clause, place)
  const keys = shortOrLong(at, 'query', ['analyzer', 'slop', 'zero_terms_query', ...more])
  checkExpansions((keys as { max_expansions?: JsonNode }).max_expansions)
  const options = { analyzer: readAnalyzer(keys.analyzer), slop: readSlop(keys.slop), zero: keys.zero_terms_query }
  const meta = onMetaField(name, [keys.value], scope)
  return meta ? constant(meta) : onField(name, at, scope, field => on(field, keys.value, options, scope))
}
