import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import type { Node } from '../ast.ts'
import { type JsonNode, members, named, unexpected, where } from '../json-node.ts'
import { REFUSED_CLAUSES } from '../refused.ts'
import type { Scope } from '../scope.ts'
import { bool } from './bool.ts'
import type { Clause } from './clause.ts'
import { constantScore } from './constant-score.ts'
import { disMax } from './dis-max.ts'
import { exists } from './exists.ts'
import { hasChild } from './has-child.ts'
import { hasParent } from './has-parent.ts'
import { ids } from './ids.ts'
import { match } from './match.ts'
import { matchAll } from './match-all.ts'
import { matchNone } from './match-none.ts'
import { nested } from './nested.ts'
import { parentId } from './parent-id.ts'
import { prefix } from './prefix.ts'
import { range } from './range.ts'
import { term } from './term.ts'
import { terms } from './terms.ts'
import { type } from './type.ts'

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
  prefix,
  match_all: matchAll,
  match_none: matchNone,
  constant_score: constantScore,
  dis_max: disMax,
  type,
} satisfies Record<string, Clause>

/** The meaning of a clause such as `{"term": {…}}` on the kind that the scope names. */
export const lowerClause = (place: JsonNode, scope: Scope): Node => {
  scope.budget.clauses(1, place)
  const [first, second] = members(place, 'a query clause, such as {"term": {…}}')
  if (first === undefined) throw unexpected(place, 'a query clause, such as {"term": {…}}')
  const [name, body] = first
  const clause: Clause | undefined = Object.hasOwn(CLAUSES, name) ? CLAUSES[name as keyof typeof CLAUSES] : undefined
  const why = REFUSED_CLAUSES.get(name)
  if (clause === undefined && why !== undefined)
    throw refuse('parsing_exception', `${where(body)}: the query ${named(name)} is not supported. ${why}`)
  if (clause === undefined) {
    const names = Object.keys(CLAUSES)
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
  return clause.lower(body, scope, lowerClause)
}
