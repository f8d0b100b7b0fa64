import { elements, type JsonNode, known, unexpected } from '../../json-node.ts'
import { double, flag, given, key, optional, readKeys, SCHEMAS } from '../../keys.ts'
import { readDouble } from '../../numbers.ts'
import type { Values } from '../ast.ts'
import { formatOf, readValues } from '../fields.ts'
import { count, number } from '../options.ts'
import { type AggregationKind, aggregation, type Body, illegal, script, text, whole } from './kind.ts'

const VALUES = { field: text, missing: given, format: text }
const OF_GAS = { example: { field: 'gasUsed.num' }, on: 'tx' } as const
const IGNORED = ['value_type']

type ValueKeys = Record<keyof typeof VALUES, JsonNode | undefined>
const numbersOf = (keys: ValueKeys, body: Body) => {
  const values = readValues('numeric', keys, body)
  return { values, format: formatOf(values, keys, body) }
}

/** Aggregations of one number, or of some simple ones. */
const simple = (kind: 'avg' | 'min' | 'max' | 'stats', doc: string): AggregationKind =>
  aggregation({
    ...OF_GAS,
    ...{ doc, gives: kind === 'stats' ? 'numbers' : 'number', keys: { ...VALUES, script }, ignored: IGNORED },
    spec: (keys, body) => ({ kind, ...numbersOf(keys, body), exact: false }),
  })

export const avg = simple('avg', 'The mean of a number.')
export const min = simple('min', 'The smallest value.')
export const max = simple('max', 'The largest value.')
export const stats = simple('stats', 'Count, minimum, maximum, mean and sum of a number.')

export const sum = aggregation({
  ...OF_GAS,
  doc: 'The sum of a number. With `"exact": true` also in decimal digits, with integers beyond 64 bits.',
  ...{ gives: 'number', keys: { ...VALUES, script, exact: optional(at => at, SCHEMAS.flag) }, ignored: IGNORED },
  spec({ exact: at, ...keys }, body) {
    const exact = at !== undefined && flag.read(at) === true
    const { values, format } = numbersOf(keys, body)
    if (exact && values.type !== 'long') throw unexpected(at, 'no [exact] for a field that holds no integers')
    return { kind: 'sum', values, format, exact }
  },
})

const sigma = key(at => {
  const value = double.read(at) ?? 2
  if (value < 0) throw illegal(at!, '[sigma] must be greater than or equal to 0.')
  return value
}, SCHEMAS.number)

export const extendedStats = aggregation({
  ...OF_GAS,
  doc: 'As `stats`, with sum of squares, variances and standard deviations.',
  example: { field: 'gasUsed.num', sigma: 3 },
  ...{ gives: 'numbers', expected: 'an object such as {"field": "gasUsed.num"}' },
  ...{ keys: { ...VALUES, sigma, script }, ignored: IGNORED },
  spec: ({ sigma, ...keys }, body) => ({ kind: 'extended_stats', ...numbersOf(keys, body), sigma }),
})

export const valueCount = aggregation({
  doc: 'The number of values.',
  example: { field: 'address.raw' },
  ...{ gives: 'number', keys: { ...VALUES, script }, ignored: IGNORED },
  spec(keys, body) {
    const values = readValues('any', keys, body)
    return { kind: 'value_count', values, format: formatOf(values, keys, body) }
  },
})

export const cardinality = aggregation({
  doc: 'The number of distinct values. It is exact up to about a million of them, and beyond within 1 %.',
  example: { field: 'address.raw' },
  gives: 'number',
  keys: { field: text, missing: given, precision_threshold: whole(0, 3000), script },
  ignored: ['rehash', 'execution_hint', 'value_type'],
  spec({ precision_threshold: precision, ...keys }, body) {
    const values = readValues('any', keys, body)
    if (values.meta === '_id' && body.scope.kinds.length > 1)
      throw unexpected(keys.field!, 'one entity to count ids of: a value_count of [_id] is the same')
    return { kind: 'cardinality', values, precision }
  },
})

const tdigest = key(at => {
  const compression = at && number(known(at, 'an object with [compression]', ['compression'], []).compression)
  if (compression !== undefined && compression < 0) throw unexpected(at!, 'a [compression] from 0 on')
  return compression ?? 100
})

