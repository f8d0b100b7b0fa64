import { elements, expectKeys, type JsonNode, unexpected } from '../../json-node.ts'
import { booleanKey, doubleKey, key, nodeKey, optionalKey, readBodyKeys, SCHEMAS } from '../../keys.ts'
import { readDouble } from '../../numbers.ts'
import type { FieldValues } from '../ast.ts'
import { formatOfValues, readFieldValues } from '../fields.ts'
import {
  type AggregationBody,
  type AggregationKind,
  aggregation,
  illegal,
  nameKey,
  readCount,
  scriptKey,
  wholeKey,
} from './kind.ts'

const VALUE_KEYS = { field: nameKey, missing: nodeKey, format: nameKey }
const OF_GAS = { example: { field: 'gasUsed.num' }, on: 'tx' } as const
const IGNORED = ['value_type']

type GivenValueKeys = Record<keyof typeof VALUE_KEYS, JsonNode | undefined>
const readNumbers = (keys: GivenValueKeys, body: AggregationBody) => {
  const values = readFieldValues('numeric', keys, body)
  return { values, format: formatOfValues(values, keys, body) }
}

const simpleMetric = (kind: 'avg' | 'min' | 'max' | 'stats', doc: string): AggregationKind =>
  aggregation({
    ...OF_GAS,
    ...{
      doc,
      gives: kind === 'stats' ? 'numbers' : 'number',
      keys: { ...VALUE_KEYS, script: scriptKey },
      ignored: IGNORED,
    },
    spec: (keys, body) => ({ kind, ...readNumbers(keys, body), exact: false }),
  })

export const avgKind = simpleMetric('avg', 'The mean of a number.')
export const minKind = simpleMetric('min', 'The smallest value.')
export const maxKind = simpleMetric('max', 'The largest value.')
export const statsKind = simpleMetric('stats', 'Count, minimum, maximum, mean and sum of a number.')

export const sumKind = aggregation({
  ...OF_GAS,
  doc: 'The sum of a number. With `"exact": true` also in decimal digits, with integers beyond 64 bits.',
  ...{
    gives: 'number',
    keys: { ...VALUE_KEYS, script: scriptKey, exact: optionalKey(at => at, SCHEMAS.flag) },
    ignored: IGNORED,
  },
  spec({ exact: at, ...keys }, body) {
    const exact = at !== undefined && booleanKey.read(at) === true
    const { values, format } = readNumbers(keys, body)
    if (exact && values.type !== 'long') throw unexpected(at, 'no [exact] for a field that holds no integers')
    return { kind: 'sum', values, format, exact }
  },
})

const sigma = key(at => {
  const value = doubleKey.read(at) ?? 2
  if (value < 0) throw illegal(at!, '[sigma] must be greater than or equal to 0.')
  return value
}, SCHEMAS.number)

export const extendedStatsKind = aggregation({
  ...OF_GAS,
  doc: 'As `stats`, with sum of squares, variances and standard deviations.',
  example: { field: 'gasUsed.num', sigma: 3 },
  ...{ gives: 'numbers', expected: 'an object such as {"field": "gasUsed.num"}' },
  ...{ keys: { ...VALUE_KEYS, sigma, script: scriptKey }, ignored: IGNORED },
  spec: ({ sigma, ...keys }, body) => ({ kind: 'extended_stats', ...readNumbers(keys, body), sigma }),
})

export const valueCountKind = aggregation({
  doc: 'The number of values.',
  example: { field: 'address.raw' },
  ...{ gives: 'number', keys: { ...VALUE_KEYS, script: scriptKey }, ignored: IGNORED },
  spec(keys, body) {
    const values = readFieldValues('any', keys, body)
    return { kind: 'value_count', values, format: formatOfValues(values, keys, body) }
  },
})

export const cardinalityKind = aggregation({
  doc: 'The number of distinct values. It is exact up to about a million of them, and beyond within 1 %.',
  example: { field: 'address.raw' },
  gives: 'number',
  keys: { field: nameKey, missing: nodeKey, precision_threshold: wholeKey(0, 3000), script: scriptKey },
  ignored: ['rehash', 'execution_hint', 'value_type'],
  spec({ precision_threshold: precision, ...keys }, body) {
    const values = readFieldValues('any', keys, body)
    if (values.meta === '_id' && body.scope.kinds.length > 1)
      throw unexpected(keys.field!, 'one entity to count ids of: a value_count of [_id] is the same')
    return { kind: 'cardinality', values, precision }
  },
})

