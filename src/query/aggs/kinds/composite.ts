import { refuse } from '../../../lib/errors.ts'
import type { FieldPath } from '../../../mapping/index.ts'
import type { Value } from '../../ast.ts'
import { createDateReader } from '../../dates.ts'
import { boolean, type JsonNode, known, list, members, scalar, string, unexpected, where } from '../../json-node.ts'
import { readDouble, readLong } from '../../numbers.ts'
import type { CompositeSource, Values } from '../ast.ts'
import { readValues, refuseIds } from '../fields.ts'
import { formatOf, zoneIn } from '../formats.ts'
import { readInterval, readOffset } from '../intervals.ts'
import { count } from '../options.ts'
import { createRounding } from '../rounding.ts'
import { requireDate } from './dates.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'
import { scripts } from './terms.ts'

export const composite: AggregationKind = {
  doc: 'A bucket for each combination of values of several sources, page by page: `after` takes the `after_key` of the previous page.',
  example: { size: 2, sources: [{ name: { terms: { field: 'event.raw' } } }] },
  buckets: true,
  read(place, scope, { around }) {
    if (around.some(type => type !== 'filter' && type !== 'nested' && type !== 'reverse_nested' && type !== 'global'))
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: [composite] aggregation cannot be used with a parentAggregation of type: [${around.at(-1)}]`,
      )
    const keys = known(place, 'an object with [sources]', ['sources', 'size', 'after'], [])
    if (keys.sources === undefined) throw unexpected(place, 'an object with [sources]')
    const sources = list(keys.sources, 'a list of sources').map(at => sourceOf(at, scope))
    if (sources.length === 0) throw unexpected(keys.sources, 'a list of sources, one at least')
    const names = new Set(sources.map(({ name }) => name))
    if (names.size < sources.length)
      throw refuse('illegal_argument_exception', `${where(keys.sources)}: Composite source names must be unique`)
    return {
      kind: 'composite',
      sources,
      size: count(keys.size, 1, 10),
      after: keys.after && afterOf(keys.after, sources, scope),
    }
  },
}

const sourceOf = (place: JsonNode, scope: AggregationScope): CompositeSource => {
  const [named, more] = members(place, 'a source such as {"name": {"terms": {"field": "event.raw"}}}')
  if (!named || more) throw unexpected(place, 'one source with its name')
  const [name, at] = named
  scope.budget.name(name, at)
  const [typed, other] = members(at, 'an object such as {"terms": {"field": "event.raw"}}')
  if (!typed || other) throw unexpected(at, 'one of terms, histogram and date_histogram')
  const [type, body] = typed
  switch (type) {
    case 'terms': {
      const keys = known(body, 'an object with [field]', TERMS, [])
      const values = readValues(body, keys, scope, 'any')
      refuseIds(body, values)
      return { ...common(name, body, keys, values), by: 'terms' }
    }
    case 'histogram': {
      const keys = known(body, 'an object with [field] and [interval]', HISTOGRAM, [])
      if (keys.interval === undefined) throw unexpected(body, 'an object with [interval]')
      const interval = readDouble(keys.interval)
      if (interval <= 0) throw unexpected(keys.interval, 'a number greater than 0')
      return { ...common(name, body, keys, readValues(body, keys, scope, 'numeric')), by: 'histogram', interval }
    }
    case 'date_histogram': {
      const keys = known(body, 'an object with [field] and an interval', DATES, [])
      const values = requireDate(body, readValues(body, keys, scope, 'date'))
      const format = keys.format && { place: keys.format, text: string(keys.format, 'a date format') }
      const at = keys.time_zone && { place: keys.time_zone, text: string(keys.time_zone, 'a time zone') }
      const reader = createDateReader({ ...scope, ...(format && { format }), ...(at && { zone: at }) })
      return {
        ...common(name, body, keys, values),
        by: 'date_histogram',
        rounding: createRounding(readInterval(body, keys), zoneIn(keys.time_zone, scope), readOffset(keys.offset)),
        format: keys.format && formatOf(scope, body, values, keys),
        parse: text => reader.read({ path: 'after', value: text }, text, false),
      }
    }
  }
  throw refuse(
    'parsing_exception',
    `${where(body)}: sources of a composite are terms, histogram and date_histogram, not [${type}].`,
  )
}

const common = (
  name: string,
  place: JsonNode,
  keys: { order?: JsonNode; missing_bucket?: JsonNode; script?: JsonNode },
  values: Values,
) => {
  if (keys.script) throw scripts(keys.script)
  const order = keys.order ? string(keys.order, '"asc" or "desc"').toLowerCase() : 'asc'
  if (order !== 'asc' && order !== 'desc') throw unexpected(keys.order ?? place, '"asc" or "desc"')
  return {
    name,
    values,
    descending: order === 'desc',
    missingBucket: keys.missing_bucket !== undefined && boolean(keys.missing_bucket),
  }
}

const TERMS = ['field', 'order', 'missing_bucket', 'script'] as const
const HISTOGRAM = [...TERMS, 'interval'] as const
const DATES = [...TERMS, 'interval', 'calendar_interval', 'fixed_interval', 'offset', 'time_zone', 'format'] as const

const afterOf = (place: JsonNode, sources: readonly CompositeSource[], scope: AggregationScope): (Value | null)[] => {
  const given = known(
    place,
    'the after_key of the page before',
    sources.map(({ name }) => name),
    [],
  )
  return sources.map(source => {
    const at = given[source.name]
    if (at === undefined)
      throw refuse('illegal_argument_exception', `${where(place)}: Missing value for [after.${source.name}]`)
    if (at.value === null) return null
    return afterValue(at, source, scope)
  })
}

const afterValue = (place: JsonNode, source: CompositeSource, scope: AggregationScope): Value => {
  if (source.by === 'date_histogram')
    return typeof place.value === 'number' ? place.value : source.parse(scalar(place, 'a date'))
  if (source.by === 'histogram') return readDouble(place)
  switch (source.values.type) {
    case 'keyword':
      return scalar(place, 'a text')
    case 'boolean':
      return place.value === true || place.value === 'true' || place.value === 1
    case 'double':
      return readDouble(place)
    case 'date':
      return typeof place.value === 'number'
        ? place.value
        : createDateReader(scope).read(place, scalar(place, 'a date'), false)
    case 'long':
      return readLong({ path: source.name } as FieldPath, place).floor
  }
}
