import type { JsonNode } from '../json-node.ts'
import { EXACT, type NearKey, notFuzzy, readNear } from '../leaves.ts'
import { onMetaField } from '../meta.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { matchOn, readAnalyzer, readFlag, readOperator, type TextOptions } from '../text-query.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { isConstantRewrite } from './rewrite.ts'

export const match: Clause = {
  doc: 'A text field contains one of the words of the query, or all of them with the operator "and", in any letter case. Any other field is compared as by term. With fuzziness (0, 1, 2, "AUTO" or "AUTO:low,high") it also finds names that differ in so many letters.',
  example: { event: { query: 'Tranfser', fuzziness: 'AUTO' } },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('match', place)
    const { value, ...how } = shortOrLong(at, 'query', MATCH_OPTIONS)
    const options = readMatch(how)
    if (options.near && (name === '_id' || name === '_type' || name === '_index'))
      throw notFuzzy(how.fuzziness!, name, EXACT)
    const meta = onMetaField(name, [value], scope)
    return meta ? constant(meta) : onField(name, at, scope, field => matchOn(field, value, options, scope))
  },
}

export const MATCH_OPTIONS = [
  'operator',
  'minimum_should_match',
  'fuzziness',
  'prefix_length',
  'max_expansions',
  'fuzzy_transpositions',
  'fuzzy_rewrite',
  'lenient',
  'zero_terms_query',
  'analyzer',
  'auto_generate_synonyms_phrase_query',
] as const

type MatchKeys = Partial<Record<(typeof MATCH_OPTIONS)[number] & NearKey, JsonNode>> &
  Partial<Record<(typeof MATCH_OPTIONS)[number], JsonNode>>

/** There are no synonyms, so that phrases need not be made of them. */
export const readMatch = (keys: MatchKeys): TextOptions => {
  const { operator, minimum_should_match, lenient, zero_terms_query, analyzer } = keys
  readFlag(keys.auto_generate_synonyms_phrase_query, true)
  isConstantRewrite(keys.fuzzy_rewrite)
  return {
    all: readOperator(operator),
    minimum: minimum_should_match?.value === null ? undefined : minimum_should_match,
    near: readNear(keys, undefined),
    lenient: readFlag(lenient, false),
    zero: zero_terms_query,
    analyzer: readAnalyzer(analyzer),
  }
}
