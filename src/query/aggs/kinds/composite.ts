import { refuse } from '../../../lib/errors.ts'
import type { FieldPath } from '../../../mapping/index.ts'
import type { QueryValue } from '../../ast.ts'
import { readInterval, readOffset } from '../../dates/calendar.ts'
import { createDateReader } from '../../dates/reader.ts'
import { createRounding } from '../../dates/rounding.ts'
import { expectKeys, type JsonNode, members, toList, toScalar, unexpected, where } from '../../json-node.ts'
import {
  booleanKey,
  direction,
  itself,
  key,
  neededKey,
  nodeKey,
  readBodyKeys,
  SCHEMAS,
  type ValuesOf,
} from '../../keys.ts'
import { readDouble, readLong } from '../../numbers.ts'
import type { CompositeSource } from '../ast.ts'
import { formatOfValues, readFieldValues, readTermValues, zoneIn } from '../fields.ts'
import {
  type AggregationBody,
  type AggregationScope,
  aggregation,
  datesIn,
  illegal,
  nameKey,
  scriptKey,
  wholeKey,
} from './kind.ts'

const COMPOSITE_PARENTS = new Set(['filter', 'nested', 'reverse_nested', 'global'])

export const compositeKind = aggregation({
  doc: 'A bucket for each combination of values of several sources, page by page: `after` takes the `after_key` of the previous page.',
  example: { size: 2, sources: [{ name: { terms: { field: 'event.raw' } } }] },
  ...{ gives: 'buckets', expected: 'an object with [sources]' },
  keys: { sources: neededKey(itself), size: wholeKey(1, 10), after: nodeKey },
  spec({ sources: given, size, after }, body) {
    const { place, at, scope } = body
    if (at.around.some(type => !COMPOSITE_PARENTS.has(type)))
      throw illegal(
        place,
        `[composite] aggregation cannot be used with a parentAggregation of type: [${at.around.at(-1)}]`,
      )
    const sources = toList(given, 'a list of sources').map(at => readCompositeSource(at, body))
    if (sources.length === 0) throw unexpected(given, 'a list of sources, one at least')
    const names = new Set(sources.map(({ name }) => name))
    if (names.size < sources.length) throw illegal(given, 'Composite source names must be unique')
    return { kind: 'composite', sources, size, after: after && afterOf(after, sources, scope) }
  },
})

const SOURCE_KEYS = {
  ...{ field: nameKey, order: key(at => at !== undefined && direction(at) === 'desc') },
  ...{ missing_bucket: booleanKey, script: scriptKey },
}
const interval = neededKey(at => {
  const length = readDouble(at)
  if (length <= 0) throw unexpected(at, 'a number greater than 0')
  return length
}, SCHEMAS.number)
const DATES = {
  ...{ ...SOURCE_KEYS, interval: nodeKey, calendar_interval: nodeKey, fixed_interval: nodeKey },
  ...{ offset: nodeKey, time_zone: nodeKey, format: nameKey },
}

const readCompositeSource = (place: JsonNode, around: AggregationBody): CompositeSource => {
  const [named, more] = members(place, 'a source such as {"name": {"terms": {"field": "event.raw"}}}')
  if (!named || more) throw unexpected(place, 'one source with its name')
  const [name, at] = named
  around.scope.budget.name(name, at)
  const [typed, other] = members(at, 'an object such as {"terms": {"field": "event.raw"}}')
  if (!typed || other) throw unexpected(at, 'one of terms, histogram and date_histogram')
  const [type, body] = typed
  const inner = { ...around, place: body }
  const shared = ({ order: descending, missing_bucket: missingBucket = false }: ValuesOf<typeof SOURCE_KEYS>) => ({
    ...{ name, descending, missingBucket },
  })
  switch (type) {
    case 'terms': {
      const keys = readBodyKeys(body, 'an object with [field]', SOURCE_KEYS, [])
      return { ...shared(keys), by: 'terms', values: readTermValues(keys, inner) }
    }
    case 'histogram': {
      const keys = readBodyKeys(body, 'an object with [field] and [interval]', { ...SOURCE_KEYS, interval }, [])
      const values = readFieldValues('numeric', keys, inner)
      return { ...shared(keys), by: 'histogram', values, interval: keys.interval }
    }
    case 'date_histogram': {
      const keys = readBodyKeys(body, 'an object with [field] and an interval', DATES, [])
      const values = readFieldValues('date', keys, inner)
      const { scope } = around
      const dateOf = datesIn(keys, scope, 'text')
      return {
        ...{
          ...shared(keys),
          by: 'date_histogram',
          values,
          format: keys.format && formatOfValues(values, keys, inner),
        },
        rounding: createRounding(readInterval(body, keys), zoneIn(keys.time_zone, scope), readOffset(keys.offset)),
        parse: text => dateOf({ path: 'after', value: text }),
      }
    }
  }
  throw refuse(
    'parsing_exception',
    `${where(body)}: sources of a composite are terms, histogram and date_histogram, not [${type}].`,
  )
}

const afterOf = (
  place: JsonNode,
  sources: readonly CompositeSource[],
  scope: AggregationScope,
): (QueryValue | null)[] => {
  const given = expectKeys(
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

const afterValue = (place: JsonNode, source: CompositeSource, scope: AggregationScope): QueryValue => {
  if (source.by === 'date_histogram')
    return typeof place.value === 'number' ? place.value : source.parse(toScalar(place, 'a date'))
  if (source.by === 'histogram') return readDouble(place)
  switch (source.values.type) {
    case 'keyword':
      return toScalar(place, 'a text')
    case 'boolean':
      return place.value === true || place.value === 'true' || place.value === 1
    case 'double':
      return readDouble(place)
    case 'date':
      return typeof place.value === 'number'
        ? place.value
        : createDateReader(scope).read(place, toScalar(place, 'a date'), false)
    case 'long':
      return readLong({ path: source.name } as FieldPath, place).floor
  }
}
