import { createDateReader } from '../../dates.ts'
import { boolean, type JsonNode, known, scalar, string } from '../../json-node.ts'
import type { Edges, SpecOf } from '../ast.ts'
import { readValues } from '../fields.ts'
import { formatOf, zoneIn } from '../formats.ts'
import { readInterval, readOffset } from '../intervals.ts'
import { checkOrder, count, readOrder } from '../options.ts'
import { createRounding, type Rounding } from '../rounding.ts'
import { requireDate } from './dates.ts'
import { checkWithin, edgesOf } from './histogram.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'
import { scripts } from './terms.ts'

export const dateHistogram: AggregationKind = {
  doc: 'A bucket for each interval of time: a calendar unit, or a fixed length.',
  example: { field: 'timestamp', calendar_interval: 'day', format: 'yyyy-MM-dd' },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "timestamp", "fixed_interval": "1h"}', KEYS, [])
    if (keys.script) throw scripts(keys.script)
    const values = requireDate(place, readValues(place, keys, scope, 'date'))
    const zone = zoneIn(keys.time_zone, scope)
    const readDate = dateReader(keys, scope)
    const [interval, offset] = [readInterval(place, keys), readOffset(keys.offset)]
    const [extended, hard] = [edgesOf(keys.extended_bounds, readDate), edgesOf(keys.hard_bounds, readDate)]
    checkWithin(place, extended, hard)
    const withoutOffset = createRounding(interval, zone)
    return {
      kind: 'date_histogram',
      values,
      rounding: createRounding(interval, zone, offset),
      minDocCount: count(keys.min_doc_count, 0, 0),
      order: readOrder(keys.order, [{ by: '_key', ascending: true }]),
      keyed: keys.keyed !== undefined && boolean(keys.keyed),
      format: formatOf(scope, place, values, keys),
      extended: bucketsOf(extended, withoutOffset, offset),
      hard: bucketsOf(hard, withoutOffset, 0),
    }
  },
  check: (place, spec, aggs) => checkOrder(place, (spec as SpecOf<'date_histogram'>).order, aggs),
}

/** As in Elasticsearch, an offset moves the buckets of bounds, and not the bounds. */
const bucketsOf = (edges: Edges | undefined, { round }: Rounding, offset: number): Edges | undefined => {
  const bucketOf = (edge: number | undefined) => (edge === undefined ? undefined : round(edge) + offset)
  return edges && { min: bucketOf(edges.min), max: bucketOf(edges.max) }
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
