import { didYouMean } from '../../lib/edit-distance.ts'
import { refuse } from '../../lib/errors.ts'
import type { Node } from '../ast.ts'
import { type JsonNode, members, named, unexpected, where } from '../json-node.ts'
import { REFUSED_CLAUSES } from '../refused.ts'
import type { Scope } from '../scope.ts'
import type { Scored } from '../score.ts'
import { type Clause, withCommon } from './clause.ts'
import { bool, boosting, constantScore, disMax, matchAll, matchNone, wrapper } from './compound.ts'
import { fuzzy, prefix, regexp, wildcard } from './patterns.ts'
import { queryString } from './query-string.ts'
import { hasChild, hasParent, nested, parentId } from './relations.ts'
import { simpleQueryString } from './simple-query-string.ts'
import { match, matchBoolPrefix, matchPhrase, matchPhrasePrefix, multiMatch } from './texts.ts'
import { exists, ids, range, spanTerm, term, terms, type } from './values.ts'

/** Every clause that a query may hold, by its name in the body. */
export const CLAUSES = {
  bool,
  term,
  terms,
  range,
  ids,
  nested,
  has_child: hasChild,
  has_parent: hasParent,
  parent_id: parentId,
  exists,
  match,
  match_phrase: matchPhrase,
  match_phrase_prefix: matchPhrasePrefix,
  match_bool_prefix: matchBoolPrefix,
  multi_match: multiMatch,
  query_string: queryString,
  simple_query_string: simpleQueryString,
  prefix,
  wildcard,
  regexp,
  fuzzy,
  match_all: matchAll,
  match_none: matchNone,
  constant_score: constantScore,
  dis_max: disMax,
  boosting,
  span_term: spanTerm,
  wrapper,
  type,
} satisfies Record<string, Clause>

/** Which documents of the kind that the scope names match a clause such as `{"term": {…}}`. */
export const lowerClause = (place: JsonNode, scope: Scope): Node => lowerScored(place, scope).node

/** The same, and how well they match. */
export const lowerScored = (place: JsonNode, scope: Scope): Scored => {
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
      `${where(body)}: unknown query ${named(name)}.${didYouMean(name, names)} Supported are ${names.join(', ')}.`,
    )
  }
  if (second !== undefined) {
    throw refuse(
      'parsing_exception',
      `${where(place)}: [${name}] malformed query, expected one clause but found ${named(second[0])} beside it. Put both into the filter list of a bool.`,
    )
  }
  return withCommon(name, clause, body, scope, clause.lower(body, scope, lowerScored))
}
