import { known, unexpected } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { count } from '../options.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

export const cardinality: AggregationKind = {
  doc: 'The number of distinct values. It is exact up to about a million of them, and beyond within 1 %.',
  example: { field: 'address.raw' },
  buckets: false,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "address.raw"}', KEYS, [
      'rehash',
      'execution_hint',
      'value_type',
    ])
    if (keys.script) throw scripts(keys.script)
    const values = readValues(place, keys, scope, 'any')
    if (values.meta === '_id' && scope.kinds.length > 1)
      throw unexpected(keys.field!, 'one entity to count ids of: a value_count of [_id] is the same')
    return {
      kind: 'cardinality',
      values,
      precision: count(keys.precision_threshold, 0, 3000),
    }
  },
}

const KEYS = ['field', 'missing', 'precision_threshold', 'script'] as const
