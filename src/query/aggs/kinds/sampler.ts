import { refuse } from '../../../lib/errors.ts'
import { type JsonNode, known, scalar, unexpected, where } from '../../json-node.ts'
import { hasSeveral, readValues } from '../fields.ts'
import { count } from '../options.ts'
import type { AggregationKind, Where } from './kind.ts'
import { scripts } from './terms.ts'

const SIZE = 100

export const sampler: AggregationKind = {
  doc: 'The documents that score best, shard_size of each entity; of equal ones the oldest.',
  limit: 'Only at the top.',
  example: { shard_size: 200 },
  buckets: true,
  read(place, _, at) {
    const { shard_size } = known(place, 'an object such as {"shard_size": 200}', ['shard_size'], [])
    checkTop('sampler', place, at)
    return { kind: 'sampler', size: count(shard_size, 1, SIZE), diversity: undefined }
  },
}

export const diversifiedSampler: AggregationKind = {
  doc: 'The documents that score best, of each value of a field max_docs_per_value at most. Documents without the field share a value.',
  limit: 'Only at the top. The field has one value. Keywords are told apart as by the `execution_hint` bytes_hash.',
  example: { field: 'address.raw', shard_size: 200 },
  buckets: true,
  read(place, scope, at) {
    const keys = known(place, 'an object such as {"field": "address.raw"}', KEYS, [])
    if (keys.script) throw scripts(keys.script)
    checkTop('diversified_sampler', place, at)
    if (keys.execution_hint && !HINTS.includes(scalar(keys.execution_hint, HINTS.join(', '))))
      throw unexpected(keys.execution_hint, `one of ${HINTS.join(', ')}`)
    const values = readValues(place, keys, scope, 'any')
    if (values.meta || hasSeveral(values))
      throw refuse(
        'illegal_argument_exception',
        `${where(keys.field!)}: Sample diversifying key must be a single valued-field.`,
      )
    const most = count(keys.max_docs_per_value, 1, 1)
    return { kind: 'sampler', size: count(keys.shard_size, 1, SIZE), diversity: { values, most } }
  },
}

const KEYS = ['field', 'shard_size', 'max_docs_per_value', 'execution_hint', 'script'] as const
const HINTS = ['map', 'bytes_hash', 'global_ordinals']

const checkTop = (name: string, place: JsonNode, { around }: Where) => {
  if (around.length === 0) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: [${name}] is supported at the top alone, not inside [${around.at(-1)}]. Put the others into it, or narrow the query.`,
  )
}
