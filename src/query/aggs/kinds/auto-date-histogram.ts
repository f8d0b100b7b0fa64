import { known, string, unexpected } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { formatOf, zoneIn } from '../formats.ts'
import { count } from '../options.ts'
import { requireDate } from './dates.ts'
import type { AggregationKind } from './kind.ts'

export const autoDateHistogram: AggregationKind = {
  doc: 'Buckets of time, with an interval chosen so that there are at most `buckets` of them.',
  example: { field: 'timestamp', buckets: 10 },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "timestamp", "buckets": 10}', KEYS, [])
    const values = requireDate(place, readValues(place, keys, scope, 'date'))
    const least = keys.minimum_interval && string(keys.minimum_interval, 'a unit of time')
    if (least !== undefined && !UNITS.includes(least))
      throw unexpected(keys.minimum_interval!, `one of ${UNITS.join(', ')}`)
    return {
      kind: 'auto_date_histogram',
      values,
      buckets: count(keys.buckets, 1, 10),
      zone: zoneIn(keys.time_zone, scope),
      format: formatOf(scope, place, values, keys),
      least,
    }
  },
}

const KEYS = ['field', 'buckets', 'time_zone', 'format', 'minimum_interval', 'missing'] as const
const UNITS = ['year', 'month', 'day', 'hour', 'minute', 'second']
