import type { Format } from '../ast.ts'
import type { Member, Metric } from '../result.ts'

/** A metric of one number, null where nothing was counted. */
export const single = (type: string, value: number | null, format: Format): Metric => {
  const body: Member[] = [['value', value]]
  if (format && value !== null) body.push(['value_as_string', format(value)])
  return { is: 'metric', type, body, number: rest => (rest === undefined || rest === 'value' ? value : undefined) }
}

/** A metric that counts. */
export const counting = (type: string, value: number): Metric => ({
  is: 'metric',
  type,
  body: [['value', BigInt(value)]],
  number: rest => (rest === undefined || rest === 'value' ? value : undefined),
})

/** A number that a path names, of those that have names. */
export const named =
  (numbers: ReadonlyMap<string, number | null>): Metric['number'] =>
  rest =>
    rest === undefined ? undefined : numbers.get(rest)

/** What simple metrics follow from. Of nothing, `min` is infinite and `max` minus infinite. */
export interface Totals {
  count: number
  sum: number
  sumOfSquares: number
  min: number
  max: number
}

const SIMPLE = {
  avg: ({ count, sum }: Totals) => (count === 0 ? null : sum / count),
  sum: ({ sum }: Totals) => sum,
  min: ({ min }: Totals) => (Number.isFinite(min) ? min : null),
  max: ({ max }: Totals) => (Number.isFinite(max) ? max : null),
}

export const simpleOf = (kind: keyof typeof SIMPLE, totals: Totals, format: Format): Metric =>
  single(kind, SIMPLE[kind](totals), format)

/** `type`: the pipeline aggregation of the same shape is of another one. */
export const statsOf = (totals: Omit<Totals, 'sumOfSquares'>, format: Format, type = 'stats'): Metric => {
  const numbers = statNumbers(totals)
  return { is: 'metric', type, body: statMembers(numbers, format), number: named(numbers) }
}

const statNumbers = ({ count, sum, min, max }: Omit<Totals, 'sumOfSquares'>): Map<string, number | null> =>
  new Map([
    ['count', count],
    ['min', count === 0 ? null : min],
    ['max', count === 0 ? null : max],
    ['avg', count === 0 ? null : sum / count],
    ['sum', sum],
  ])

const statMembers = (numbers: ReadonlyMap<string, number | null>, format: Format): Member[] => {
  const count = numbers.get('count')!
  const members: Member[] = [['count', BigInt(count)]]
  for (const name of ['min', 'max', 'avg', 'sum']) members.push([name, numbers.get(name)!])
  if (!format || count === 0) return members
  for (const name of ['min', 'max', 'avg', 'sum']) members.push([`${name}_as_string`, format(numbers.get(name)!)])
  return members
}

/** Elasticsearch writes booleans in these, and in these alone, as such. */
export const withBooleans = (metric: Metric): Metric => ({
  ...metric,
  body: metric.body.map(([name, value]) => [
    name,
    name.endsWith('_as_string') && typeof value === 'string' ? value === 'true' : value,
  ]),
})

/** `sigma`: how many standard deviations the bounds lie from the mean. */
export const extendedStatsOf = (totals: Totals, sigma: number, format: Format, type = 'extended_stats'): Metric => {
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
  return { is: 'metric', type, body, number: named(numbers) }
}