const DIGITS = 'number_of_significant_value_digits'
const hdr = optional(at => {
  const digits = known(at, `an object with [${DIGITS}]`, [DIGITS], [])[DIGITS]
  const value = count(digits, 0, 3)
  if (value > 5) throw unexpected(digits!, 'a number from 0 to 5')
  return value
})

const quantiles = (kind: 'percentiles' | 'percentile_ranks', doc: string, example: object): AggregationKind =>
  aggregation({
    ...OF_GAS,
    ...{ doc, example, gives: 'numbers', expected: 'an object such as {"field": "gasUsed.num"}' },
    keys: { ...VALUES, keyed: flag, percents: given, values: given, tdigest, hdr, script },
    spec({ keyed = true, tdigest: compression, hdr: hdrDigits, percents, values, ...keys }, body) {
      const [own, other, list, unused] =
        kind === 'percentiles'
          ? (['percents', 'values', percents, values] as const)
          : (['values', 'percents', values, percents] as const)
      const found = numbersOf(keys, body)
      if (unused) throw unexpected(unused, `[${own}]`)
      const of = list ? elements(list).map(readDouble) : kind === 'percentiles' ? [1, 5, 25, 50, 75, 95, 99] : []
      if (of.length === 0) throw unexpected(list ?? body.place, `a list of [${own}]`)
      for (const percent of other === 'values' ? of : [])
        if (!(percent >= 0 && percent <= 100)) throw illegal(list!, `percent must be in [0,100], got [${percent}]`)
      return { kind, ...found, of: of.toSorted((a, b) => a - b), keyed, compression, hdrDigits }
    },
  })

export const percentiles = quantiles('percentiles', 'The values at given percentiles. They are exact.', {
  field: 'gasUsed.num',
  percents: [50, 95],
})
export const percentileRanks = quantiles('percentile_ranks', 'The percentage of values at or below given ones.', {
  field: 'gasUsed.num',
  values: [21_000],
})

const compression = key(at => {
  const value = double.read(at) ?? 1000
  if (!(value > 0)) throw unexpected(at!, 'a number greater than 0')
  return value
}, SCHEMAS.number)

/** Aggregations that tell how far values lie apart. */
const spread = (
  kind: 'median_absolute_deviation' | 'boxplot',
  gives: AggregationKind['gives'],
  doc: string,
): AggregationKind =>
  aggregation({
    ...OF_GAS,
    ...{ doc, gives, keys: { ...VALUES, compression, script }, ignored: IGNORED },
    spec({ compression, ...keys }, body) {
      const found = numbersOf(keys, body)
      const { type } = found.values
      if (type !== 'date' && type !== 'boolean') return { kind, ...found, compression }
      throw illegal(
        body.place,
        `a field of type [${type}] is not supported for aggregation [${kind}], which needs numbers.`,
      )
    },
  })

export const medianAbsoluteDeviation = spread(
  'median_absolute_deviation',
  'number',
  'The median of how far values lie from their median.',
)
export const boxplot = spread(
  'boxplot',
  'numbers',
  'Least and greatest value, quartiles, and how far values reach within one and a half of the quartiles’ distance.',
)

const valuesAt = (place: JsonNode, { scope }: Body): Values =>
  readValues('numeric', readKeys(place, 'an object with [field]', { field: text, missing: given, script }, []), {
    ...{ place, scope },
  })

export const weightedAvg = aggregation({
  doc: 'The mean of a number, weighted by another one.',
  example: { value: { field: 'gasPrice.num' }, weight: { field: 'gasUsed.num' } },
  ...{ on: 'tx', gives: 'number', expected: 'an object with [value] and [weight]' },
  ...{ keys: { value: given, weight: given, format: text }, ignored: IGNORED },
  spec({ value: of, weight: by, ...keys }, body) {
    if (!of || !by) throw unexpected(body.place, 'an object with [value] and [weight]')
    const [value, weight] = [valuesAt(of, body), valuesAt(by, body)]
    return { kind: 'weighted_avg', value, weight, format: formatOf(value, keys, body) }
  },
})
