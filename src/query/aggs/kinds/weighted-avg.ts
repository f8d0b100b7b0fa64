import { type JsonNode, known, unexpected } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'
import { scripts } from './terms.ts'

export const weightedAvg: AggregationKind = {
  doc: 'The mean of a number, weighted by another one.',
  example: { value: { field: 'gasPrice.num' }, weight: { field: 'gasUsed.num' } },
  on: 'tx',
  buckets: false,
  read(place, scope) {
    const keys = known(place, 'an object with [value] and [weight]', ['value', 'weight', 'format'], ['value_type'])
    if (!keys.value || !keys.weight) throw unexpected(place, 'an object with [value] and [weight]')
    const value = part(keys.value, scope)
    return {
      kind: 'weighted_avg',
      value,
      weight: part(keys.weight, scope),
      format: formatOf(scope, place, value, keys),
    }
  },
}

const part = (place: JsonNode, scope: AggregationScope) => {
  const keys = known(place, 'an object with [field]', ['field', 'missing', 'script'], [])
  if (keys.script) throw scripts(keys.script)
  return readValues(place, keys, scope, 'numeric')
}
