import type { Hidden, Visible } from '../../engine/shipping/shipped-ranges.ts'
import { type ChainsieveError, refuse } from '../../lib/errors.ts'
import { KINDS } from '../../mapping/index.ts'
import type { BlockRun, BlockSlice } from '../../query/request.ts'
import { META_FIELDS } from '../indices/names.ts'

/** A query in the cluster's language. */
export type Dsl = Readonly<Record<string, unknown>>

export const MATCH_ALL: Dsl = Object.freeze({ match_all: {} })
export const MATCH_NONE: Dsl = Object.freeze({ match_none: {} })

export const every = (filter: readonly Dsl[]): Dsl =>
  filter.length === 0 ? MATCH_ALL : filter.length === 1 ? filter[0]! : { bool: { filter } }

export const some = (should: readonly Dsl[]): Dsl =>
  should.length === 0 ? MATCH_NONE : should.length === 1 ? should[0]! : { bool: { should, minimum_should_match: 1 } }

export const never = (query: Dsl): Dsl => ({ bool: { must_not: [query] } })

export const between = (field: string, bounds: object): Dsl => ({ range: { [field]: bounds } })

export const termIn = (field: string, values: readonly unknown[]): Dsl =>
  values.length === 1 ? { term: { [field]: { value: values[0] } } } : { terms: { [field]: values } }

export const has = (field: string): Dsl => ({ exists: { field } })

/** Default of indices.query.bool.max_clause_count, less clauses that clusters count twice. */
export const MOST_CLAUSES = 1000

/** Refuses as many conditions in a query as clusters do; a list of values counts as one. */
export const checkClauses = (query: Dsl): void => {
  const count = countConditions(query)
  if (count > MOST_CLAUSES) throw tooMany(count)
}

const tooMany = (count: number): ChainsieveError =>
  refuse(
    'too_many_clauses',
    `the query has ${count} conditions as the cluster counts them, and on a network in a cluster it may have ${MOST_CLAUSES}. Combine values of one field in [terms], or use several searches.`,
  )

const CONDITIONS: ReadonlySet<string> = new Set([
  ...['term', 'terms', 'range', 'exists', 'ids', 'regexp', 'prefix', 'wildcard', 'fuzzy', 'match_all', 'match_none'],
  ...['match_phrase', 'match_phrase_prefix', 'script'],
])

const countConditions = (query: unknown): number => {
  if (Array.isArray(query)) return query.reduce<number>((sum, one) => sum + countConditions(one), 0)
  if (typeof query !== 'object' || query === null) return 0
  let sum = 0
  for (const [key, value] of Object.entries(query)) sum += CONDITIONS.has(key) ? 1 : countConditions(value)
  return sum
}

/** Clauses for `must_not` that exclude hidden documents. */
export const hiddenClauses = ({ hidden }: Pick<Visible, 'hidden'>): Dsl[] => hidden.map(hiddenClause)
const hiddenClause = ({ batches, above, below, butTokens }: Hidden): Dsl => {
  const byBatch = between(META_FIELDS.batch, { gte: batches.from, lte: batches.to })
  if (butTokens) return every([byBatch, never(termIn(META_FIELDS.kind, [KINDS.indexOf('token')]))])
  const blocks = { ...(above >= 0 && { gt: above }), ...(below !== undefined && { lte: below }) }
  return Object.keys(blocks).length === 0 ? byBatch : every([byBatch, between(META_FIELDS.block, blocks)])
}
/** Documents in these block ranges. */
export const withinRuns = (runs: readonly BlockRun[]): Dsl =>
  some(runs.map(([from, to]) => between(META_FIELDS.block, { gte: from, lte: Math.min(to, Number.MAX_SAFE_INTEGER) })))
/** Selects the same parts of the chain as the slices of a store. */
export const inSlice = ({ id, max }: BlockSlice): Dsl => ({
  script: {
    script: {
      lang: 'painless',
      source: `int m = (int)doc['${META_FIELDS.block}'].value * params.by; m = m ^ (m >>> 15); return Integer.toUnsignedLong(m) % params.max == params.id`,
      params: { by: SCATTER, max, id },
    },
  },
})
/** 0x9e3779b1, as a signed integer. */
const SCATTER = -1_640_531_535
