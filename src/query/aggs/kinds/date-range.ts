import { createDateReader } from '../../dates.ts'
import { boolean, known, scalar, string } from '../../json-node.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { requireDate } from './dates.ts'
import type { AggregationKind } from './kind.ts'
import { rangesOf } from './range.ts'
import { scripts } from './terms.ts'

export const dateRange: AggregationKind = {
  doc: 'A bucket for each range of dates, which may be date math.',
  example: { field: 'timestamp', ranges: [{ to: 'now-1d/d' }, { from: 'now-1d/d' }] },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "timestamp", "ranges": [{"from": "now-1d"}]}', KEYS, [])
    if (keys.script) throw scripts(keys.script)
    const values = requireDate(place, readValues(place, keys, scope, 'date'))
    const format = keys.format && { place: keys.format, text: string(keys.format, 'a date format') }
    const zone = keys.time_zone && { place: keys.time_zone, text: string(keys.time_zone, 'a time zone') }
    const reader = createDateReader({ ...scope, ...(format && { format }), ...(zone && { zone }) })
    return {
      kind: 'date_range',
      values,
      ranges: rangesOf(place, keys.ranges, at => reader.read(at, scalar(at, 'a date'), false), scope.budget),
      keyed: keys.keyed !== undefined && boolean(keys.keyed),
      format: formatOf(scope, place, values, keys),
    }
  },
}

const KEYS = ['field', 'ranges', 'keyed', 'format', 'time_zone', 'missing', 'script'] as const
