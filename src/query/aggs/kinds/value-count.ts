import { known } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

export const valueCount: AggregationKind = {
  doc: 'The number of values.',
  example: { field: 'address.raw' },
  buckets: false,
  read(place, scope) {
    const keys = known(
      place,
      'an object such as {"field": "address.raw"}',
      ['field', 'missing', 'format', 'script'],
      ['value_type'],
    )
    if (keys.script) throw scripts(keys.script)
    const values = readValues(place, keys, scope, 'any')
    return { kind: 'value_count', values, format: formatOf(scope, place, values, keys) }
  },
}
