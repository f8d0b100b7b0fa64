import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import type { Node } from '../ast.ts'
import { type JsonNode, members, named, unexpected, where } from '../json-node.ts'
import type { Scope } from '../scope.ts'
import type { Scored } from '../score.ts'
import { bool } from './bool.ts'
import { boosting } from './boosting.ts'
import type { Clause } from './clause.ts'
import { withCommon } from './common.ts'
import { constantScore } from './constant-score.ts'
import { disMax } from './dis-max.ts'
import { exists } from './exists.ts'
import { fuzzy } from './fuzzy.ts'
import { hasChild } from './has-child.ts'
import { hasParent } from './has-parent.ts'
import { ids } from './ids.ts'
import { match } from './match.ts'
import { matchAll } from './match-all.ts'
import { matchNone } from './match-none.ts'
import { matchBoolPrefix, matchPhrase, matchPhrasePrefix } from './match-phrase.ts'
import { multiMatch } from './multi-match.ts'
import { nested } from './nested.ts'
import { parentId } from './parent-id.ts'
import { prefix } from './prefix.ts'
import { queryString } from './query-string.ts'
import { range } from './range.ts'
import { regexp } from './regexp.ts'
import { simpleQueryString } from './simple-query-string.ts'
import { spanTerm } from './span-term.ts'
import { term } from './term.ts'
import { terms } from './terms.ts'
import { type } from './type.ts'
import { REFUSED_CLAUSES } from './unsupported.ts'
import { wildcard } from './wildcard.ts'
import { wrapper } from './wrapper.ts'

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
