import { didYouMean } from '../../../lib/name-matching.ts'
import { overLimit } from '../../../limits/index.ts'
import { childKindsOf, type Kind, nestedPaths, parentKindsOf } from '../../../mapping/index.ts'
import { ALL_NODE } from '../../ast.ts'
import { lowerClause } from '../../dsl/index.ts'
import { kindNamed, noRelation } from '../../dsl/relations.ts'
import { bracketName, elements, isJsonMap, type JsonNode, members, toText, unexpected, where } from '../../json-node.ts'
import { booleanKey, itself, neededKey, nodeKey } from '../../keys.ts'
import type { Queries, SpecOf } from '../ast.ts'
import { readFieldValues } from '../fields.ts'
import { type AggregationKind, type AggregationScope, aggregation, illegal, nameKey } from './kind.ts'

export const filterKind: AggregationKind = {
  doc: 'One bucket: the documents that match a query.',
  example: { term: { 'event.raw': 'Transfer' } },
  gives: 'bucket',
  read: (place, scope) => ({ kind: 'filter', query: queriesOf(place, scope) }),
}

const queriesOf = (place: JsonNode, scope: AggregationScope): Queries => {
  const isAll = isJsonMap(place.value) && place.value.size === 0
  return Object.fromEntries(scope.kinds.map(kind => [kind, isAll ? ALL_NODE : lowerClause(place, { ...scope, kind })]))
}

export const filtersKind = aggregation({
  doc: 'A bucket for each of several queries, by name or in a list; with `other_bucket` one more for documents that match none.',
  example: { filters: { transfers: { term: { 'event.raw': 'Transfer' } } }, other_bucket_key: 'others' },
  ...{ gives: 'buckets', expected: 'an object with [filters]' },
  keys: { filters: neededKey(itself), other_bucket: booleanKey, other_bucket_key: nodeKey },
  spec({ filters: given, other_bucket, other_bucket_key: key }, { scope }) {
    const { budget } = scope
    const isNamed = isJsonMap(given.value)
    const list = isNamed ? members(given, 'queries by name') : elements(given).map(at => [undefined, at] as const)
    if (list.length === 0) throw unexpected(given, 'queries by name or in a list, one at least')
    if (list.length > budget.limits.ranges) throw overLimit('ranges', budget.limits, where(given))
    const wantsOther = other_bucket ?? key !== undefined
    const other = key ? budget.name(toText(key, 'a name'), key) : '_other_'
    // Elasticsearch sorts named filters.
    const ordered = isNamed ? list.toSorted(([a], [b]) => (a! < b! ? -1 : 1)) : list
    const filters = ordered.map(([name, at]) => ({
      name: name === undefined ? undefined : budget.name(name, at),
      query: queriesOf(at, scope),
    }))
    return { kind: 'filters', filters, other: wantsOther ? other : undefined }
  },
})

export const missingKind = aggregation({
  doc: 'One bucket: the documents without a value in a field.',
  example: { field: 'error' },
  gives: 'bucket',
  keys: { field: nameKey, missing: nodeKey },
  spec: (keys, body) => ({ kind: 'missing', values: readFieldValues('any', keys, body) }),
})

export const globalKind = aggregation({
  doc: 'All documents of the searched indices, regardless of the query.',
  example: {},
  ...{ gives: 'bucket', expected: 'an empty object', keys: {} },
  spec(_, { place, at: { name, around } }) {
    if (around.length === 0) return { kind: 'global' }
    throw illegal(
      place,
      `Aggregation [${name}] cannot have a global sub-aggregation [${name}]. Global aggregations can only be defined as top level aggregations`,
    )
  },
})

export const nestedKind = aggregation({
  doc: 'The elements of a nested list, such as the arguments of events: sub-aggregations see these instead of the documents.',
  example: { path: 'args' },
  gives: 'bucket',
  keys: { path: neededKey(itself) },
  spec({ path: at }, { scope }) {
    const path = toText(at, 'the name of a nested list')
    const lists = scope.kinds.flatMap(nestedPaths)
    if (scope.nested === undefined && lists.includes(path)) return { kind: 'nested', path }
    throw illegal(
      at,
      `[nested] failed to find nested object under path ${bracketName(path)} of ${scope.nested ?? scope.kinds.join(', ')}.${didYouMean(path, lists)}`,
    )
  },
  inside: (spec, scope) => ({ ...scope, nested: (spec as SpecOf<'nested'>).path }),
})

export const reverseNestedKind = aggregation({
  doc: 'Back from the elements of a nested list to their documents, each of which counts once.',
  example: {},
  ...{ gives: 'bucket', expected: 'an empty object' },
  keys: { path: nodeKey },
  spec({ path }, { place, scope, at: { name } }) {
    if (path) throw illegal(path, 'no nested list lies in another: leave [path] out, which leads to the documents.')
    if (scope.nested !== undefined) return { kind: 'reverse_nested' }
    throw illegal(place, `Reverse nested aggregation [${name}] can only be used inside a [nested] aggregation`)
  },
  inside: (_, scope) => ({ ...scope, nested: undefined }),
})

/** `leads` maps the named child kind to the kind of the bucket's documents. */
const related = (
  kind: 'children' | 'parent',
  docs: Pick<AggregationKind, 'doc' | 'limit' | 'on'>,
  leads: (child: Kind) => Kind | undefined,
  possible: (kinds: readonly Kind[]) => Kind[],
): AggregationKind =>
  aggregation({
    ...docs,
    example: { type: 'event' },
    gives: 'bucket',
    keys: { type: neededKey(itself, {}, `, the child: Missing [child_type] field for ${kind} aggregation`) },
    spec({ type }, { place, scope: { kinds, nested } }) {
      if (nested !== undefined)
        throw illegal(
          place,
          `[${kind}] is of documents, not of the elements of ${bracketName(nested)}. Put it into a reverse_nested.`,
        )
      const { name, kind: child } = kindNamed(type)
      const of = child && leads(child)
      if (child !== undefined && of !== undefined && possible(kinds).includes(child)) return { kind, child, of }
      throw noRelation(type, `${kinds.join(', ')} has no children of type ${bracketName(name)}.`, name, possible(kinds))
    },
    inside: (spec, scope) => ({ ...scope, kinds: [(spec as SpecOf<'children' | 'parent'>).of] }),
  })

export const childrenKind = related(
  'children',
  {
    doc: 'The children of this entity (type) that the documents have: events of transactions, transactions of blocks.',
    on: 'tx',
  },
  child => child,
  kinds => [...new Set(kinds.flatMap(childKindsOf))],
)

export const parentKind = related(
  'parent',
  {
    doc: 'The parents of the documents of this entity (type), each once in each bucket.',
    limit: 'Of traces it leads to their transactions: rewards, whose parent is a block, have none here.',
  },
  child => parentKindsOf(child)[0],
  kinds => kinds.filter(one => parentKindsOf(one).length > 0),
)
