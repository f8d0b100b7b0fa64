import { ALL } from '../../ast.ts'
import { lowerClause } from '../../dsl/index.ts'
import { isObject, type JsonNode } from '../../json-node.ts'
import type { Queries } from '../ast.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'

export const filter: AggregationKind = {
  doc: 'One bucket: the documents that match a query.',
  example: { term: { 'event.raw': 'Transfer' } },
  buckets: true,
  read: (place, scope) => ({ kind: 'filter', query: queriesOf(place, scope) }),
}

/** A query as it reads on each kind of the search. */
export const queriesOf = (place: JsonNode, scope: AggregationScope): Queries => {
  const isAll = isObject(place.value) && place.value.size === 0
  return Object.fromEntries(
    scope.kinds.map(kind => [kind, isAll ? ALL : lowerClause(place, { ...scope, kind })]),
  ) as Queries
}
