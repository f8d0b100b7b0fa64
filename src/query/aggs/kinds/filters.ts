import { overLimit } from '../../../limits/index.ts'
import { boolean, elements, isObject, known, members, string, unexpected, where } from '../../json-node.ts'
import { queriesOf } from './filter.ts'
import type { AggregationKind } from './kind.ts'

export const filters: AggregationKind = {
  doc: 'A bucket for each of several queries, by name or in a list; with `other_bucket` one more for documents that match none.',
  example: { filters: { transfers: { term: { 'event.raw': 'Transfer' } } }, other_bucket_key: 'others' },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object with [filters]', KEYS, [])
    if (keys.filters === undefined) throw unexpected(place, 'an object with [filters]')
    const isNamed = isObject(keys.filters.value)
    const list = isNamed
      ? members(keys.filters, 'queries by name')
      : elements(keys.filters).map(at => [undefined, at] as const)
    if (list.length === 0) throw unexpected(keys.filters, 'queries by name or in a list, one at least')
    const { limits } = scope.budget
    if (list.length > limits.ranges) throw overLimit('ranges', limits, where(keys.filters))
    // Named ones are answered in the order of their names.
    const named = isNamed ? list.toSorted(([a], [b]) => (a! < b! ? -1 : 1)) : list
    const wantsOther =
      keys.other_bucket === undefined ? keys.other_bucket_key !== undefined : boolean(keys.other_bucket)
    const { budget } = scope
    const other = keys.other_bucket_key
      ? budget.name(string(keys.other_bucket_key, 'a name'), keys.other_bucket_key)
      : '_other_'
    return {
      kind: 'filters',
      filters: named.map(([name, at]) => ({
        name: name === undefined ? undefined : budget.name(name, at),
        query: queriesOf(at, scope),
      })),
      other: wantsOther ? other : undefined,
    }
  },
}

const KEYS = ['filters', 'other_bucket', 'other_bucket_key'] as const
