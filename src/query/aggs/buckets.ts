import type { Kind } from '../../mapping/index.ts'
import type { QueryValue as Stored } from '../ast.ts'
import { CALENDAR_UNITS } from '../dates/calendar.ts'
import { createRounding, type Rounding } from '../dates/rounding.ts'
import { isRawJson } from '../hits/source-filter.ts'
import { javaDouble } from '../numbers.ts'
import { rawValuesOf, readValue } from '../predicate.ts'
import type { SortSpec } from '../request.ts'
import { tooLong } from '../simplify.ts'
import type { CompositeSource, Edges, Format, OrderBy, RangeOf, SpecOf, ValueType } from './ast.ts'
import type { Bucket, ResultMember, ResultValue } from './result.ts'

/** Type prefixes of `typed_keys`. */
export const TERMS_TYPES: Readonly<Record<ValueType, string>> = {
  keyword: 'sterms',
  long: 'lterms',
  boolean: 'lterms',
  date: 'lterms',
  double: 'dterms',
}

export const rareTermsType = (type: ValueType): string => (type === 'keyword' ? 'srareterms' : 'lrareterms')

export const termKey = (
  value: Stored,
  { values: { type }, format }: Pick<SpecOf<'terms'>, 'values' | 'format'>,
): ResultMember[] => {
  switch (type) {
    case 'keyword':
      return [['key', String(value)]]
    case 'boolean':
      return [
        ['key', value ? 1n : 0n],
        ['key_as_string', value ? 'true' : 'false'],
      ]
    case 'double':
      return [['key', Number(value)], ...(format ? [['key_as_string', format(Number(value))] as ResultMember] : [])]
    default:
      return [['key', BigInt(value)], ...(format ? [['key_as_string', format(Number(value))] as ResultMember] : [])]
  }
}

interface HistogramSteps {
  round(value: number): number
  next(key: number): number
  /** An upper bound of the keys from `first` to `last`. */
  count(first: number, last: number): number
}

const evenSteps = (interval: number, offset: number): HistogramSteps => {
  const keyOf = (index: number) => index * interval + offset
  const indexOf = (value: number) => Math.floor((value - offset) / interval)
  return {
    round: value => keyOf(indexOf(value)),
    next: key => keyOf(Math.round((key - offset) / interval) + 1),
    count: (first, last) => Math.round((last - first) / interval) + 1,
  }
}

export const histogramSteps = (spec: SpecOf<'histogram'> | SpecOf<'date_histogram'>): HistogramSteps =>
  spec.kind === 'histogram' ? evenSteps(spec.interval, spec.offset) : spec.rounding

interface EmptyBucketFilling {
  steps: HistogramSteps
  extended: Edges | undefined
  /** The bucket limit. */
  most: number
  /** Refuses too many buckets before they are created. */
  room(buckets: number): void
}

/** A key and its bucket number, -1 without documents. */
export type PlacedKey = readonly [key: number, place: number]

/** Adds empty buckets between ascending keys and up to the bounds. */
export const withEmptyBuckets = (
  found: readonly PlacedKey[],
  { steps, extended, most, room }: EmptyBucketFilling,
): PlacedKey[] => {
  const size = found.length
  const keyAt = (at: number) => found[at]![0]
  const bounded = (edge: number | undefined) => (edge === undefined ? undefined : steps.round(edge))
  const ends = [bounded(extended?.min), bounded(extended?.max), found[0]?.[0], found[size - 1]?.[0]]
  const known = ends.filter(end => end !== undefined)
  if (known.length === 0 || (size === 0 && (extended?.min === undefined || extended.max === undefined))) return []
  const [first, last] = [Math.min(...known), Math.max(...known)]
  room(stepCount(steps, [first, last], most))
  const all: PlacedKey[] = []
  let at = 0
  for (const key of walkOf(steps, first, last)) {
    while (at < size && keyAt(at) < key) all.push(found[at++]!)
    if (at < size && keyAt(at) === key) all.push(found[at++]!)
    else all.push([key, -1])
  }
  while (at < size) all.push(found[at++]!)
  return all
}

