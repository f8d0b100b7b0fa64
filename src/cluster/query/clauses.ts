import { type ChainsieveError, refuse } from '../../lib/errors.ts'
import type { Dsl } from './dsl.ts'

/** As clusters have it, where nobody has changed it (indices.query.bool.max_clause_count), but for those that are counted twice. */
export const MOST_CLAUSES = 1000

/** Refuses what a cluster would: it counts the conditions of the whole query, and a list of values as one. */
export const checkClauses = (query: Dsl): void => {
  const count = countIn(query)
  if (count > MOST_CLAUSES) throw tooMany(count)
}

const tooMany = (count: number): ChainsieveError =>
  refuse(
    'too_many_clauses',
    `the query has ${count} conditions as the cluster counts them, and on a network whose documents lie in a cluster it may have ${MOST_CLAUSES}. Combine values of one field in [terms], or use several searches.`,
  )

const CONDITIONS: ReadonlySet<string> = new Set([
  ...['term', 'terms', 'range', 'exists', 'ids', 'regexp', 'prefix', 'wildcard', 'fuzzy', 'match_all', 'match_none'],
  ...['match_phrase', 'match_phrase_prefix', 'script'],
])

const countIn = (query: unknown): number => {
  if (Array.isArray(query)) return query.reduce<number>((sum, one) => sum + countIn(one), 0)
  if (typeof query !== 'object' || query === null) return 0
  let sum = 0
  for (const [key, value] of Object.entries(query)) sum += CONDITIONS.has(key) ? 1 : countIn(value)
  return sum
}
