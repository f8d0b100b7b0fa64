import { refuse } from '../../../lib/errors.ts'
import { known, where } from '../../json-node.ts'
import type { AggregationKind } from './kind.ts'

export const global: AggregationKind = {
  doc: 'All documents of the searched indices, regardless of the query.',
  example: {},
  buckets: true,
  read(place, _, { name, around }) {
    known(place, 'an empty object', [], [])
    if (around.length === 0) return { kind: 'global' }
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: Aggregation [${name}] cannot have a global sub-aggregation [${name}]. Global aggregations can only be defined as top level aggregations`,
    )
  },
}
