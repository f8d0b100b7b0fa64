import { overLimit } from '../../../limits/index.ts'
import { readInterval, readOffset } from '../../dates/calendar.ts'
import { createRounding, type Rounding } from '../../dates/rounding.ts'
import { elements, expectKeys, type JsonNode, toText, unexpected, where } from '../../json-node.ts'
import { booleanKey, doubleKey, key, neededKey, nodeKey, optionalKey, SCHEMAS } from '../../keys.ts'
import { readDouble } from '../../numbers.ts'
import type { AggregationSpec, Edges, HistogramOptions, RangeOf } from '../ast.ts'
import { formatOfValues, readFieldValues, zoneIn } from '../fields.ts'
import { checkBucketOrder, readOrder } from '../order.ts'
import { type AggregationBody, aggregation, datesIn, illegal, nameKey, scriptKey, wholeKey } from './kind.ts'

const orderKey = key(at => readOrder(at, [{ by: '_key', ascending: true }]))
const checkOrderOf = (place: JsonNode, spec: AggregationSpec, aggs: Parameters<typeof checkBucketOrder>[2]) =>
  checkBucketOrder(place, (spec as HistogramOptions & AggregationSpec).order, aggs)

const histogramInterval = neededKey(at => {
  const length = readDouble(at)
  if (length <= 0) throw illegal(at, '[interval] must be >0 for histogram aggregation')
  return length
}, SCHEMAS.number)

export const histogramKind = aggregation({
  doc: 'A bucket for each interval of a number.',
  example: { field: 'gasUsed.num', interval: 50_000 },
  ...{ on: 'tx', gives: 'buckets', expected: 'an object such as {"field": "gasUsed.num", "interval": 1000}' },
  keys: {
    ...{
      field: nameKey,
      interval: histogramInterval,
      offset: doubleKey,
      min_doc_count: wholeKey(0, 0),
      order: orderKey,
      keyed: booleanKey,
    },
    ...{ format: nameKey, missing: nodeKey, extended_bounds: nodeKey, hard_bounds: nodeKey, script: scriptKey },
  },
  spec({ interval, offset = 0, order, keyed = false, ...keys }, body) {
    const values = readFieldValues('numeric', keys, body)
    const shared = { minDocCount: keys.min_doc_count, order, keyed, format: formatOfValues(values, keys, body) }
    return { kind: 'histogram', values, interval, offset, ...shared, ...histogramBounds(keys, readDouble, body.place) }
  },
  check: checkOrderOf,
})

export const dateHistogramKind = aggregation({
  doc: 'A bucket for each interval of time: a calendar unit, or a fixed length.',
  example: { field: 'timestamp', calendar_interval: 'day', format: 'yyyy-MM-dd' },
  ...{ gives: 'buckets', expected: 'an object such as {"field": "timestamp", "fixed_interval": "1h"}' },
  keys: {
    ...{ field: nameKey, interval: nodeKey, calendar_interval: nodeKey, fixed_interval: nodeKey, offset: nodeKey },
    ...{
      time_zone: nodeKey,
      format: nameKey,
      min_doc_count: wholeKey(0, 0),
      order: orderKey,
      keyed: booleanKey,
      missing: nodeKey,
    },
    ...{ extended_bounds: nodeKey, hard_bounds: nodeKey, script: scriptKey },
  },
  spec({ order, keyed = false, ...keys }, body) {
    const { place, scope } = body
    const values = readFieldValues('date', keys, body)
    const zone = zoneIn(keys.time_zone, scope)
    const readDate = datesIn(keys, scope, 'milliseconds')
    const [interval, offset] = [readInterval(place, keys), readOffset(keys.offset)]
    const { extended, hard } = histogramBounds(keys, readDate, place)
    const withoutOffset = createRounding(interval, zone)
    return {
      ...{ kind: 'date_histogram', values, rounding: createRounding(interval, zone, offset), order, keyed },
      ...{ minDocCount: keys.min_doc_count, format: formatOfValues(values, keys, body) },
      extended: edgeBuckets(extended, withoutOffset, offset),
      hard: edgeBuckets(hard, withoutOffset, 0),
    }
  },
  check: checkOrderOf,
})

/** As in Elasticsearch, an offset moves buckets of bounds, not the bounds. */
const edgeBuckets = (edges: Edges | undefined, { round }: Rounding, offset: number): Edges | undefined => {
  const bucketOf = (edge: number | undefined) => (edge === undefined ? undefined : round(edge) + offset)
  return edges && { min: bucketOf(edges.min), max: bucketOf(edges.max) }
}

const histogramBounds = (
  { extended_bounds, hard_bounds }: Record<'extended_bounds' | 'hard_bounds', JsonNode | undefined>,
  read: (place: JsonNode) => number,
  place: JsonNode,
): Record<'extended' | 'hard', Edges | undefined> => {
  const [extended, hard] = [edgesOf(extended_bounds, read), edgesOf(hard_bounds, read)]
  const { min: low = Number.NEGATIVE_INFINITY, max: high = Number.POSITIVE_INFINITY } = hard ?? {}
  if (!extended || ((extended.min ?? low) >= low && (extended.max ?? high) <= high)) return { extended, hard }
  throw illegal(
    place,
    `Extended bounds have to be inside hard bounds, hard bounds: [${low}--${high}], extended bounds: [${extended.min}--${extended.max}]`,
  )
}

