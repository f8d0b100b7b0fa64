import { createDateReader } from '../../dates.ts'
import { boolean, type JsonNode, known, scalar, string } from '../../json-node.ts'
import type { SpecOf } from '../ast.ts'
import { readValues } from '../fields.ts'
import { formatOf, zoneIn } from '../formats.ts'
import { readInterval, readOffset } from '../intervals.ts'
import { checkOrder, count, readOrder } from '../options.ts'
import { createRounding } from '../rounding.ts'
import { requireDate } from './dates.ts'
import { edgesOf } from './histogram.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'
import { scripts } from './terms.ts'

export const dateHistogram: AggregationKind = {
  doc: 'A bucket for each interval of time: a calendar unit, or a fixed length.',
  example: { field: 'timestamp', calendar_interval: 'day', format: 'yyyy-MM-dd' },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "timestamp", "fixed_interval": "1h"}', KEYS, [])
    if (keys.script) throw scripts(keys.script)
    const values = requireDate(place, readValues(place, keys, scope, 'numeric'))
    const zone = zoneIn(keys.time_zone, scope)
    const readDate = dateReader(keys, scope)
    return {
      kind: 'date_histogram',
      values,
      rounding: createRounding(readInterval(place, keys), zone, readOffset(keys.offset)),
      minDocCount: count(keys.min_doc_count, 0, 0),
      order: readOrder(keys.order, [{ by: '_key', ascending: true }]),
      keyed: keys.keyed !== undefined && boolean(keys.keyed),
      format: formatOf(scope, place, values, keys),
      extended: edgesOf(keys.extended_bounds, readDate),
      hard: edgesOf(keys.hard_bounds, readDate),
    }
  },
  check: (place, spec, aggs) => checkOrder(place, (spec as SpecOf<'date_histogram'>).order, aggs),
}

/** Numbers among bounds are milliseconds, as Elasticsearch has them; texts are written in the format. */
const dateReader = (keys: { format?: JsonNode; time_zone?: JsonNode }, scope: AggregationScope) => {
  const format = keys.format && { place: keys.format, text: string(keys.format, 'a date format') }
  const zone = keys.time_zone && { place: keys.time_zone, text: string(keys.time_zone, 'a time zone') }
  const reader = createDateReader({ ...scope, ...(format && { format }), ...(zone && { zone }) })
  return (place: JsonNode): number =>
    typeof place.value === 'number' ? place.value : reader.read(place, scalar(place, 'a date'), false)
}

const KEYS = [
  'field',
  'interval',
  'calendar_interval',
  'fixed_interval',
  'offset',
  'time_zone',
  'format',
  'min_doc_count',
  'order',
  'keyed',
  'missing',
  'extended_bounds',
  'hard_bounds',
  'script',
] as const
