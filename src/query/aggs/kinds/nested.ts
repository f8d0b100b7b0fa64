import { refuse } from '../../../lib/errors.ts'
import { didYouMean } from '../../../lib/nearest.ts'
import { nestedPaths } from '../../../mapping/index.ts'
import { known, named, string, unexpected, where } from '../../json-node.ts'
import type { SpecOf } from '../ast.ts'
import type { AggregationKind } from './kind.ts'

export const nested: AggregationKind = {
  doc: 'The elements of a nested list, such as the arguments of events: sub-aggregations see these instead of the documents.',
  example: { path: 'args' },
  buckets: true,
  read(place, scope) {
    const { path: at } = known(place, 'an object such as {"path": "args"}', ['path'], [])
    if (at === undefined) throw unexpected(place, 'an object with [path]')
    const path = string(at, 'the name of a nested list')
    const lists = scope.kinds.flatMap(nestedPaths)
    if (scope.nested === undefined && lists.includes(path)) return { kind: 'nested', path }
    throw refuse(
      'illegal_argument_exception',
      `${where(at)}: [nested] failed to find nested object under path ${named(path)} of ${scope.nested ?? scope.kinds.join(', ')}.${didYouMean(path, lists)}`,
    )
  },
  inside: (spec, scope) => ({ ...scope, nested: (spec as SpecOf<'nested'>).path }),
}