/** Orders ascending buckets of a histogram; `compare` only gets buckets with documents. */
export const orderHistogram = (
  all: readonly PlacedKey[],
  { by, ascending }: OrderBy,
  compare: (a: number, b: number) => number,
): PlacedKey[] => {
  if (by === '_key') return ascending ? [...all] : all.toReversed()
  const found = all.filter(([, place]) => place >= 0).sort(([, a], [, b]) => compare(a, b))
  const empty = all.filter(([, place]) => place < 0)
  return by === '_count' && ascending ? [...empty, ...found] : [...found, ...empty]
}

/** Counts exactly if the estimate is near the limit. */
const stepCount = (steps: HistogramSteps, [first, last]: [number, number], most: number): number => {
  const estimate = steps.count(first, last)
  if (estimate <= most || estimate > 2 * most) return estimate
  let size = 0
  for (const _ of walkOf(steps, first, last)) size++
  return size
}

/** Ends early if a step is below the precision of the numbers. */
function* walkOf(steps: HistogramSteps, first: number, last: number): Generator<number> {
  for (let key = first; key <= last; ) {
    yield key
    const next = steps.next(key)
    if (!(next > key)) return
    key = next
  }
}

export const histogramKey = (
  key: number,
  { isDate, format }: { isDate: boolean; format: Format },
): Required<Pick<Bucket, 'name' | 'key' | 'number'>> => {
  const text = format?.(key)
  return {
    name: text ?? javaDouble(key),
    key: [
      ...(text === undefined ? [] : [['key_as_string', text] as [string, string]]),
      ['key', isDate ? BigInt(key) : key],
    ],
    number: key,
  }
}

/** Elasticsearch's units, approximate lengths in milliseconds and counts per bucket. */
const TIME_SCALE_UNITS = [
  { name: 'second', unit: '1s', letter: 's', length: 1_000, counts: [1, 5, 10, 30] },
  { name: 'minute', unit: '1m', letter: 'm', length: 60_000, counts: [1, 5, 10, 30] },
  { name: 'hour', unit: '1h', letter: 'h', length: 3_600_000, counts: [1, 3, 12] },
  { name: 'day', unit: '1d', letter: 'd', length: 86_400_000, counts: [1, 7] },
  { name: 'month', unit: '1M', letter: 'M', length: 2_592_000_000, counts: [1, 3] },
  { name: 'year', unit: '1y', letter: 'y', length: 31_536_000_000, counts: [1, 5, 10, 20, 50, 100] },
] as const

/** Ascending starts of buckets. */
export interface TimeScale {
  starts: number[]
  name: string
}

interface Scales {
  of(least: number, greatest: number): TimeScale
  shortest: string
}

export const scalesOf = ({ buckets, zone, least }: SpecOf<'auto_date_histogram'>): Scales => {
  const units = TIME_SCALE_UNITS.slice(
    Math.max(
      0,
      TIME_SCALE_UNITS.findIndex(({ name }) => name === least),
    ),
  )
  const roundings = units.map(({ unit }) => createRounding(CALENDAR_UNITS.get(unit)!, zone))
  return {
    of: (least, greatest) => scaleOf(least, greatest, buckets, units, roundings),
    shortest: `1${units[0]!.letter}`,
  }
}

export const timeKey = (
  start: number,
  { format }: Pick<SpecOf<'auto_date_histogram'>, 'format'>,
): Pick<Bucket, 'key' | 'number'> => {
  const { key, number } = histogramKey(start, { isDate: true, format })
  return { key, number }
}

/** The shortest unit with few enough buckets, and its count per bucket. */
const scaleOf = (
  least: number,
  greatest: number,
  wanted: number,
  units: readonly (typeof TIME_SCALE_UNITS)[number][],
  roundings: readonly Rounding[],
): TimeScale => {
  for (const [i, rounding] of roundings.entries()) {
    const { counts, letter, length } = units[i]!
    const most = wanted * counts.at(-1)!
    const isLast = i === roundings.length - 1
    if (!isLast && (greatest - least) / length > most * 2 + 10) continue
    const all = bucketStarts(rounding, least, greatest)
    // Elasticsearch does not count the last bucket.
    if (!isLast && all.length - 1 > most) continue
    const count =
      counts.find(one => Math.ceil(all.length / one) <= wanted) ?? (all.length <= wanted ? 1 : counts.at(-1)!)
    return { starts: all.filter((_, place) => place % count === 0), name: `${count}${letter}` }
  }
  throw new Error('the last unit is always long enough')
}

