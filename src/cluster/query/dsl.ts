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

export const oneOf = (field: string, values: readonly unknown[]): Dsl =>
  values.length === 1 ? { term: { [field]: { value: values[0] } } } : { terms: { [field]: values } }

export const has = (field: string): Dsl => ({ exists: { field } })
