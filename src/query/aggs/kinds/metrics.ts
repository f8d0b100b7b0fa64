import { boolean, known, unexpected } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

/** Aggregations of one number, or of some simple ones. */
const simple = (kind: 'avg' | 'sum' | 'min' | 'max' | 'stats', doc: string): AggregationKind => ({
  doc,
  example: { field: 'gasUsed.num' },
  on: 'tx',
  buckets: false,
  read(place, scope) {
    const names = kind === 'sum' ? ([...KEYS, 'exact'] as const) : KEYS
    const keys = known<(typeof names)[number] | 'exact'>(place, 'an object such as {"field": "gasUsed.num"}', names, [
      'value_type',
    ])
    if (keys.script) throw scripts(keys.script)
    const values = readValues(place, keys, scope, 'numeric')
    const exact = keys.exact !== undefined && boolean(keys.exact)
    if (exact && !isExact(values)) throw unexpected(keys.exact!, 'no [exact] for a field that holds no integers')
    return { kind, values, format: formatOf(scope, place, values, keys), exact }
  },
})

const isExact = ({ type }: { type: string }) => type === 'long'

const KEYS = ['field', 'missing', 'format', 'script'] as const

export const avg = simple('avg', 'The mean of a number.')
export const sum = simple(
  'sum',
  'The sum of a number. With `"exact": true` also in decimal digits, with integers beyond 64 bits.',
)
export const min = simple('min', 'The smallest value.')
export const max = simple('max', 'The largest value.')
export const stats = simple('stats', 'Count, minimum, maximum, mean and sum of a number.')