const tdigest = key(at => {
  const compression =
    at && doubleKey.read(expectKeys(at, 'an object with [compression]', ['compression'], []).compression)
  if (compression !== undefined && compression < 0) throw unexpected(at!, 'a [compression] from 0 on')
  return compression ?? 100
})

const HDR_DIGITS = 'number_of_significant_value_digits'
const hdr = optionalKey(at => {
  const digits = expectKeys(at, `an object with [${HDR_DIGITS}]`, [HDR_DIGITS], [])[HDR_DIGITS]
  const value = readCount(digits, 0, 3)
  if (value > 5) throw unexpected(digits!, 'a number from 0 to 5')
  return value
})

const quantiles = (kind: 'percentiles' | 'percentile_ranks', doc: string, example: object): AggregationKind =>
  aggregation({
    ...OF_GAS,
    ...{ doc, example, gives: 'numbers', expected: 'an object such as {"field": "gasUsed.num"}' },
    keys: { ...VALUE_KEYS, keyed: booleanKey, percents: nodeKey, values: nodeKey, tdigest, hdr, script: scriptKey },
    spec({ keyed = true, tdigest: compression, hdr: hdrDigits, percents, values, ...keys }, body) {
      const [own, other, list, unused] =
        kind === 'percentiles'
          ? (['percents', 'values', percents, values] as const)
          : (['values', 'percents', values, percents] as const)
      const found = readNumbers(keys, body)
      if (unused) throw unexpected(unused, `[${own}]`)
      const of = list ? elements(list).map(readDouble) : kind === 'percentiles' ? [1, 5, 25, 50, 75, 95, 99] : []
      if (of.length === 0) throw unexpected(list ?? body.place, `a list of [${own}]`)
      for (const percent of other === 'values' ? of : [])
        if (!(percent >= 0 && percent <= 100)) throw illegal(list!, `percent must be in [0,100], got [${percent}]`)
      return { kind, ...found, of: of.toSorted((a, b) => a - b), keyed, compression, hdrDigits }
    },
  })

export const percentilesKind = quantiles('percentiles', 'The values at given percentiles. They are exact.', {
  field: 'gasUsed.num',
  percents: [50, 95],
})
export const percentileRanksKind = quantiles('percentile_ranks', 'The percentage of values at or below given ones.', {
  field: 'gasUsed.num',
  values: [21_000],
})

const compression = key(at => {
  const value = doubleKey.read(at) ?? 1000
  if (!(value > 0)) throw unexpected(at!, 'a number greater than 0')
  return value
}, SCHEMAS.number)

const spreadMetric = (
  kind: 'median_absolute_deviation' | 'boxplot',
  gives: AggregationKind['gives'],
  doc: string,
): AggregationKind =>
  aggregation({
    ...OF_GAS,
    ...{ doc, gives, keys: { ...VALUE_KEYS, compression, script: scriptKey }, ignored: IGNORED },
    spec({ compression, ...keys }, body) {
      const found = readNumbers(keys, body)
      const { type } = found.values
      if (type !== 'date' && type !== 'boolean') return { kind, ...found, compression }
      throw illegal(
        body.place,
        `a field of type [${type}] is not supported for aggregation [${kind}], which needs numbers.`,
      )
    },
  })

export const medianAbsoluteDeviationKind = spreadMetric(
  'median_absolute_deviation',
  'number',
  'The median of how far values lie from their median.',
)
export const boxplotKind = spreadMetric(
  'boxplot',
  'numbers',
  'Least and greatest value, quartiles, and how far values reach within one and a half of the quartiles’ distance.',
)

const valuesAt = (place: JsonNode, { scope }: AggregationBody): FieldValues =>
  readFieldValues(
    'numeric',
    readBodyKeys(place, 'an object with [field]', { field: nameKey, missing: nodeKey, script: scriptKey }, []),
    {
      ...{ place, scope },
    },
  )

export const weightedAvgKind = aggregation({
  doc: 'The mean of a number, weighted by another one.',
  example: { value: { field: 'gasPrice.num' }, weight: { field: 'gasUsed.num' } },
  ...{ on: 'tx', gives: 'number', expected: 'an object with [value] and [weight]' },
  ...{ keys: { value: nodeKey, weight: nodeKey, format: nameKey }, ignored: IGNORED },
  spec({ value: of, weight: by, ...keys }, body) {
    if (!of || !by) throw unexpected(body.place, 'an object with [value] and [weight]')
    const [value, weight] = [valuesAt(of, body), valuesAt(by, body)]
    return { kind: 'weighted_avg', value, weight, format: formatOfValues(value, keys, body) }
  },
})
