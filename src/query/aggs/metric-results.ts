import { javaDouble } from '../numbers.ts'
import type { Format } from './ast.ts'
import type { Metric, ResultMember, ResultValue } from './result.ts'
export const singleMetric = (type: string, value: number | null, format: Format): Metric => {
  const body: ResultMember[] = [['value', value]]
  if (format && value !== null) body.push(['value_as_string', format(value)])
  return { is: 'metric', type, body, number: rest => (rest === undefined || rest === 'value' ? value : undefined) }
}

export const counting = (type: string, value: number): Metric => ({
  is: 'metric',
  type,
  body: [['value', BigInt(value)]],
  number: rest => (rest === undefined || rest === 'value' ? value : undefined),
})

const namedNumbers =
  (numbers: ReadonlyMap<string, number | null>): Metric['number'] =>
  rest =>
    rest === undefined ? undefined : numbers.get(rest)

/** Without values, `min` is `Infinity` and `max` is `-Infinity`. */
export interface MetricTotals {
  count: number
  sum: number
  sumOfSquares: number
  min: number
  max: number
}

const SIMPLE = {
  avg: ({ count, sum }: MetricTotals) => (count === 0 ? null : sum / count),
  sum: ({ sum }: MetricTotals) => sum,
  min: ({ min }: MetricTotals) => (Number.isFinite(min) ? min : null),
  max: ({ max }: MetricTotals) => (Number.isFinite(max) ? max : null),
}

export const simpleOf = (kind: keyof typeof SIMPLE, totals: MetricTotals, format: Format): Metric =>
  singleMetric(kind, SIMPLE[kind](totals), format)

/** `type` differs for the pipeline with the same result. */
export const statsOf = (totals: Omit<MetricTotals, 'sumOfSquares'>, format: Format, type = 'stats'): Metric => {
  const numbers = statNumbers(totals)
  return { is: 'metric', type, body: statMembers(numbers, format), number: namedNumbers(numbers) }
}

const statNumbers = ({ count, sum, min, max }: Omit<MetricTotals, 'sumOfSquares'>): Map<string, number | null> =>
  new Map([
    ['count', count],
    ['min', count === 0 ? null : min],
    ['max', count === 0 ? null : max],
    ['avg', count === 0 ? null : sum / count],
    ['sum', sum],
  ])

const statMembers = (numbers: ReadonlyMap<string, number | null>, format: Format): ResultMember[] => {
  const count = numbers.get('count')!
  const members: ResultMember[] = [['count', BigInt(count)]]
  for (const name of ['min', 'max', 'avg', 'sum']) members.push([name, numbers.get(name)!])
  if (!format || count === 0) return members
  for (const name of ['min', 'max', 'avg', 'sum']) members.push([`${name}_as_string`, format(numbers.get(name)!)])
  return members
}

/** Only stats write booleans as such in Elasticsearch. */
export const withBooleans = (metric: Metric): Metric => ({
  ...metric,
  body: metric.body.map(([name, value]) => [
    name,
    name.endsWith('_as_string') && typeof value === 'string' ? value === 'true' : value,
  ]),
})

/** Bounds are `sigma` standard deviations from the mean. */
export const extendedStatsOf = (
  totals: MetricTotals,
  sigma: number,
  format: Format,
  type = 'extended_stats',
): Metric => {
  const { count, sum, sumOfSquares } = totals
  const spread = Math.max(0, sumOfSquares - (sum * sum) / count)
  const population = spread / count
  const sampling = spread / (count - 1)
  const [deviation, deviationSampling] = [Math.sqrt(population), Math.sqrt(sampling)]
  const bound = (by: number) => sum / count + by * sigma
  const spreads: [name: string, value: number][] = [
    ['sum_of_squares', sumOfSquares],
    ['variance', population],
    ['variance_population', population],
    ['variance_sampling', sampling],
    ['std_deviation', deviation],
    ['std_deviation_population', deviation],
    ['std_deviation_sampling', deviationSampling],
  ]
  const bounds: [name: string, value: number][] = [
    ['upper', bound(deviation)],
    ['lower', bound(-deviation)],
    ['upper_population', bound(deviation)],
    ['lower_population', bound(-deviation)],
    ['upper_sampling', bound(deviationSampling)],
    ['lower_sampling', bound(-deviationSampling)],
  ]
  const orNull = ([name, value]: [string, number]): [string, number | null] => [name, count === 0 ? null : value]
  const numbers = statNumbers(totals)
  const body = statMembers(numbers, format)
  body.push(...spreads.map(orNull), ['std_deviation_bounds', new Map(bounds.map(orNull))])
  if (format && count > 0) {
    for (const [name, value] of spreads) body.push([`${name}_as_string`, format(value)])
    body.push(['std_deviation_bounds_as_string', new Map(bounds.map(([name, value]) => [name, format(value)]))])
  }
  for (const [name, value] of spreads.map(orNull)) numbers.set(name, value)
  for (const [name, value] of bounds.map(orNull)) numbers.set(`std_${name}`, value)
  return { is: 'metric', type, body, number: namedNumbers(numbers) }
}