const bucketStarts = (rounding: Rounding, least: number, greatest: number): number[] => {
  const all: number[] = []
  const last = rounding.round(greatest)
  for (let key = rounding.round(least); key <= last; key = rounding.next(key)) all.push(key)
  return all
}

export const rangeKey = (
  range: RangeOf,
  { kind, keyed, format }: Pick<SpecOf<'range' | 'date_range'>, 'kind' | 'keyed' | 'format'>,
): Pick<Bucket, 'name' | 'key' | 'number'> => {
  const name = range.key ?? `${edgeText(range.from, format)}-${edgeText(range.to, format)}`
  return {
    name,
    key: [
      ...(keyed ? [] : [['key', name] as ResultMember]),
      ...edgeMembers('from', range.from, format),
      ...edgeMembers('to', range.to, format),
    ],
    ...(kind === 'date_range' && range.from !== undefined && { number: range.from }),
  }
}

const edgeText = (value: RangeOf['from'], format: Format): string =>
  value === undefined ? '*' : (format?.(value) ?? javaDouble(value))

const edgeMembers = (name: string, value: number | undefined, format: Format): ResultMember[] => {
  if (value === undefined) return []
  return format
    ? [
        [name, value],
        [`${name}_as_string`, format(value)],
      ]
    : [[name, value]]
}

/** The key of a bucket of `multi_terms`: its values, and all of them as a text. */
export const multiTermsKey = (values: readonly Stored[], { sources }: SpecOf<'multi_terms'>): ResultMember[] => {
  const shown = values.map((value, i): ResultValue => {
    const source = sources[i]!
    return source.format && source.values.type !== 'boolean'
      ? source.format(Number(value))
      : compositePart(value, source)
  })
  const textOf = (value: ResultValue) => (typeof value === 'number' ? javaDouble(value) : String(value))
  return [
    ['key', shown],
    ['key_as_string', shown.map(textOf).join('|')],
  ]
}

/** A source's value in a composite key. */
export const compositePart = (value: Stored | null, source: CompositeSource): ResultValue => {
  if (value === null) return null
  if (source.by === 'histogram') return Number(value)
  if (source.by === 'date_histogram') return source.format ? source.format(Number(value)) : BigInt(value)
  switch (source.values.type) {
    case 'keyword':
      return String(value)
    case 'double':
      return Number(value)
    case 'boolean':
      return Boolean(value)
    default:
      return BigInt(value)
  }
}

type TopMetric = SpecOf<'top_metrics'>['metrics'][number]

export const topValue = (
  { values }: TopMetric,
  kind: Kind,
  load: () => { _source: Record<string, unknown> } | undefined,
): Stored | undefined => {
  const field = values.fields[kind]
  const document = field && load()
  const [raw] = field && document ? rawValuesOf(field, document._source) : []
  if (!field || raw === undefined || raw === null) return values.missing
  const value = field.es === 'keyword' ? String(raw) : readValue(field, raw)
  return value === undefined || tooLong(field, value) ? values.missing : value
}

export const shownTopValue = (value: Stored | undefined, { format, values }: TopMetric): ResultValue => {
  if (value === undefined) return null
  if (format && typeof value === 'number') return format(value)
  return values.type === 'long' && typeof value === 'number' ? BigInt(value) : value
}

/** A hit's `sort` value as top_metrics shows it. */
export const shownTopSort = (value: unknown, { fields }: SortSpec): ResultValue => {
  const type = Object.values(fields)[0]?.es
  if (isRawJson(value)) return BigInt(value.rawJSON)
  if (typeof value !== 'number') return value as ResultValue
  if (type === 'boolean') return value === 1
  return type === 'long' || type === 'date' ? BigInt(value) : value
}
