import { elements, known, unexpected } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import { count, number } from '../options.ts'
import {
  type AggregationKind,
  aggregation,
  double,
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

const VALUES = { field: field('numeric'), missing: plain, format }
const OF_GAS = { example: { field: 'gasUsed.num' }, on: 'tx', buckets: false } as const
const IGNORED = ['value_type']

/** Aggregations of one number, or of some simple ones. */
const simple = (kind: 'avg' | 'min' | 'max' | 'stats', doc: string): AggregationKind =>
  aggregation({
    ...OF_GAS,
    doc,
    keys: { ...VALUES, script },
    ignored: IGNORED,
    spec: ({ field: values, format }) => ({ kind, values, format: format(values), exact: false }),
  })

export const avg = simple('avg', 'The mean of a number.')
export const min = simple('min', 'The smallest value.')
export const max = simple('max', 'The largest value.')
export const stats = simple('stats', 'Count, minimum, maximum, mean and sum of a number.')

export const sum = aggregation({
  ...OF_GAS,
  doc: 'The sum of a number. With `"exact": true` also in decimal digits, with integers beyond 64 bits.',
  keys: { ...VALUES, script, exact: flag() },
  ignored: IGNORED,
  spec({ field: values, format, exact }, { given }) {
    if (exact && values.type !== 'long') throw unexpected(given.exact!, 'no [exact] for a field that holds no integers')
    return { kind: 'sum', values, format: format(values), exact }
  },
})

export const extendedStats = aggregation({
  ...OF_GAS,
  doc: 'As `stats`, with sum of squares, variances and standard deviations.',
  example: { field: 'gasUsed.num', sigma: 3 },
  expected: 'an object such as {"field": "gasUsed.num"}',
  keys: { ...VALUES, sigma: double, script },
  ignored: IGNORED,
  spec({ field: values, format, sigma = 2 }, { given }) {
    if (sigma < 0) throw illegal(given.sigma!, '[sigma] must be greater than or equal to 0.')
    return { kind: 'extended_stats', values, format: format(values), sigma }
  },
})

export const valueCount = aggregation({
  doc: 'The number of values.',
  example: { field: 'address.raw' },
  buckets: false,
  keys: { ...VALUES, field: field('any'), script },
  ignored: IGNORED,
  spec: ({ field: values, format }) => ({ kind: 'value_count', values, format: format(values) }),
})

export const cardinality = aggregation({
  doc: 'The number of distinct values. It is exact up to about a million of them, and beyond within 1 %.',
  example: { field: 'address.raw' },
  buckets: false,
  keys: { field: field('any'), missing: plain, precision_threshold: whole(0, 3000), script },
  ignored: ['rehash', 'execution_hint', 'value_type'],
  spec({ field: values, precision_threshold: precision }, { given, scope }) {
    if (values.meta === '_id' && scope.kinds.length > 1)
      throw unexpected(given.field!, 'one entity to count ids of: a value_count of [_id] is the same')
    return { kind: 'cardinality', values, precision }
  },
})

const compression: Reader<number> = at => {
  const given = at && number(known(at, 'an object with [compression]', ['compression'], []).compression)
  if (given !== undefined && given < 0) throw unexpected(at!, 'a [compression] from 0 on')
  return given ?? 100
}

const hdr: Reader<number | undefined> = at => {
  if (!at) return undefined
  const name = 'number_of_significant_value_digits'
  const digits = known(at, `an object with [${name}]`, [name], [])[name]
  const value = count(digits, 0, 3)
  if (value > 5) throw unexpected(digits!, 'a number from 0 to 5')
  return value
}

const quantiles = (kind: 'percentiles' | 'percentile_ranks', doc: string, example: object): AggregationKind =>
  aggregation({
    ...OF_GAS,
    ...{ doc, example },
    expected: 'an object such as {"field": "gasUsed.num"}',
    keys: { ...VALUES, keyed: flag(true), percents: plain, values: plain, tdigest: compression, hdr, script },
    spec({ field: values, format, keyed, tdigest, hdr, ...lists }, { place }) {
      const [own, other] =
        kind === 'percentiles' ? (['percents', 'values'] as const) : (['values', 'percents'] as const)
      if (lists[other]) throw unexpected(lists[other], `[${own}]`)
      const given = lists[own]
      const of = given ? elements(given).map(readDouble) : kind === 'percentiles' ? [1, 5, 25, 50, 75, 95, 99] : []
      if (of.length === 0) throw unexpected(given ?? place, `a list of [${own}]`)
      for (const percent of kind === 'percentiles' ? of : [])
        if (!(percent >= 0 && percent <= 100)) throw illegal(given!, `percent must be in [0,100], got [${percent}]`)
      const sorted = of.toSorted((a, b) => a - b)
      return { kind, values, of: sorted, keyed, compression: tdigest, hdrDigits: hdr, format: format(values) }
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

/** Aggregations that tell how far values lie apart. */
const spread = (kind: 'median_absolute_deviation' | 'boxplot', doc: string): AggregationKind =>
  aggregation({
    ...OF_GAS,
    doc,
    keys: { ...VALUES, compression: double, script },
    ignored: IGNORED,
    spec({ field: values, format, compression = 1000 }, { place, given }) {
      if (values.type === 'date' || values.type === 'boolean')
        throw illegal(
          place,
          `a field of type [${values.type}] is not supported for aggregation [${kind}], which needs numbers.`,
        )
      if (!(compression > 0)) throw unexpected(given.compression!, 'a number greater than 0')
      return { kind, values, compression, format: format(values) }
    },
  })

export const medianAbsoluteDeviation = spread(
  'median_absolute_deviation',
  'The median of how far values lie from their median.',
)
export const boxplot = spread(
  'boxplot',
  'Least and greatest value, quartiles, and how far values reach within one and a half of the quartiles’ distance.',
)

const weighted: Reader<ReturnType<typeof VALUES.field>> = (at, body) => {
  if (!body.given.value || !body.given.weight) throw unexpected(body.place, 'an object with [value] and [weight]')
  const keys = { field: VALUES.field, missing: plain, script }
  return readKeys(keys, at!, 'an object with [field]', body)[0].field
}

export const weightedAvg = aggregation({
  doc: 'The mean of a number, weighted by another one.',
  example: { value: { field: 'gasPrice.num' }, weight: { field: 'gasUsed.num' } },
  ...{ on: 'tx', buckets: false, expected: 'an object with [value] and [weight]' },
  keys: { value: weighted, weight: weighted, format },
  ignored: IGNORED,
  spec: ({ value, weight, format }) => ({ kind: 'weighted_avg', value, weight, format: format(value) }),
})