interface PercentileOptions {
  keyed: boolean
  format: Format
  /** Whether `…_as_string` in a list has the percent as prefix, as in percentiles_bucket. */
  namesTexts?: boolean
}
export const percentilesOf = (
  { quantile }: { quantile(part: number): number },
  percents: readonly number[],
  options: PercentileOptions,
): Metric => {
  const at = (percent: number) => quantile(percent / 100)
  return ofMany('tdigest_percentiles', percents, at, options)
}
export const percentileRanksOf = (
  { rank }: { rank(value: number): number },
  values: readonly number[],
  options: PercentileOptions,
): Metric => {
  const at = (value: number) => rank(value) * 100
  return ofMany('tdigest_percentile_ranks', values, at, options)
}
const ofMany = (
  type: string,
  of: readonly number[],
  at: (one: number) => number,
  { keyed, format, namesTexts = false }: PercentileOptions,
): Metric => {
  const numbers = of.map((one): [number, number | null] => {
    const value = at(one)
    return [one, Number.isNaN(value) ? null : value]
  })
  return {
    is: 'metric',
    type,
    body: [['values', keyed ? asObject(numbers, format) : asList(numbers, format, namesTexts)]],
    number(rest) {
      if (rest === undefined || !/^-?\d+(?:\.\d+)?(?:[eE]-?\d+)?$/.test(rest)) return undefined
      const value = at(Number(rest))
      return Number.isNaN(value) ? null : value
    },
  }
}
const asObject = (numbers: readonly [number, number | null][], format: Format): ResultValue =>
  new Map(
    numbers.flatMap(([one, value]): ResultMember[] => {
      const name = javaDouble(one)
      const members: ResultMember[] = [[name, value]]
      if (format && value !== null) members.push([`${name}_as_string`, format(value)])
      return members
    }),
  )
const asList = (numbers: readonly [number, number | null][], format: Format, namesTexts: boolean): ResultValue =>
  numbers.map(
    ([key, value]): ResultValue =>
      new Map<string, ResultValue>([
        ['key', key],
        ['value', value],
        ...(format && value !== null
          ? [[namesTexts ? `${javaDouble(key)}_as_string` : 'value_as_string', format(value)] as const]
          : []),
      ]),
  )
interface Quartiles {
  values: ArrayLike<number>
  quantile(part: number): number
}
/** Whiskers end at the last values within 1.5 interquartile ranges. */
export const boxplotOf = ({ values, quantile }: Quartiles, format: Format): Metric => {
  const isEmpty = values.length === 0
  const [q1, q2, q3] = [quantile(0.25), quantile(0.5), quantile(0.75)] as const
  const reach = 1.5 * (q3 - q1)
  const numbers: [name: string, value: number][] = [
    ['min', isEmpty ? Number.POSITIVE_INFINITY : values[0]!],
    ['max', isEmpty ? Number.NEGATIVE_INFINITY : values[values.length - 1]!],
    ['q1', q1],
    ['q2', q2],
    ['q3', q3],
    ['lower', firstWhere(values, value => value >= q1 - reach)],
    ['upper', lastWhere(values, value => value <= q3 + reach)],
  ]
  const texts = format ? numbers.map(([name, value]): ResultMember => [`${name}_as_string`, format(value)]) : []
  return {
    is: 'metric',
    type: 'boxplot',
    body: [...numbers, ...texts],
    number: namedNumbers(new Map(numbers.map(([name, value]) => [name, Number.isFinite(value) ? value : null]))),
  }
}
const firstWhere = (values: ArrayLike<number>, holds: (value: number) => boolean): number => {
  for (let i = 0; i < values.length; i++) if (holds(values[i]!)) return values[i]!
  return Number.NaN
}
const lastWhere = (values: ArrayLike<number>, holds: (value: number) => boolean): number => {
  for (let i = values.length - 1; i >= 0; i--) if (holds(values[i]!)) return values[i]!
  return Number.NaN
}
