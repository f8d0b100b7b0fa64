import { refuse } from '../../../lib/errors.ts'
import type { FieldPath } from '../../../mapping/index.ts'
import type { Value } from '../../ast.ts'
import { readInterval, readOffset } from '../../dates/calendar.ts'
import { createDateReader } from '../../dates/reader.ts'
import { createRounding } from '../../dates/rounding.ts'
import { type JsonNode, known, list, members, scalar, string, unexpected, where } from '../../json-node.ts'
import { readDouble, readLong } from '../../numbers.ts'
import type { CompositeSource } from '../ast.ts'
import { zoneIn } from '../formats.ts'
import { interval } from './histograms.ts'
import {
  type AggregationScope,
  aggregation,
  type Body,
  datesIn,
  field,
  flag,
  format,
  illegal,
  plain,
  type Reader,
  readKeys,
  script,
  whole,
} from './kind.ts'
import { term } from './terms.ts'

const AROUND = new Set(['filter', 'nested', 'reverse_nested', 'global'])

export const composite = aggregation({
  doc: 'A bucket for each combination of values of several sources, page by page: `after` takes the `after_key` of the previous page.',
  example: { size: 2, sources: [{ name: { terms: { field: 'event.raw' } } }] },
  ...{ buckets: true, expected: 'an object with [sources]' },
  keys: { sources: plain, size: whole(1, 10), after: plain },
  spec({ sources: given, size, after }, body) {
    const { place, at, scope } = body
    if (at.around.some(type => !AROUND.has(type)))
      throw illegal(
        place,
        `[composite] aggregation cannot be used with a parentAggregation of type: [${at.around.at(-1)}]`,
      )
    if (given === undefined) throw unexpected(place, 'an object with [sources]')
    const sources = list(given, 'a list of sources').map(at => sourceOf(at, body))
    if (sources.length === 0) throw unexpected(given, 'a list of sources, one at least')
    const names = new Set(sources.map(({ name }) => name))
    if (names.size < sources.length) throw illegal(given, 'Composite source names must be unique')
    return { kind: 'composite', sources, size, after: after && afterOf(after, sources, scope) }
  },
})

const descending: Reader<boolean> = at => {
  const order = at ? string(at, '"asc" or "desc"').toLowerCase() : 'asc'
  if (order !== 'asc' && order !== 'desc') throw unexpected(at!, '"asc" or "desc"')
  return order === 'desc'
}

const SHARED = { order: descending, missing_bucket: flag(), script }

const DATES = {
  ...{ field: field('date'), ...SHARED, interval: plain, calendar_interval: plain, fixed_interval: plain },
  ...{ offset: plain, time_zone: plain, format },
}

const sourceOf = (place: JsonNode, around: Body): CompositeSource => {
  const [named, more] = members(place, 'a source such as {"name": {"terms": {"field": "event.raw"}}}')
  if (!named || more) throw unexpected(place, 'one source with its name')
  const [name, at] = named
  around.scope.budget.name(name, at)
  const [typed, other] = members(at, 'an object such as {"terms": {"field": "event.raw"}}')
  if (!typed || other) throw unexpected(at, 'one of terms, histogram and date_histogram')
  const [type, body] = typed
  const shared = (keys: { field: CompositeSource['values']; order: boolean; missing_bucket: boolean }) => ({
    ...{ name, values: keys.field, descending: keys.order, missingBucket: keys.missing_bucket },
  })
  switch (type) {
    case 'terms': {
      const [keys] = readKeys({ field: term, ...SHARED }, body, 'an object with [field]', around)
      return { ...shared(keys), by: 'terms' }
    }
    case 'histogram': {
      const readers = { field: field('numeric'), ...SHARED, interval }
      const [keys, { given }] = readKeys(readers, body, 'an object with [field] and [interval]', around)
      if (keys.interval <= 0) throw unexpected(given.interval!, 'a number greater than 0')
      return { ...shared(keys), by: 'histogram', interval: keys.interval }
    }
    case 'date_histogram': {
      const [keys, inner] = readKeys(DATES, body, 'an object with [field] and an interval', around)
      const { given, scope } = inner
      const dateOf = datesIn(inner, 'text')
      return {
        ...{ ...shared(keys), by: 'date_histogram', format: given.format && keys.format(keys.field) },
        rounding: createRounding(readInterval(body, given), zoneIn(keys.time_zone, scope), readOffset(keys.offset)),
        parse: text => dateOf({ path: 'after', value: text }),
      }
    }
  }
  throw refuse(
    'parsing_exception',
    `${where(body)}: sources of a composite are terms, histogram and date_histogram, not [${type}].`,
  )
}

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
