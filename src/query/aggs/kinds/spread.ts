import { refuse } from '../../../lib/errors.ts'
import { known, unexpected, where } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { number } from '../options.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

/** Aggregations that tell how far values lie apart. */
const spread = (kind: 'median_absolute_deviation' | 'boxplot', doc: string): AggregationKind => ({
  doc,
  example: { field: 'gasUsed.num' },
  on: 'tx',
  buckets: false,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "gasUsed.num"}', KEYS, ['value_type'])
    if (keys.script) throw scripts(keys.script)
    const values = readValues(place, keys, scope, 'numeric')
    if (values.type === 'date' || values.type === 'boolean')
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: a field of type [${values.type}] is not supported for aggregation [${kind}], which needs numbers.`,
      )
    const compression = number(keys.compression) ?? DEFAULT
    if (!(compression > 0)) throw unexpected(keys.compression!, 'a number greater than 0')
    return { kind, values, compression, format: formatOf(scope, place, values, keys) }
  },
})

const KEYS = ['field', 'missing', 'format', 'compression', 'script'] as const
const DEFAULT = 1000

export const medianAbsoluteDeviation = spread(
  'median_absolute_deviation',
  'The median of how far values lie from their median.',
)
export const boxplot = spread(
  'boxplot',
  'Least and greatest value, quartiles, and how far values reach within one and a half of the quartiles’ distance.',
)
