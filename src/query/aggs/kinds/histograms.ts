import { overLimit } from '../../../limits/index.ts'
import { readInterval, readOffset } from '../../dates/calendar.ts'
import { createRounding, type Rounding } from '../../dates/rounding.ts'
import { elements, type JsonNode, known, string, unexpected, where } from '../../json-node.ts'
import { SCHEMAS } from '../../keys.ts'
import { readDouble } from '../../numbers.ts'
import type { Edges, HistogramSpec, RangeOf, Spec } from '../ast.ts'
import { zoneIn } from '../formats.ts'
import { checkOrder, readOrder } from '../options.ts'
import {
  aggregation,
  type Body,
  datesIn,
  described,
  double,
  field,
  flag,
  format,
  illegal,
  plain,
  type Reader,
  script,
  whole,
} from './kind.ts'

const order: Reader<HistogramSpec['order']> = at => readOrder(at, [{ by: '_key', ascending: true }])
export const interval: Reader<number> = described(SCHEMAS.number, (at, { place }) => {
  if (at === undefined) throw unexpected(place, 'an object with [interval]')
  return readDouble(at)
})
const checkOrderOf = (place: JsonNode, spec: Spec, aggs: Parameters<typeof checkOrder>[2]) =>
  checkOrder(place, (spec as HistogramSpec & Spec).order, aggs)

export const histogram = aggregation({
  doc: 'A bucket for each interval of a number.',
  example: { field: 'gasUsed.num', interval: 50_000 },
  ...{ on: 'tx', buckets: true, expected: 'an object such as {"field": "gasUsed.num", "interval": 1000}' },
  keys: {
    ...{ field: field('numeric'), interval, offset: double, min_doc_count: whole(0, 0), order, keyed: flag() },
    ...{ format, missing: plain, extended_bounds: plain, hard_bounds: plain, script },
  },
  spec({ field: values, interval, offset = 0, order, keyed, format, ...keys }, body) {
    if (interval <= 0) throw illegal(body.given.interval!, '[interval] must be >0 for histogram aggregation')
    const { extended, hard } = boundsOf(body, readDouble)
    const shared = { minDocCount: keys.min_doc_count, order, keyed, format: format(values), extended, hard }
    return { kind: 'histogram', values, interval, offset, ...shared }
  },
  check: checkOrderOf,
})

export const dateHistogram = aggregation({
  doc: 'A bucket for each interval of time: a calendar unit, or a fixed length.',
  example: { field: 'timestamp', calendar_interval: 'day', format: 'yyyy-MM-dd' },
  ...{ buckets: true, expected: 'an object such as {"field": "timestamp", "fixed_interval": "1h"}' },
  keys: {
    ...{ field: field('date'), interval: plain, calendar_interval: plain, fixed_interval: plain, offset: plain },
    ...{ time_zone: plain, format, min_doc_count: whole(0, 0), order, keyed: flag(), missing: plain },
    ...{ extended_bounds: plain, hard_bounds: plain, script },
  },
  spec({ field: values, order, keyed, format, ...keys }, body) {
    const zone = zoneIn(keys.time_zone, body.scope)
    const readDate = datesIn(body, 'milliseconds')
    const [interval, offset] = [readInterval(body.place, body.given), readOffset(keys.offset)]
    const { extended, hard } = boundsOf(body, readDate)
    const withoutOffset = createRounding(interval, zone)
    return {
      ...{ kind: 'date_histogram', values, rounding: createRounding(interval, zone, offset), order, keyed },
      ...{ minDocCount: keys.min_doc_count, format: format(values) },
      extended: bucketsOf(extended, withoutOffset, offset),
      hard: bucketsOf(hard, withoutOffset, 0),
    }
  },
  check: checkOrderOf,
})

/** As in Elasticsearch, an offset moves the buckets of bounds, and not the bounds. */
const bucketsOf = (edges: Edges | undefined, { round }: Rounding, offset: number): Edges | undefined => {
  const bucketOf = (edge: number | undefined) => (edge === undefined ? undefined : round(edge) + offset)
  return edges && { min: bucketOf(edges.min), max: bucketOf(edges.max) }
}

