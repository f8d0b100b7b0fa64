import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import type { Node } from '../ast.ts'
import { bracketName, type JsonNode, members, unexpected, where } from '../json-node.ts'
import { REFUSED_CLAUSES } from '../refused.ts'
import type { QueryScope } from '../scope.ts'
import type { ScoredQuery } from '../score.ts'
import { type Clause, withCommon } from './clause.ts'
import {
  boolClause,
  boostingClause,
  constantScoreClause,
  disMaxClause,
  matchAllClause,
  matchNoneClause,
  wrapperClause,
} from './compound.ts'
import { fuzzyClause, prefixClause, regexpClause, wildcardClause } from './patterns.ts'
import { queryStringClause } from './query-string.ts'
import { hasChildClause, hasParentClause, nestedClause, parentIdClause } from './relations.ts'
import { simpleQueryStringClause } from './simple-query-string.ts'
import {
  matchBoolPrefixClause,
  matchClause,
  matchPhraseClause,
  matchPhrasePrefixClause,
  multiMatchClause,
} from './texts.ts'
import {
  existsClause,
  idsClause,
  rangeClause,
  spanTermClause,
  termClause,
  termsClause,
  termsSetClause,
  typeClause,
} from './values.ts'

export const CLAUSES = {
  bool: boolClause,
  term: termClause,
  terms: termsClause,
  terms_set: termsSetClause,
  range: rangeClause,
  ids: idsClause,
  nested: nestedClause,
  has_child: hasChildClause,
  has_parent: hasParentClause,
  parent_id: parentIdClause,
  exists: existsClause,
  match: matchClause,
  match_phrase: matchPhraseClause,
  match_phrase_prefix: matchPhrasePrefixClause,
  match_bool_prefix: matchBoolPrefixClause,
  multi_match: multiMatchClause,
  query_string: queryStringClause,
  simple_query_string: simpleQueryStringClause,
  prefix: prefixClause,
  wildcard: wildcardClause,
  regexp: regexpClause,
  fuzzy: fuzzyClause,
  match_all: matchAllClause,
  match_none: matchNoneClause,
  constant_score: constantScoreClause,
  dis_max: disMaxClause,
  boosting: boostingClause,
  span_term: spanTermClause,
  wrapper: wrapperClause,
  type: typeClause,
} satisfies Record<string, Clause>

/** Lowers a clause such as `{"term": {…}}` to the documents of a kind that match. */
export const lowerClause = (place: JsonNode, scope: QueryScope): Node => lowerScored(place, scope).node

/** Lowers a clause to the matching documents and their scores. */
export const lowerScored = (place: JsonNode, scope: QueryScope): ScoredQuery => {
  scope.budget.clauses(1, place)
  const [first, second] = members(place, 'a query clause, such as {"term": {…}}')
  if (first === undefined) throw unexpected(place, 'a query clause, such as {"term": {…}}')
  const [name, body] = first
  const clause: Clause | undefined = Object.hasOwn(CLAUSES, name) ? CLAUSES[name as keyof typeof CLAUSES] : undefined
  if (clause === undefined) {
    const names = Object.keys(CLAUSES)
    if (REFUSED_CLAUSES.has(name))
      throw refuse('parsing_exception', `${where(body)}: [${name}] is not supported: ${REFUSED_CLAUSES.get(name)}`)
    throw refuse(
      'parsing_exception',
      `${where(body)}: unknown query ${bracketName(name)}.${didYouMean(name, names)} Supported are ${names.join(', ')}.`,
    )
  }
  if (second !== undefined) {
    throw refuse(
      'parsing_exception',
      `${where(place)}: [${name}] malformed query, expected one clause but found ${bracketName(second[0])} beside it. Put both into the filter list of a bool.`,
    )
  }
  return withCommon(name, clause, body, scope, clause.lower(body, scope, lowerScored))
}
