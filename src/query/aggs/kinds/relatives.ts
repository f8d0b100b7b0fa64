import { refuse } from '../../../lib/errors.ts'
import { childrenOf, parentsOf } from '../../../mapping/joins.ts'
import { kindNamed, noRelation } from '../../dsl/join.ts'
import { type JsonNode, known, named, unexpected, where } from '../../json-node.ts'
import type { SpecOf } from '../ast.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'

/** The child that an aggregation names. */
const childIn = (name: 'children' | 'parent', place: JsonNode, scope: AggregationScope) => {
  const { type } = known(place, 'an object such as {"type": "event"}', ['type'], [])
  if (type === undefined)
    throw unexpected(place, `an object with [type], the child: Missing [child_type] field for ${name} aggregation`)
  if (scope.nested !== undefined)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: [${name}] is of documents, not of the elements of ${named(scope.nested)}. Put it into a reverse_nested.`,
    )
  return { type, ...kindNamed(type) }
}

export const children: AggregationKind = {
  doc: 'The children of this entity (type) that the documents have: events of transactions, transactions of blocks.',
  example: { type: 'event' },
  on: 'tx',
  buckets: true,
  read(place, scope) {
    const { type, name, kind } = childIn('children', place, scope)
    const possible = [...new Set(scope.kinds.flatMap(childrenOf))]
    if (kind !== undefined && possible.includes(kind)) return { kind: 'children', child: kind, of: kind }
    throw noRelation(type, `${scope.kinds.join(', ')} has no children of type ${named(name)}.`, name, possible)
  },
  inside: (spec, scope) => ({ ...scope, kinds: [(spec as SpecOf<'children'>).of] }),
}

export const parent: AggregationKind = {
  doc: 'The parents of the documents of this entity (type), each once in each bucket.',
  limit: 'Of traces it leads to their transactions: rewards, whose parent is a block, have none here.',
  example: { type: 'event' },
  buckets: true,
  read(place, scope) {
    const { type, name, kind } = childIn('parent', place, scope)
    const possible = scope.kinds.filter(one => parentsOf(one).length > 0)
    const [of] = kind === undefined ? [] : parentsOf(kind)
    if (kind !== undefined && of !== undefined && possible.includes(kind)) return { kind: 'parent', child: kind, of }
    throw noRelation(type, `${scope.kinds.join(', ')} has no children of type ${named(name)}.`, name, possible)
  },
  inside: (spec, scope) => ({ ...scope, kinds: [(spec as SpecOf<'parent'>).of] }),
}
