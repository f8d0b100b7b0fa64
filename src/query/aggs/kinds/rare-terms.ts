import { refuse } from '../../../lib/errors.ts'
import { type JsonNode, known, where } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import { readValues, refuseIds } from '../fields.ts'
import { formatOf } from '../formats.ts'
import type { AggregationKind } from './kind.ts'
import { readTerms, scripts } from './terms.ts'

export const rareTerms: AggregationKind = {
  doc: 'A bucket for each value that few documents have (max_doc_count, from 1 to 100), the rarest ones first. Counts are exact.',
  example: { field: 'event.raw', max_doc_count: 2 },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "event.raw"}', KEYS, ['value_type'])
    if (keys.script) throw scripts(keys.script)
    const values = readValues(place, keys, scope, 'any')
    refuseIds(place, values)
    if (values.type === 'double')
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: RareTerms aggregation does not support floating point fields.`,
      )
    // Counts are exact whatever it says.
    if (keys.precision && !(readDouble(keys.precision) >= LEAST_PRECISION))
      throw refuse(
        'illegal_argument_exception',
        `${where(keys.precision)}: [precision] must be greater than ${LEAST_PRECISION.toFixed(5)}.`,
      )
    return {
      kind: 'rare_terms',
      values,
      maxDocCount: keys.max_doc_count ? maxOf(keys.max_doc_count) : 1,
      terms: readTerms(values.type, keys, scope),
      format: formatOf(scope, place, values, keys),
    }
  },
}

const KEYS = ['field', 'max_doc_count', 'precision', 'include', 'exclude', 'missing', 'format', 'script'] as const
const LEAST_PRECISION = 0.00001
/** As in Elasticsearch. */
const MOST = 100

const maxOf = (place: JsonNode): number => {
  const most = Math.trunc(readDouble(place))
  if (most >= 1 && most <= MOST) return most
  throw refuse('illegal_argument_exception', `${where(place)}: [max_doc_count] must be from 1 to ${MOST}.`)
}
