import type { Kind } from '../../mapping/index.ts'
import type { Node } from '../../query/ast.ts'
import type { Score, ScoredQuery } from '../../query/score.ts'
import { inNode } from '../../query/simplify.ts'
import { unsupported } from '../deviations.ts'
import { type Dsl, MATCH_ALL } from './dsl.ts'
import { compilePhrase } from './leaf.ts'
import { compileNode, type Joins } from './node.ts'

/** Conditions that decide which parts of a score count. */
export const scoreConditions = (score: Score | undefined): Node[] => {
  switch (score?.by) {
    case 'sum':
    case 'best':
      return score.of.flatMap(({ node, score }) => [node, ...scoreConditions(score)])
    case 'lowered':
      return [score.where, ...scoreConditions(score.of)]
    default:
      return []
  }
}

interface Scoring {
  kind: Kind
  joins: Joins
}

/** A query that matches everything, and scores like the clauses of the request. */
export const compileScore = (score: Score | undefined, scoring: Scoring): Dsl => {
  const { kind, joins } = scoring
  switch (score?.by) {
    case undefined:
      return constant(0)
    case 'same':
      return constant(score.value)
    case 'term':
      return optionalClause([boosted(compileNode(inNode(score.field, [score.value]), kind, joins), score.boost)])
    case 'phrase':
      return optionalClause([compilePhrase({ ...score, op: 'phrase' }, score.boost)])
    case 'fuzzy': {
      const { text, edits, prefix, transpositions } = score.near
      const near = { value: text, fuzziness: edits, prefix_length: prefix, transpositions, boost: score.boost }
      return optionalClause([{ fuzzy: { [score.field.path]: near } }])
    }
    case 'sum':
      return optionalClause(score.of.map(part => gated(part, scoring)))
    case 'best': {
      const queries = score.of.map(part => gated(part, scoring))
      return optionalClause([{ dis_max: { queries, tie_breaker: score.tie } }])
    }
    case 'lowered': {
      const negative = compileNode(score.where, kind, joins)
      return { boosting: { positive: compileScore(score.of, scoring), negative, negative_boost: score.factor } }
    }
    case 'nested': {
      const query = gated(score.of, scoring)
      return optionalClause([{ nested: { path: score.path, score_mode: score.mode, query, ignore_unmapped: true } }])
    }
    // Relatives come from a separate search: all matches score the same.
    case 'child':
    case 'parent':
      return constant(score.boost)
  }
}

const constant = (boost: number, filter: Dsl = MATCH_ALL): Dsl => {
  if (boost < 0) throw unsupported('a negative score', 'give boosts of 0 or more')
  return { constant_score: { filter, boost } }
}

/** Terms score as in the cluster, times the boost; others, such as ranges, score the boost. */
const boosted = (condition: Dsl, boost: number): Dsl => {
  const term = condition.term as Record<string, { value: unknown }> | undefined
  const [entry] = Object.entries(term ?? {})
  return entry ? { term: { [entry[0]]: { ...entry[1], boost } } } : constant(boost, condition)
}

/** Scores the clauses that match; 0 if none does. */
const optionalClause = (should: readonly Dsl[]): Dsl => ({ bool: { filter: [MATCH_ALL], should } })

/** Matches what the part does. */
const gated = ({ node, score }: ScoredQuery, scoring: Scoring): Dsl => {
  const filter = compileNode(node, scoring.kind, scoring.joins)
  if (score?.by === 'same') return constant(score.value, filter)
  const must = compileScore(score, scoring)
  return node.op === 'all' ? must : { bool: { filter: [filter], must: [must] } }
}