const boundsOf = (body: Body, read: (place: JsonNode) => number): Record<'extended' | 'hard', Edges | undefined> => {
  const { extended_bounds, hard_bounds } = body.given
  const [extended, hard] = [edgesOf(extended_bounds, read), edgesOf(hard_bounds, read)]
  const { min: low = Number.NEGATIVE_INFINITY, max: high = Number.POSITIVE_INFINITY } = hard ?? {}
  if (!extended || ((extended.min ?? low) >= low && (extended.max ?? high) <= high)) return { extended, hard }
  throw illegal(
    body.place,
    `Extended bounds have to be inside hard bounds, hard bounds: [${low}--${high}], extended bounds: [${extended.min}--${extended.max}]`,
  )
}

const orNothing = (at: JsonNode | undefined, read: (place: JsonNode) => number): number | undefined =>
  at === undefined || at.value === null ? undefined : read(at)

/** The least and the greatest value; either may be left out. */
const edgesOf = (place: JsonNode | undefined, read: (place: JsonNode) => number): Edges | undefined => {
  if (place === undefined || place.value === null) return undefined
  const given = known(place, 'an object with [min] and [max]', ['min', 'max'], [])
  const [min, max] = [orNothing(given.min, read), orNothing(given.max, read)]
  if (min !== undefined && max !== undefined && min > max) throw illegal(place, '[min] must not be greater than [max]')
  return { min, max }
}

const UNITS = ['year', 'month', 'day', 'hour', 'minute', 'second']
const unit: Reader<string | undefined> = at => {
  const text = at && string(at, 'a unit of time')
  if (text !== undefined && !UNITS.includes(text)) throw unexpected(at!, `one of ${UNITS.join(', ')}`)
  return text
}

export const autoDateHistogram = aggregation({
  doc: 'Buckets of time, with an interval chosen so that there are at most `buckets` of them.',
  example: { field: 'timestamp', buckets: 10 },
  buckets: true,
  keys: {
    ...{ field: field('date'), buckets: whole(1, 10), time_zone: plain, format, minimum_interval: unit },
    missing: plain,
  },
  spec: ({ field: values, buckets, time_zone, format, minimum_interval: least }, { scope }) => ({
    ...{ kind: 'auto_date_histogram', values, buckets, zone: zoneIn(time_zone, scope), format: format(values), least },
  }),
})

export const range = aggregation({
  doc: 'A bucket for each range of a number. `from` is included, `to` is not.',
  example: { field: 'gasUsed.num', ranges: [{ to: 50_000 }, { from: 50_000 }] },
  ...{ on: 'tx', buckets: true, expected: 'an object such as {"field": "gasUsed.num", "ranges": [{"to": 1000}]}' },
  keys: { field: field('numeric'), ranges: plain, keyed: flag(), format, missing: plain, script },
  spec: ({ field: values, keyed, format }, body) => ({
    ...{ kind: 'range', values, ranges: rangesOf(body, readDouble), keyed, format: format(values) },
  }),
})

export const dateRange = aggregation({
  doc: 'A bucket for each range of dates, which may be date math.',
  example: { field: 'timestamp', ranges: [{ to: 'now-1d/d' }, { from: 'now-1d/d' }] },
  ...{ buckets: true, expected: 'an object such as {"field": "timestamp", "ranges": [{"from": "now-1d"}]}' },
  keys: {
    ...{ field: field('date'), ranges: plain, keyed: flag(), format, time_zone: plain, missing: plain, script },
  },
  spec: ({ field: values, keyed, format }, body) => ({
    ...{ kind: 'date_range', values, ranges: rangesOf(body, datesIn(body, 'text')), keyed, format: format(values) },
  }),
})

/** In the order of their beginnings, as they are answered. */
const rangesOf = ({ place, given: { ranges: given }, scope }: Body, read: (place: JsonNode) => number): RangeOf[] => {
  const list = given === undefined ? [] : elements(given)
  if (list.length === 0) throw unexpected(given ?? place, 'a list of [ranges], one at least')
  const { limits } = scope.budget
  if (list.length > limits.ranges) throw overLimit('ranges', limits, where(given!))
  const ranges = list.map(at => {
    const { key, from, to } = known(
      at,
      'an object with [from], [to] and [key]',
      ['key', 'from', 'to'],
      ['from_as_string', 'to_as_string'],
    )
    return {
      key: key && scope.budget.name(string(key, 'a name'), key),
      from: orNothing(from, read),
      to: orNothing(to, read),
    }
  })
  const low = ({ from }: RangeOf) => from ?? Number.NEGATIVE_INFINITY
  const high = ({ to }: RangeOf) => to ?? Number.POSITIVE_INFINITY
  return ranges.sort((a, b) => compare(low(a), low(b)) || compare(high(a), high(b)))
}

const compare = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0)
