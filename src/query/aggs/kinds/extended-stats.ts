import { refuse } from '../../../lib/errors.ts'
import { known, where } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { number } from '../options.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

export const extendedStats: AggregationKind = {
  doc: 'As `stats`, with sum of squares, variances and standard deviations.',
  example: { field: 'gasUsed.num', sigma: 3 },
  on: 'tx',
  buckets: false,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "gasUsed.num"}', KEYS, ['value_type'])
    if (keys.script) throw scripts(keys.script)
    const sigma = number(keys.sigma) ?? 2
    if (sigma < 0)
      throw refuse('illegal_argument_exception', `${where(keys.sigma!)}: [sigma] must be greater than or equal to 0.`)
    const values = readValues(place, keys, scope, 'numeric')
    return { kind: 'extended_stats', values, format: formatOf(scope, place, values, keys), sigma }
  },
}

const KEYS = ['field', 'missing', 'format', 'sigma', 'script'] as const
