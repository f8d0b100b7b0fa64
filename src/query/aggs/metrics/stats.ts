import type { Member, Metric } from '../result.ts'
import { type Format, named } from './metric.ts'
import type { Totals } from './moments.ts'

/** `type`: the pipeline aggregation of the same shape is of another one. */
export const statsOf = (totals: Omit<Totals, 'sumOfSquares'>, format: Format, type = 'stats'): Metric => {
  const numbers = statNumbers(totals)
  return { is: 'metric', type, body: statMembers(numbers, format), number: named(numbers) }
}

export const statNumbers = ({ count, sum, min, max }: Omit<Totals, 'sumOfSquares'>): Map<string, number | null> =>
  new Map([
    ['count', count],
    ['min', count === 0 ? null : min],
    ['max', count === 0 ? null : max],
    ['avg', count === 0 ? null : sum / count],
    ['sum', sum],
  ])

export const statMembers = (numbers: ReadonlyMap<string, number | null>, format: Format): Member[] => {
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
