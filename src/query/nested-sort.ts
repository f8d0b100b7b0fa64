import { refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest.ts'
import { type Kind, nestedPaths } from '../mapping/index.ts'
import { ALL, type Node } from './ast.ts'
import { createBudget } from './budget.ts'
import { integer, type JsonNode, known, named, string, unexpected, where } from './json-node.ts'
import type { NestedSort } from './request.ts'
import type { SortScope } from './sort.ts'

interface Given {
  nested?: JsonNode
  nested_path?: JsonNode
  nested_filter?: JsonNode
}

/** `nested`, or what it was called before: of which elements of a list the values are that are sorted by. */
export const parseNested = (given: Given, { kinds, now, budget, lower }: SortScope): NestedSort | undefined => {
  const keys = given.nested
    ? known(given.nested, 'an object such as {"path": "args"}', ['path', 'filter', 'max_children', 'nested'], [])
    : { path: given.nested_path, filter: given.nested_filter }
  const { path: pathPlace, filter, max_children, nested } = { max_children: undefined, nested: undefined, ...keys }
  if (pathPlace === undefined) {
    if (given.nested === undefined && filter === undefined) return undefined
    throw unexpected(given.nested ?? filter!, 'an object with [path], such as {"path": "args"}')
  }
  if (given.nested !== undefined && (given.nested_path ?? given.nested_filter) !== undefined)
    throw refuse('parsing_exception', `${where(given.nested)}: write [nested] alone, without [nested_path].`)
  const path = string(pathPlace, 'the name of a nested list')
  const lists = [...new Set(kinds.flatMap(nestedPaths))]
  if (!lists.includes(path)) {
    throw refuse(
      'query_shard_exception',
      `${where(pathPlace)}: [nested] failed to find nested object under path ${named(path)}.${didYouMean(path, lists)} Nested lists of ${kinds.join(', ')}: ${lists.join(', ') || 'none'}.`,
    )
  }
  if (!isUnset(nested))
    throw refuse(
      'query_shard_exception',
      `${where(nested)}: there is no nested list inside of [${path}]: leave it out.`,
    )
  const conditions: Partial<Record<Kind, Node>> = {}
  for (const kind of kinds) {
    if (!nestedPaths(kind).includes(path)) continue
    // Each kind reads the same clauses, which count once.
    const own = kind === kinds[0] ? budget : createBudget({ limits: budget.limits })
    conditions[kind] = isUnset(filter) ? ALL : lower(filter, { kind, kinds, now, nested: path, budget: own })
  }
  return { path, filter: conditions, most: max_children === undefined ? Number.POSITIVE_INFINITY : most(max_children) }
}

const isUnset = (place: JsonNode | undefined): place is (JsonNode & { value: null }) | undefined =>
  place === undefined || place.value === null

const most = (place: JsonNode): number => {
  const count = integer(place, 'an integer: how many elements are looked at')
  if (count < 0) throw unexpected(place, 'an integer from 0 on')
  return count === 2 ** 31 - 1 ? Number.POSITIVE_INFINITY : count
}
