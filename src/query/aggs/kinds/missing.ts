import { known } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import type { AggregationKind } from './kind.ts'

export const missing: AggregationKind = {
  doc: 'One bucket: the documents without a value in a field.',
  example: { field: 'error' },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "error"}', ['field', 'missing'], [])
    return { kind: 'missing', values: readValues(place, keys, scope, 'any') }
  },
}
