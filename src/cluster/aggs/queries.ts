import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Aggregation, Queries, Spec } from '../../query/aggs/ast.ts'
import type { Node } from '../../query/ast.ts'
import { META_FIELDS } from '../indices/meta.ts'
import { notInCluster } from '../unsupported.ts'

/** One query that finds in each kind what the one for this kind finds. */
export const queryOfKinds = (queries: Queries, kinds: readonly Kind[], compile: (kind: Kind) => object): object => {
  const own = kinds.filter(kind => queries[kind] !== undefined)
  const compiled = own.map(compile)
  const [first = { match_none: {} }, ...others] = compiled
  const text = textOf(first)
  if (others.every(other => textOf(other) === text)) return first
  if (text.includes('"args.'))
    throw notInCluster('a filter inside [nested] over several entities', 'search one of them')
  return { bool: { should: own.map((kind, i) => ({ bool: { filter: [kindIs(kind), compiled[i]] } })) } }
}

const textOf = (query: object): string =>
  JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? String(value) : value))

export const kindIs = (kind: Kind): object => ({ term: { [META_FIELDS.kind]: KINDS.indexOf(kind) } })

/** All queries of aggregations, as they read on each kind: what conditions on related documents stand for is to be looked up before. */
export const queriesIn = (aggs: readonly Aggregation[]): { kind: Kind; node: Node }[] =>
  aggs.flatMap(({ spec, aggs }) => [...ownQueries(spec).flatMap(byKinds), ...queriesIn(aggs)])

const ownQueries = (spec: Spec): Queries[] => {
  switch (spec.kind) {
    case 'filter':
      return [spec.query]
    case 'filters':
      return spec.filters.map(({ query }) => query)
    default:
      return []
  }
}

const byKinds = (queries: Queries) =>
  (Object.entries(queries) as [Kind, Node][]).map(([kind, node]) => ({ kind, node }))