const orNothing = (at: JsonNode | undefined, read: (place: JsonNode) => number): number | undefined =>
  at === undefined || at.value === null ? undefined : read(at)

const edgesOf = (place: JsonNode | undefined, read: (place: JsonNode) => number): Edges | undefined => {
  if (place === undefined || place.value === null) return undefined
  const given = expectKeys(place, 'an object with [min] and [max]', ['min', 'max'], [])
  const [min, max] = [orNothing(given.min, read), orNothing(given.max, read)]
  if (min !== undefined && max !== undefined && min > max) throw illegal(place, '[min] must not be greater than [max]')
  return { min, max }
}

const MINIMUM_INTERVALS = ['year', 'month', 'day', 'hour', 'minute', 'second']
const unit = optionalKey(at => {
  const text = toText(at, 'a unit of time')
  if (!MINIMUM_INTERVALS.includes(text)) throw unexpected(at, `one of ${MINIMUM_INTERVALS.join(', ')}`)
  return text
})

export const autoDateHistogramKind = aggregation({
  doc: 'Buckets of time, with an interval that gives at most `buckets` of them.',
  example: { field: 'timestamp', buckets: 10 },
  gives: 'buckets',
  keys: {
    ...{ field: nameKey, buckets: wholeKey(1, 10), time_zone: nodeKey, format: nameKey, minimum_interval: unit },
    missing: nodeKey,
  },
  spec({ buckets, minimum_interval: least, ...keys }, body) {
    const values = readFieldValues('date', keys, body)
    const zone = zoneIn(keys.time_zone, body.scope)
    return { kind: 'auto_date_histogram', values, buckets, zone, format: formatOfValues(values, keys, body), least }
  },
})

export const rangeKind = aggregation({
  doc: 'A bucket for each range of a number. `from` is included, `to` is not.',
  example: { field: 'gasUsed.num', ranges: [{ to: 50_000 }, { from: 50_000 }] },
  ...{ on: 'tx', gives: 'buckets', expected: 'an object such as {"field": "gasUsed.num", "ranges": [{"to": 1000}]}' },
  keys: { field: nameKey, ranges: nodeKey, keyed: booleanKey, format: nameKey, missing: nodeKey, script: scriptKey },
  spec({ ranges, keyed = false, ...keys }, body) {
    const values = readFieldValues('numeric', keys, body)
    return {
      ...{ kind: 'range', values, ranges: readRanges(ranges, readDouble, body), keyed },
      format: formatOfValues(values, keys, body),
    }
  },
})

export const dateRangeKind = aggregation({
  doc: 'A bucket for each range of dates, which may be date math.',
  example: { field: 'timestamp', ranges: [{ to: 'now-1d/d' }, { from: 'now-1d/d' }] },
  ...{ gives: 'buckets', expected: 'an object such as {"field": "timestamp", "ranges": [{"from": "now-1d"}]}' },
  keys: {
    field: nameKey,
    ranges: nodeKey,
    keyed: booleanKey,
    format: nameKey,
    time_zone: nodeKey,
    missing: nodeKey,
    script: scriptKey,
  },
  spec({ ranges, keyed = false, ...keys }, body) {
    const values = readFieldValues('date', keys, body)
    return {
      ...{ kind: 'date_range', values, ranges: readRanges(ranges, datesIn(keys, body.scope, 'text'), body), keyed },
      format: formatOfValues(values, keys, body),
    }
  },
})

/** Sorted by their beginnings. */
const readRanges = (
  given: JsonNode | undefined,
  read: (place: JsonNode) => number,
  { place, scope }: AggregationBody,
): RangeOf[] => {
  const list = given === undefined ? [] : elements(given)
  if (list.length === 0) throw unexpected(given ?? place, 'a list of [ranges], one at least')
  const { limits } = scope.budget
  if (list.length > limits.ranges) throw overLimit('ranges', limits, where(given!))
  const ranges = list.map(at => {
    const { key, from, to } = expectKeys(
      at,
      'an object with [from], [to] and [key]',
      ['key', 'from', 'to'],
      ['from_as_string', 'to_as_string'],
    )
    return {
      key: key && scope.budget.name(toText(key, 'a name'), key),
      from: orNothing(from, read),
      to: orNothing(to, read),
    }
  })
  const low = ({ from }: RangeOf) => from ?? Number.NEGATIVE_INFINITY
  const high = ({ to }: RangeOf) => to ?? Number.POSITIVE_INFINITY
  return ranges.sort((a, b) => compareEdges(low(a), low(b)) || compareEdges(high(a), high(b)))
}

const compareEdges = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0)
